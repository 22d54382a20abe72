// What a trainer leaves, as it is in a folder of runs: the entry of a step, and an evaluation that has ended or is being played.

import { evaluationPlace } from '../../run/evaluations.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { NumberSet } from '../../domain/feed/number-set.ts';
import type { Store } from '../../records/store.ts';
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
  if (!open)
    await store.put('result', null, { run: place.run, total: verdicts.length, cancelled: false, numTurns: 3, counts });
  return place.run;
}

export const TRAIN = {
  ...{ successRate: null, dropZeroVariance: false, minMembers: null },
  ...{ batchGroups: 1, maxStaleness: 1 },
};

/** The next entry of a feed's ledger: these groups were trained into that version. */
export async function trained(store: Store, groups: NumberSet, version: number): Promise<void> {
  const number = (await store.countFeedEntries()) + 1;
  const previous = number === 1 ? null : (await store.get('feed', number - 1))!.hash;
  const said = { lease: `l${number}`, consumer: 't', groups, leasedAt: version - 1, version };
  await store.put('feed', null, { kind: 'trained', ...said, number, previous, at: 0 });
}
