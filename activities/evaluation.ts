// Makes the run of a held-out evaluation.

import type { ActivityDeps, EvaluationOf } from './deps.ts';
import { heartbeating } from './heartbeat.ts';

export function evaluationActivity({ makeEvaluation }: Pick<ActivityDeps, 'makeEvaluation'>) {
  /** With how many rollouts in flight it is to be played; null: it has ended already. */
  return (of: EvaluationOf): Promise<{ readonly maxConcurrent: number } | null> =>
    heartbeating(() => makeEvaluation(of));
}
