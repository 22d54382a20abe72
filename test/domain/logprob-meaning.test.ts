import { describe, expect, test } from 'vitest';
import { logprobsServe, type LogprobMeaning, mustServeLogprobs } from '../../domain/rollout/logprob-meaning.ts';

const MEANINGS: LogprobMeaning[] = ['policy', 'temperature', 'raw', 'unknown', 'mixed'];
const serve = (wanted: 'policy' | 'raw', temperature: number, topP: number, topK: number, minP = 0) =>
  MEANINGS.filter((meaning) => logprobsServe(meaning, wanted, { temperature, topP, topK, minP }, 100));

describe('the meaning of logprobs', () => {
  test('at temperature 1 without cuts every server serves every wish', () => {
    expect(serve('policy', 1, 1, 100)).toEqual(MEANINGS);
    expect(serve('raw', 1, 1, 1e8)).toEqual(MEANINGS);
    expect(serve('policy', 0, 1, 1e8)).toEqual(MEANINGS);
  });

  test('with a temperature, raw logprobs are not the policy’s', () => {
    expect(serve('policy', 0.5, 1, 100)).toEqual(['policy', 'temperature']);
    expect(serve('raw', 0.5, 1, 100)).toEqual(['raw']);
  });

  test('with a cut, only logprobs after it are the policy’s', () => {
    expect(serve('policy', 1, 0.9, 100)).toEqual(['policy']);
    expect(serve('policy', 0.5, 1, 5)).toEqual(['policy']);
    expect(serve('policy', 1, 1, 100, 0.1)).toEqual(['policy']);
    expect(serve('raw', 1, 1, 99)).toEqual(['temperature', 'raw']);
  });

  test('with a cut, a server that says what it draws from has the policy’s, unless it is one of a mixture', () => {
    const take = (logprobs: LogprobMeaning, wanted: 'policy' | 'raw', sampling: object = {}) =>
      mustServeLogprobs(
        { kind: 'tokens', name: 'some model', vocabSize: 100, givesKept: true, logprobs },
        { temperature: 0.5, topP: 0.9, topK: 100, ...sampling, logprobs: wanted },
      );
    for (const meaning of ['policy', 'temperature', 'raw', 'unknown'] as const) take(meaning, 'policy');
    expect(() => take('mixed', 'policy')).toThrow(/different kinds/);
    expect(() => take('raw', 'policy', { topP: 1 })).toThrow(/another distribution \(raw\)/);
    expect(() => take('temperature', 'raw')).toThrow(/another distribution \(temperature\)/);
    take('temperature', 'raw', { temperature: 1 });
  });
});
