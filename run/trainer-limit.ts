// The most rollouts in flight of a run with a trainer: as many as one workflow can have. More would need blocks, and the feed of
// such a run lets only the groups of its next steps begin.

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
