// The rollouts of a run and their records, in flight or ended, each once: one that ends meanwhile is neither missed nor
// listed twice.

import { dirname, join } from '../place.ts';
import { rolloutFolder } from '../format/layout.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { listRollouts, listRolloutsOf, rolloutAt } from '../in-flight/listing.ts';
import { factsOf, placeOf } from '../places/files.ts';
import { rowsInFlight } from '../in-flight/rows.ts';
import type { Breach, Store } from '../store.ts';
import { type Ended, nothingSeen } from './ended.ts';
import { type EndedRollout, lineProblem } from './line.ts';
import { filesOf } from './row.ts';
import { ROLLOUT_FILE } from '../format/rollout-file.ts';

export function openListing(
  folder: string,
  run: string,
  ended: Ended,
): Pick<Store, 'listRollouts' | 'listRolloutsOf' | 'listRows' | 'rolloutIn' | 'listConflicts' | 'readRecords'> {
  /** A rollout that ends while its files are read may have lost some: its first file went first, and it has its line. */
  async function whole<T>(id: RolloutId, ofLine: (line: EndedRollout) => T, ofFiles: (path: string) => Promise<T>) {
    for (;;) {
      const line = await ended.rollout(id);
      if (line) return ofLine(line);
      const path = join(folder, rolloutFolder(id));
      const found = await ofFiles(path);
      if ((await factsOf(join(path, ROLLOUT_FILE))) !== undefined || !(await ended.look(id))) return found;
    }
  }

  return {
    async *listRollouts(onBreach) {
      const inFlight = new Set<string>();
      const breaches: Breach[] = [];
      for await (const id of listRollouts(folder, run, (breach) => breaches.push(breach))) {
        if (ended.knows(id)) continue;
        inFlight.add(rolloutFolder(id));
        yield id;
      }
      const onFlaw = onBreach && ((path: string, problem: string) => onBreach({ path, problem }));
      for await (const { query, sample, attempt } of ended.entries(onFlaw)) {
        const id = { run, query, sample, attempt };
        if (inFlight.size === 0 || !inFlight.has(rolloutFolder(id))) yield id;
      }
      // A worker that removes the files of an ended rollout, or was killed there, leaves some of them.
      for (const breach of breaches) if (!(await ended.inFolder(dirname(breach.path)))) onBreach?.(breach);
    },

    async listRolloutsOf(query, { partly = false } = {}) {
      const files = await listRolloutsOf(folder, run, query);
      const lines = (await ended.of(query, partly)).map((id) => ({ run, ...id }));
      return [...lines, ...files.filter((id) => !ended.knows(id))].sort(
        (a, b) => a.sample - b.sample || a.attempt - b.attempt,
      );
    },

    async rolloutIn(path) {
      const id = (await rolloutAt(folder, path, () => {})) ?? (await ended.inFolder(path));
      return id && { run, query: id.query, sample: id.sample, attempt: id.attempt };
    },

    async *listRows({ seen = nothingSeen(), inFlight = false } = {}) {
      // Files first: a rollout that ends meanwhile has its line before its files go.
      if (inFlight) yield* rowsInFlight(folder, seen.inFlight);
      yield* ended.entries(undefined, seen);
    },
    listConflicts: () => ended.conflicts(),

    readRecords: (id, read) =>
      whole(
        id,
        (line) => read({ ...filesOf(line), line: { place: ended.lineOf(id), problem: () => lineProblem(line) } }),
        async (path) => read(await placeOf(path).texts(path)),
      ),
  };
}
