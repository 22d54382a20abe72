// A run that a trainer lives on stays in one workflow: its feed lets only the groups of its next steps begin.

import { MAX_WINDOW } from '../domain/run/defaults.ts';
import { UsageError } from '../domain/errors/errors.ts';

export function mustFitTrainer(maxConcurrent: number): void {
  if (maxConcurrent <= MAX_WINDOW) return;
  const most = `at most ${MAX_WINDOW}`;
  throw new UsageError(`--max-concurrent ${maxConcurrent}: a run with --train has ${most} rollouts in flight.`, {
    reason: 'bad-value',
    fix: `Give ${most}: its feed lets only the groups of its next steps begin.`,
  });
}
