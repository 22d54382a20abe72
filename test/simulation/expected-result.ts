// A rollout's result as it must be, computed once more from nothing but its turns and how it ended.

import type { Outcome, RolloutResult, StopReason } from '../../domain/ending.ts';
import type { Boundary } from '../../domain/reasons.ts';
import type { VerdictCounts } from '../../domain/verdict.ts';
import { OUT, RUN } from './names.ts';
import type { Plan } from './plan.ts';
import type { Failure } from './wire.ts';

export interface JudgedTurn {
  readonly outputTokens: number;
  readonly verdict: string;
  readonly reason: string;
}

const OUTCOME: Readonly<Record<StopReason, Outcome>> = {
  'max-turns': 'complete',
  success: 'complete',
  'context-length': 'complete',
  undecided: 'undecided',
  failed: 'failed',
  cancelled: 'cancelled',
};
const SUCCESS: Readonly<Record<string, 0 | 1 | null>> = { right: 1, wrong: 0, undecided: null };

export function expectedResult(
  { reward }: Plan,
  { query, sample }: { readonly query: string; readonly sample: number },
  turns: readonly JudgedTurn[],
  stopReason: StopReason,
  failure: string | null,
): RolloutResult {
  const outcome = OUTCOME[stopReason];
  const success = turns.map((t) => SUCCESS[t.verdict]!);
  const rewards: number[] = [];
  let later = 0;
  for (const s of success.toReversed()) {
    later = ((s === 1 ? 1 : -1) - reward.rewardBias) * reward.rewardScaling + reward.turnDiscount * later;
    rewards.unshift(later);
  }
  return {
    outcome,
    stopReason,
    turns: turns.length,
    rewards: outcome === 'complete' ? rewards : [],
    success,
    verdicts: verdictsOf(turns),
    tokens: turns.reduce((sum, t) => sum + t.outputTokens, 0),
    reason: stopReason === 'undecided' ? turns.at(-1)!.reason : failure,
    ...(outcome === 'failed' && { boundary: boundaryOf(failure!) }),
    trajectory: { out: OUT, run: RUN, query, sample, attempt: 1 },
  };
}

/** Of the failures that the simulation makes; those of its activities carry no boundary, and most are in no list. */
function boundaryOf(reason: string): Boundary {
  if (/-timeout$|^timed-out$|^terminated$/.test(reason)) return 'temporal';
  return reason === 'bad-row' ? 'dataset' : reason === 'server-gone' ? 'model' : 'everturn';
}

function verdictsOf(turns: readonly JudgedTurn[]): VerdictCounts {
  const verdicts: Record<string, Record<string, number>> = {};
  for (const { verdict, reason } of turns) {
    const before = verdicts[verdict] ?? {};
    verdicts[verdict] = { ...before, [reason]: (before[reason] ?? 0) + 1 };
  }
  return verdicts;
}

/** Of a child whose workflow itself failed. */
export function failedResult(query: string, sample: number, { cause }: Failure): RolloutResult {
  const reason = cause!.applicationFailureInfo?.type ?? (cause!.timeoutFailureInfo ? 'timed-out' : 'terminated');
  const trajectory = { out: OUT, run: RUN, query, sample, attempt: 1 };
  const boundary = boundaryOf(reason);
  const nothing = { turns: 0, rewards: [], success: [], tokens: 0 };
  return { outcome: 'failed', stopReason: 'failed', ...nothing, reason, boundary, trajectory };
}
