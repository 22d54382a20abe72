// The warning of rollouts of which nothing is trained, with what their calls are called.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { UntrainedRollouts } from '../../library/untrained-rollouts.ts';
import { plural } from '../format.ts';

const MOST_NAMES = 8;

export function untrainedLine({ trainCalls, rollouts, of, query, field, seen }: UntrainedRollouts): string {
  const names = seen.slice(0, MOST_NAMES).map((name) => (name === null ? `no ${field}` : JSON.stringify(name)));
  const more = seen.length > MOST_NAMES ? ', …' : '';
  return oneLine(
    `Untrained  --train-calls ${trainCalls} leaves nothing of ${rollouts} of ${plural(of, 'rollout')} trained; the calls of ${query} have ${names.join(', ')}${more}`,
  );
}
