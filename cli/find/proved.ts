// The proof of a run's records, by one Everturn alone: records of a later one may mean something else, so they are
// neither right nor wrong here, and the proof says so instead of breaches.

import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { checkRun, type CheckOptions, type CheckSummary } from '../../records/check/check.ts';
import { OTHER_VERSION } from '../../records/disk/errors.ts';
import type { Breach, OnBreach } from '../../records/store.ts';
import { plural } from '../view/format.ts';
import type { RunPlace } from './place.ts';
import { newerRun, runMadeBefore } from './source.ts';

/** Throws a UsageError if another Everturn wrote the run or one of its records. */
export async function provedRun(place: RunPlace, onBreach: OnBreach, options: CheckOptions): Promise<CheckSummary> {
  await runMadeBefore(place).catch((error: unknown) => {
    // A torn record is a breach.
    if (error instanceof UsageError) throw error;
  });
  let later: Breach | undefined;
  const summary = await checkRun(
    place.store,
    (breach) => {
      if (OTHER_VERSION.test(breach.problem)) later ??= breach;
      // Later ones may follow from a record that cannot be read.
      if (!later) onBreach(breach);
    },
    options,
  );
  if (!later) return summary;
  const { path, problem } = later;
  throw newerRun(
    `Run "${place.run}" has records of another Everturn, and is not proved: ${oneLine(path)} ${OTHER_VERSION.exec(problem)![0]}`,
  );
}

export function countsText({ rollouts, turns, ended, unfinished }: CheckSummary): string {
  const open = unfinished > 0 ? `, ${unfinished} not ended` : '';
  return `${plural(rollouts, 'rollout')} (${ended} ended${open}), ${plural(turns, 'turn')}`;
}
