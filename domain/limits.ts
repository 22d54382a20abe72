// All limits of a rollout in one place, and which of them ends it first.
// Precedence after a judged turn: undecided, then success, then max-turns; `context-length` is found
// when the next turn is about to be generated.

import type { StopReason } from './outcome.ts';
import type { VerdictValue } from './verdict.ts';

export interface Limits {
  /** T: at most this many turns. */
  readonly numTurns: number;
  /** `always` plays all turns also after a right answer, as the original does. */
  readonly stop: 'always' | 'success';
}

export function stopReason(turn: number, verdict: VerdictValue, limits: Limits): StopReason | undefined {
  if (verdict === 'undecided') return 'undecided';
  if (verdict === 'right' && limits.stop === 'success') return 'success';
  if (turn >= limits.numTurns) return 'max-turns';
  return undefined;
}

/** Room for new tokens: the wanted budget, cut so that context and answer fit the model. 0 = none. */
export function tokenBudget(contextTokens: number, wanted: number, modelLength: number): number {
  return Math.max(0, Math.min(wanted, modelLength - contextTokens));
}
