// The rollouts of a run and their records, in flight or ended, each once: one that ends meanwhile is neither missed nor
// listed twice.

import { existsSync, readdirSync } from 'node:fs';
import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { readRegular } from '../../local/machine/regular-file.ts';
import { codeOf, fileError } from '../disk/errors.ts';
import { factsOf } from '../disk/facts.ts';
import { readText } from '../disk/write-once.ts';
import { dirname, join } from '../place.ts';
import { isHarmless, queryFolder, rolloutFolder } from '../format/layout.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { listRollouts, listRolloutsOf, namesIn, rolloutAt } from '../in-flight/listing.ts';
import type { Breach, RolloutFiles, Store } from '../store.ts';
import type { Ended } from './ended.ts';
import { type EndedRollout, lineProblem } from './line.ts';
import { filesOf } from './row.ts';
import { ROLLOUT_FILE } from '../format/rollout-file.ts';

export function openListing(
  folder: string,
  run: string,
  ended: Ended,
): Pick<
  Store,
  | 'listRollouts'
  | 'listRolloutsOf'
  | 'listFiles'
  | 'listEnded'
  | 'rolloutIn'
  | 'listConflicts'
  | 'lineProblem'
  | 'readRecords'
> {
  const inPlace = isBucketPlace(folder);

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
      // Nearly every query of a large run has ended; a failed look at a folder costs more than this one.
      const isThere = inPlace || existsSync(join(folder, queryFolder(query)));
      const files = isThere ? await listRolloutsOf(folder, run, query) : [];
      const lines = (await ended.of(query, partly)).map((id) => ({ run, ...id }));
      return [...lines, ...files.filter((id) => !ended.knows(id))].sort(
        (a, b) => a.sample - b.sample || a.attempt - b.attempt,
      );
    },

    async rolloutIn(path) {
      const id = (await rolloutAt(folder, path, () => {})) ?? (await ended.inFolder(path));
      return id && { run, query: id.query, sample: id.sample, attempt: id.attempt };
    },

    listEnded: (seen) => ended.entries(undefined, seen),
    listConflicts: () => ended.conflicts(),

    async lineProblem(id) {
      const line = await ended.rollout(id);
      return line && lineProblem(line);
    },

    readRecords: (id, read) =>
      whole(
        id,
        (line) => read(filesOf(line)),
        async (path) => read(inPlace ? await objectsIn(path) : filesIn(path)),
      ),

    listFiles: (id) => whole(id, ({ records }) => [...records.keys()], namesIn),
  };
}

/** Each read when it is asked for. Blocking reads are three times as cheap as asynchronous ones. */
function filesIn(folder: string): RolloutFiles {
  function unlessGone<T>(path: string, read: (path: string) => T): T | undefined {
    try {
      return read(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw fileError('read', path, error);
    }
  }
  return {
    text: (file) => unlessGone(join(folder, file), readRegular),
    names: () => unlessGone(folder, (path) => readdirSync(path)) ?? [],
  };
}

/** All at once: each is a request. */
async function objectsIn(folder: string): Promise<RolloutFiles> {
  const names = (await namesIn(folder)).filter((name) => !isHarmless(name));
  const texts = await Promise.all(names.map(async (name) => [name, await readText(join(folder, name))] as const));
  const there = new Map(texts);
  return { text: (file) => there.get(file), names: () => names.filter((name) => there.get(name) !== undefined) };
}
