// Random facts of rollouts that could have happened: consistent, however they ended.

import fc from 'fast-check';
import { outcomeOf, type RolloutResult, type StopReason } from '../../domain/rollout/ending.ts';
import { emptyLine } from '../../domain/feed/entry.ts';
import type { FeedState } from '../../domain/feed/state.ts';
import type { TurnFacts } from '../../domain/rollout/turn-facts.ts';

export const STOPS: readonly StopReason[] = [
  'max-turns',
  'success',
  'context-length',
  'undecided',
  'failed',
  'cancelled',
];

const REASON = fc.constantFrom('timeout', 'model-not-found', 'constructor', 'disk-full');

/** A result of a rollout of at most `numTurns` turns. */
export function someResult(numTurns: number): fc.Arbitrary<RolloutResult> {
  return fc
    .record({
      stop: fc.constantFrom(...STOPS),
      judged: fc.array(fc.constantFrom(0 as const, 1 as const), { maxLength: numTurns }),
      tokens: fc.nat(10_000),
      reason: REASON,
      query: fc.string(),
      sample: fc.nat(3),
    })
    .map(({ stop, judged, tokens, reason, query, sample }) => {
      const success = successes(stop, judged, numTurns);
      const unhappy = stop === 'failed' || stop === 'undecided';
      return {
        outcome: outcomeOf(stop),
        stopReason: stop,
        turns: success.length,
        returns: [],
        success,
        tokens,
        reason: unhappy ? reason : null,
        trajectory: { out: 'runs', run: 'run', query, sample, attempt: 1 },
      };
    });
}

function successes(stop: StopReason, judged: readonly (0 | 1)[], numTurns: number): (0 | 1 | null)[] {
  const before = judged.slice(0, numTurns - 1);
  if (stop === 'success') return [...before.map(() => 0 as const), 1];
  if (stop === 'undecided') return [...before, null];
  if (stop === 'max-turns') return Array.from({ length: numTurns }, (_, i) => judged[i] ?? 0);
  return [...judged];
}

export function someTurn(changes: Partial<TurnFacts> = {}): TurnFacts {
  return {
    turn: 1,
    outputTokens: 41,
    contextTokens: 12,
    finish: 'stop',
    versionStart: 0,
    versionEnd: 0,
    verdict: 'wrong',
    reason: 'different',
    ...changes,
  };
}

/** Any code point, lone surrogates included: fast-check's own `binary` unit takes seconds to build. */
export const ANY_CHAR = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

/** A feed of lone samples in which nothing has happened yet. */
export function openedFeed(queries: number, batchGroups: number, maxStaleness: number): FeedState {
  const filter = { successRate: null, dropZeroVariance: false, minMembers: null };
  return {
    run: 'r',
    shape: { queries, samples: 1, epochs: 1, batchGroups, maxStaleness, filter },
    ...emptyLine(),
    ...{ entries: 0, last: null, trainedGroups: 0, ahead: 0, next: 0 },
    ...{ playing: [], ready: [], leases: [], acknowledged: [] },
    admissions: [{ version: 0, upTo: (maxStaleness + 1) * batchGroups }],
    leftOut: { members: 0, 'success-rate': 0, 'zero-variance': 0 },
    restarts: {},
    concluded: false,
  };
}
