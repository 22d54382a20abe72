// A rollout's result as it must be, computed once more from nothing but its turns and how it ended.

import type { Outcome, RolloutResult, StopReason } from '../../domain/rollout/ending.ts';
import type { Boundary } from '../../domain/errors/reasons.ts';
import type { VerdictCounts } from '../../domain/rollout/verdict.ts';
import { OUT, RUN } from './names.ts';
import type { Plan } from './plan.ts';
import { type Failure, valueOf } from './wire.ts';

export interface JudgedTurn {
  readonly outputTokens: number;
  readonly verdict: string;
  readonly reason: string;
}

const OUTCOME: Readonly<Record<StopReason, Outcome>> = {
  'max-turns': 'complete',
  success: 'complete',
  done: 'complete',
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
  failure: Failed | null,
): RolloutResult {
  const outcome = OUTCOME[stopReason];
  const success = turns.map((t) => SUCCESS[t.verdict]!);
  const returns: number[] = [];
  let later = 0;
  for (const s of success.toReversed()) {
    later = ((s === 1 ? 1 : -1) - reward.rewardBias) * reward.rewardScaling + reward.turnDiscount * later;
    returns.unshift(later);
  }
  return {
    outcome,
    stopReason,
    turns: turns.length,
    returns: outcome === 'complete' ? returns : [],
    success,
    verdicts: verdictsOf(turns),
    tokens: turns.reduce((sum, t) => sum + t.outputTokens, 0),
    reason: stopReason === 'undecided' ? turns.at(-1)!.reason : (failure?.reason ?? null),
    ...(outcome === 'failed' && { boundary: failure!.boundary }),
    trajectory: { out: OUT, run: RUN, query, sample, attempt: 1 },
  };
}

/** Why and where a rollout failed. */
export interface Failed {
  readonly reason: string;
  readonly boundary: Boundary;
}

/** Of a failed activity: the first of its causes that an activity threw; else time was up. */
export function failedOf(failure: Failure, what: string): Failed {
  for (let f: Failure | undefined = failure; f; f = f.cause) if (f.applicationFailureInfo) return thrownBy(f);
  return { reason: `${what}-timeout`, boundary: 'temporal' };
}

/** Failures from before boundaries were sent have none: of the reasons that are simulated one is in the product's lists. */
function thrownBy({ applicationFailureInfo: info }: Failure): Failed {
  const { type: reason, details } = info!;
  const sent = valueOf<{ boundary: Boundary } | undefined>(details?.payloads[0])?.boundary;
  return { reason, boundary: sent ?? (reason === 'bad-row' ? 'dataset' : 'everturn') };
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
  const failed: Failed = cause!.applicationFailureInfo
    ? thrownBy(cause!)
    : { reason: cause!.timeoutFailureInfo ? 'timed-out' : 'terminated', boundary: 'temporal' };
  const trajectory = { out: OUT, run: RUN, query, sample, attempt: 1 };
  const nothing = { turns: 0, returns: [], success: [], tokens: 0 };
  return { outcome: 'failed', stopReason: 'failed', ...nothing, ...failed, trajectory };
}
