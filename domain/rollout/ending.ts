// How a rollout ends: its limits, the stop reason, the outcome that is counted, and the result. Every RolloutResult is
// made here: for a rollout that ends now, for a recorded end, and for a rollout without one.

import type { TrajectoryReference } from '../names/ids.ts';
import type { Boundary } from '../errors/reasons.ts';
import { discountedReturns, type RewardSettings, turnRewards } from './reward.ts';
import { totalTokens, type TurnFacts } from './turn-facts.ts';
import { countedVerdicts } from './environment.ts';
import type { Verdict, VerdictCounts, VerdictValue } from './verdict.ts';

export const OUTCOMES = ['complete', 'undecided', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * The reason why no further turn was played.
 *   max-turns        all turns of --num-turns were played
 *   success          --stop success, and the answer was right
 *   done             the environment ended it
 *   context-length   the next turn cannot fit into the model's context
 *   undecided        the judge could not decide: no feedback would be true
 *   failed           infrastructure; `failure` names it
 *   cancelled        a user ended it
 */
export const STOP_REASONS = [
  ...['max-turns', 'success', 'done', 'context-length'],
  ...OUTCOMES.filter((outcome) => outcome !== 'complete'),
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface TurnLimits {
  /** T: at most this many turns. */
  readonly numTurns: number;
  /** `always` plays all turns also after a right answer, as the original does. */
  readonly stop: 'always' | 'success';
}

/** The small facts of a finished rollout: a workflow's result and a collection's raw material. */
export interface RolloutResult {
  readonly outcome: Outcome;
  readonly stopReason: StopReason;
  /** Finished turns. */
  readonly turns: number;
  /** Discounted returns G_t, one per turn; empty unless the outcome is `complete`. */
  readonly returns: readonly number[];
  /** 1 right, 0 wrong, null neither; one per finished turn. */
  readonly success: readonly (0 | 1 | null)[];
  /** Undiscounted r_t of the judged turns; present if an environment gave one of them. */
  readonly turnRewards?: readonly number[];
  /** Turns that called tools and hold no answer; absent if there is none. */
  readonly called?: readonly number[];
  /** The turns that were judged, by verdict and reason; absent if its records are not known. */
  readonly verdicts?: VerdictCounts;
  /** Output tokens of all turns; null: unknown, because a server gave text without tokens. */
  readonly tokens: number | null;
  /** Stable name of what failed; null unless the outcome is `failed` or `undecided`. */
  readonly reason: string | null;
  /** The boundary of the failure; absent unless the outcome is `failed`. */
  readonly boundary?: Boundary;
  /** A person's message is in its context: it counts in no accuracy. */
  readonly steered?: true;
  readonly trajectory: TrajectoryReference;
}

/**
 * After the `turn`-th answer, in this order: undecided, done, success, max-turns. The turn after it finds
 * `context-length`. A turn that called tools is no answer, and ends nothing.
 */
export function stopReason(
  turn: number,
  verdict: VerdictValue,
  limits: TurnLimits,
  done = false,
): StopReason | undefined {
  if (verdict === 'undecided') return 'undecided';
  if (done) return 'done';
  if (verdict === 'right' && limits.stop === 'success') return 'success';
  if (turn >= limits.numTurns) return 'max-turns';
  return undefined;
}

/** Room for new tokens: the wanted budget, cut so that context and answer fit the model. 0: `context-length`. */
export function tokenBudget(contextTokens: number, wanted: number, modelLength: number): number {
  return Math.max(0, Math.min(wanted, modelLength - contextTokens));
}

export function outcomeOf(stop: StopReason): Outcome {
  switch (stop) {
    case 'max-turns':
    case 'success':
    case 'done':
    case 'context-length':
      return 'complete';
    default:
      return stop;
  }
}

/** Whether a rollout that ended so may be played again in the same run: it gave no sample. */
export function mayRetry(outcome: Outcome): boolean {
  return outcome === 'failed' || outcome === 'undecided';
}

/** 1 right, 0 wrong, null neither. */
export function successOf(verdict: VerdictValue): 0 | 1 | null {
  return verdict === 'right' ? 1 : verdict === 'wrong' ? 0 : null;
}

/**
 * The result of a rollout that ends now, with `stop` after `turns`. Only complete rollouts have returns: a rollout that
 * failed or could not be judged has no reward.
 */
export function rolloutResult(
  trajectory: TrajectoryReference,
  turns: readonly TurnFacts[],
  stop: StopReason,
  failure: RecordedEnd['failure'],
  { success, turnRewards: raw, returns, called }: ScoredTurns,
): RolloutResult {
  const outcome = outcomeOf(stop);
  const counted = turns.map((verdict) => ({ tokens: verdict.outputTokens, verdict }));
  return recordedResult(
    trajectory,
    {
      outcome,
      stopReason: stop,
      returns: outcome === 'complete' ? returns : [],
      success,
      turnRewards: raw,
      failure,
      said: turns.flatMap(saidAt),
      ...(called.length > 0 && { called }),
    },
    counted,
  );
}

const saidAt = ({ turn, said }: TurnFacts): number[] => (said ? [turn] : []);

export interface ScoredTurns {
  /** 1 right, 0 wrong, null neither. */
  readonly success: (0 | 1 | null)[];
  /** r_t of the judged turns. */
  readonly turnRewards: number[];
  /** G_t. */
  readonly returns: number[];
  /** Turns that called tools and hold no answer. */
  readonly called: number[];
}

/**
 * A turn that called tools has the reward 0 and the return of the answer that follows it, not discounted. If its results
 * leave no room for an answer, it is the last one, and wrong: what was never answered earns no more than a wrong answer.
 */
export function scoredTurns(
  turns: readonly { readonly verdict: VerdictValue; readonly reward?: number }[],
  stop: StopReason,
  settings: RewardSettings,
): ScoredTurns {
  const isLost = (i: number) => stop === 'context-length' && i === turns.length - 1;
  const isCall = turns.map(({ verdict }, i) => verdict === 'called' && !isLost(i));
  const success = turns.map(({ verdict }, i) => (verdict === 'called' && isLost(i) ? 0 : successOf(verdict)));
  const rewardByTurn = turns.map(({ reward }, i) => (isCall[i] ? 0 : reward));
  const raw = turnRewards(success, settings, rewardByTurn);
  return {
    success,
    turnRewards: raw,
    returns: discountedReturns(raw, settings.turnDiscount, isCall),
    called: isCall.flatMap((call, i) => (call ? [i + 1] : [])),
  };
}

/** The entries of a list with one per turn that are of answers. */
export function entriesOfAnswers<T>(perTurn: readonly T[], called: readonly number[] = []): readonly T[] {
  return called.length === 0 ? perTurn : perTurn.filter((_, i) => !called.includes(i + 1));
}

/** The part of an end's record that a result repeats. */
interface RecordedEnd extends Pick<RolloutResult, 'outcome' | 'stopReason' | 'returns' | 'success' | 'called'> {
  readonly turnRewards?: readonly number[];
  readonly failure: { readonly reason: string; readonly boundary: Boundary } | null;
  /** Turns with a person's message in their context. */
  readonly said?: readonly number[];
}

/** The result of a rollout with this end and these turns; a turn's verdict is null where it was not judged. */
export function recordedResult(
  trajectory: TrajectoryReference,
  { outcome, stopReason: stop, returns, success, turnRewards: raw, failure, said = [], called }: RecordedEnd,
  turns: readonly {
    readonly tokens: number | null;
    readonly verdict: (Verdict & { readonly reward?: number; readonly callReward?: number }) | null;
  }[],
): RolloutResult {
  const undecided = outcome === 'undecided' ? turns.at(-1)?.verdict?.reason : undefined;
  return {
    outcome,
    stopReason: stop,
    turns: turns.length,
    returns,
    success,
    ...(raw &&
      turns.some(({ verdict }) => (verdict?.reward ?? verdict?.callReward) !== undefined) && { turnRewards: raw }),
    ...(called && called.length > 0 && { called }),
    verdicts: countedVerdicts(turns.flatMap(({ verdict }) => verdict ?? [])),
    tokens: totalTokens(turns.map(({ tokens }) => tokens)),
    reason: failure?.reason ?? undecided ?? null,
    ...(failure && { boundary: failure.boundary }),
    ...(said.length > 0 && { steered: true as const }),
    trajectory,
  };
}

/** The result of a rollout whose workflow closed before it could record its end; without a failure it was cancelled. */
export function unrecordedResult(trajectory: TrajectoryReference, failure: RecordedEnd['failure']): RolloutResult {
  const stop = failure ? 'failed' : 'cancelled';
  return {
    outcome: stop,
    stopReason: stop,
    turns: 0,
    returns: [],
    success: [],
    tokens: 0,
    reason: failure?.reason ?? null,
    ...(failure && { boundary: failure.boundary }),
    trajectory,
  };
}
