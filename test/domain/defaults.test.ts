import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completeSettings, seedOfRun } from '../../domain/run/defaults.ts';
import { TASK_QUEUE, GENERATE_QUEUE } from '../../domain/names/queues.ts';
import { turnFacts } from '../../domain/rollout/rollout-facts.ts';
import { SEARCH_ATTRIBUTES } from '../../domain/names/search-attributes.ts';

describe('settings', () => {
  test('what is not said is the original algorithm’s', () => {
    expect(completeSettings('run')).toMatchObject({
      numTurns: 5,
      stop: 'always',
      feedback: 'seed',
      rewardScaling: 1,
      rewardBias: 0,
      turnDiscount: 1,
      maxNewTokens: 16_384,
      temperature: 1,
      topP: 1,
      topK: 1e8,
    });
  });

  test('a run’s seed follows from its name, and other names give other seeds', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(seedOfRun(a) === seedOfRun(b)).toBe(a === b);
        expect(Number.isSafeInteger(seedOfRun(a))).toBe(true);
      }),
    );
  });

  test('task queues and search attributes keep the names that users rely on', () => {
    expect([TASK_QUEUE, GENERATE_QUEUE]).toEqual(['everturn', 'everturn-generate']);
    expect(SEARCH_ATTRIBUTES).toEqual({
      EverturnRun: 'Keyword',
      EverturnQuery: 'Keyword',
      EverturnOutcome: 'Keyword',
      EverturnTurns: 'Int',
      EverturnReward: 'Double',
      EverturnVersion: 'Int',
    });
  });

  test('a workflow carries a turn’s facts and nothing of its text or tokens', () => {
    const generated = {
      turn: 2,
      outputTokens: 3,
      contextTokens: 4,
      finish: 'stop',
      versionStart: 5,
      versionEnd: 6,
    } as const;
    const stray = { ...generated, hash: 'f'.repeat(64), outputIds: [1, 2, 3], extracted: 'text' };
    expect(turnFacts(stray, { verdict: 'right', reason: 'equal' })).toEqual({
      ...generated,
      verdict: 'right',
      reason: 'equal',
    });
  });
});
