// How a rollout ended: an outcome for counting, a stop reason for understanding.

export const OUTCOMES = ['complete', 'undecided', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * Why no further turn was played.
 *   max-turns        all turns of --num-turns were played
 *   success          --stop success, and the answer was right
 *   context-length   the next turn cannot fit into the model's context
 *   undecided        the judge could not decide: no feedback would be true
 *   failed           infrastructure; `failure` names it
 *   cancelled        somebody asked for it
 */
export type StopReason = 'max-turns' | 'success' | 'context-length' | 'undecided' | 'failed' | 'cancelled';

export function outcomeOf(stop: StopReason): Outcome {
  switch (stop) {
    case 'max-turns':
    case 'success':
    case 'context-length':
      return 'complete';
    default:
      return stop;
  }
}
