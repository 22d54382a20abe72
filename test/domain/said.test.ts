import { describe, expect, test } from 'vitest';
import { saidInLine } from '../../domain/agent/said.ts';

describe('the last line of an agent', () => {
  test('is an answer, a reward or both', () => {
    expect(saidInLine('{"answer": "42"}')).toEqual({ said: { answer: '42' } });
    expect(saidInLine('{"reward": 0.5, "rewards": {"form": 1}}')).toEqual({
      said: { reward: 0.5, rewards: { form: 1 } },
    });
  });

  test('is none where it is a log: text, or JSON without a field of ours', () => {
    const logs = [
      'done',
      '["answer"]',
      '{"event": "done"}',
      '{"log": {"reward": 1}}',
      '{"text": "the \\"answer\\": 42"}',
    ];
    for (const line of logs) expect(saidInLine(line), line).toBeUndefined();
  });

  test('is wrong where a field of ours is: nothing is guessed', () => {
    const wrong = [
      '{"reward": NaN}',
      '{"reward": "1"}',
      '{"answer": [42]}',
      '{"rewards": {"form": 1}}',
      '{"answer": null}',
    ];
    for (const line of wrong) expect(saidInLine(line), line).toHaveProperty('problem');
  });
});
