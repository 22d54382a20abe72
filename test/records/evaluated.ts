// A training run's evaluation, written to a folder of runs as it is when it has ended, or is being played.

import { evaluationPlace } from '../../run/evaluations.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import { aQuery, play, putRun } from './play.ts';
import { noCounts } from '../../domain/run/progress.ts';

export const HELD_OUT = { every: 2, samples: 1, queries: 'a'.repeat(64) };

/** A row for each verdict, of one turn. Returns its name. */
export async function evaluate(
  out: string,
  of: { readonly run: string; readonly version: number; readonly line?: number; readonly open?: boolean },
  verdicts: readonly VerdictValue[],
): Promise<string> {
  const { run, version, line = 0, open = false } = of;
  const place = evaluationPlace({ out, run, version, line });
  const store = openFileStore(place.out, place.run);
  const queries = verdicts.map((_, i) => aQuery(`h${i}`));
  await putRun(store, queries, { run: place.run, evaluates: { run, version, line, label: null } });
  for (const [index, verdict] of verdicts.entries())
    await play(store, { run: place.run, query: queries[index]!, index, verdicts: [verdict], versions: [version] });
  const counts = noCounts();
  if (!open) await store.putResult({ run: place.run, total: verdicts.length, cancelled: false, numTurns: 3, counts });
  return place.run;
}
