import { describe, expect, test } from 'vitest';
import { parseLastWords, lastWordsInLine, joinLastWords } from '../../domain/agent/last-words.ts';

const manyRewards = (many: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: many }, (_, i) => [`part-${i}`, 1])));

describe('the last line of an agent', () => {
  test('is an answer, a reward or both', () => {
    expect(lastWordsInLine('{"answer": "42"}')).toEqual({ said: { answer: '42' } });
    expect(lastWordsInLine('{"reward": 0.5, "rewards": {"form": 1}}')).toEqual({
      said: { reward: 0.5, rewards: { form: 1 } },
    });
    expect(lastWordsInLine(`{"reward": 3.4e38, "rewards": ${manyRewards(100)}}`)).toHaveProperty('said');
  });

  test('is none where it is a log: text, or JSON without a field of ours', () => {
    const logs = [
      'done',
      '["answer"]',
      '{"event": "done"}',
      '{"log": {"reward": 1}}',
      '{"text": "the \\"answer\\": 42"}',
    ];
    for (const line of logs) expect(lastWordsInLine(line), line).toBeUndefined();
  });

  test('is wrong where a field of ours is: nothing is guessed', () => {
    const wrong = [
      '{"reward": NaN}',
      '{"reward": "1"}',
      '{"answer": [42]}',
      '{"rewards": {"form": 1}}',
      '{"answer": null}',
      '{"answer": "42", "rewards": {"form": 1}}',
      '{"answer": 12345678901234567890}',
    ];
    for (const line of wrong) expect(lastWordsInLine(line), line).toHaveProperty('problem');
  });

  test.each([
    ['{"answer": "42", "answer": "41"}', 'the key "answer" twice'],
    ['{"reward": 1, "rewards": {"form": 1, "form": 0}}', 'the key "rewards.form" twice'],
    [`{"reward": 1, "rewards": ${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`, 'nested deeper'],
    ['{"answer": "42", "steps": 3}', 'the unknown field "steps"'],
    ['{"reward": 1e39}', 'has a reward that is beyond 3.4e38, where float32 ends'],
    ['{"reward": "1"}', 'has a reward that is no finite number'],
    ['{"reward": 1, "rewards": [1]}', 'has rewards that are no object of numbers by name'],
    ['{"reward": 1, "rewards": {"form": -1e39}}', 'has rewards of which "form" is beyond 3.4e38, where float32 ends'],
    ['{"reward": 1, "rewards": {"a\\u001b[31m": 1}}', 'none of them a control character'],
    ['{"reward": 1, "rewards": {" ": 1}}', 'has rewards with the name "": right would be 1 to 100 characters'],
    [`{"reward": 1, "rewards": {"${'a'.repeat(101)}": 1}}`, 'right would be 1 to 100 characters'],
    [`{"reward": 1, "rewards": ${manyRewards(101)}}`, 'has 101 rewards by name, and 100 are the most'],
    ['{"rewrad": 1, "answer": "42", "call": "x"}', 'the unknown fields "rewrad", "call"'],
  ])('is wrong, by its cause, where readers differ or a field is unknown: %#', (line, problem) => {
    expect(lastWordsInLine(line)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  test('in JSON of a log may have a key twice: nothing of it is ours', () => {
    expect(lastWordsInLine('{"event": 1, "event": 2, "of": {"reward": 1}}')).toBeUndefined();
  });
});

describe('a later reward', () => {
  const said = (...all: object[]) =>
    all
      .map((one) => parseLastWords(one))
      .reduce<ReturnType<typeof joinLastWords> | undefined>(
        (before, read) => joinLastWords(before, 'said' in read ? read.said : {}),
        undefined,
      );

  test('replaces the earlier one whole, and leaves an answer that was said', () => {
    expect(said({ answer: '4', reward: 1, rewards: { form: 1 } }, { reward: 0 })).toEqual({ answer: '4', reward: 0 });
    expect(said({ reward: 1, rewards: { form: 1 } }, { answer: '5' })).toEqual({
      ...{ answer: '5', reward: 1 },
      rewards: { form: 1 },
    });
    expect(said({ reward: 1, rewards: { a: 1 } }, { reward: 2, rewards: { b: 1 } })).toEqual({
      ...{ reward: 2 },
      rewards: { b: 1 },
    });
  });
});
