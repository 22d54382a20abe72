// A run that two workers write while it is read: each is a thread that stores whole rollouts, record by record, and does
// their last step. A look is what one reader makes of the run in the meantime: what ended before it must
// be there, once and without a flaw; what had not begun after it must not.

import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { areal } from '../../formats/exports/areal.ts';
import { checkRun } from '../../records/check/check.ts';
import { openDisk } from '../../records/steps/disk.ts';
import { openEndedOf } from '../../records/ended/objects.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { openRecordCache } from '../../records/in-flight/cache.ts';
import { readSummaries, readTrajectory } from '../../records/reading/trajectories.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Store } from '../../records/store.ts';
import { RunIndex } from '../../viewer/run-index.ts';
import { compiledRoom } from '../support/compiled.ts';
import { again } from './ended-rig.ts';
import { aQuery, play, putRun, RUN, someSettings } from './play.ts';

/** A rollout as calls of a store, the last of which ends it. */
interface Deed {
  readonly id: RolloutId;
  readonly puts: readonly (readonly [name: string, args: readonly unknown[]])[];
}

const WRITERS = 2;
const SCRIPT = `
  import { setTimeout as sleep } from 'node:timers/promises';
  import { parentPort } from 'node:worker_threads';
  import { openFileStore } from ${JSON.stringify(pathToFileURL(join(compiledRoom('records'), 'file-store.js')).href)};
  const [begun, ended] = [0, 1];
  parentPort.on('message', async ({ out, deeds, counts, pauseMs }) => {
    for (const { id, puts } of deeds) {
      Atomics.add(counts, begun, 1);
      const store = openFileStore(out, id.run);
      for (const [name, args] of puts) {
        await sleep(Math.random() * pauseMs);
        await store[name](...args);
      }
      Atomics.add(counts, ended, 1);
    }
    parentPort.postMessage('done');
  });`;

export interface GrowingRun {
  readonly out: string;
  readonly ids: readonly RolloutId[];
  readonly begun: () => number;
  readonly ended: () => number;
  /** Whether some of it is there, and some of it is to come. */
  readonly grows: () => boolean;
  readonly over: Promise<void>;
}

/** What the writers do: a run's rollouts, played once in `scratch`. */
export async function deedsIn(scratch: string, queries: number): Promise<readonly Deed[]> {
  const store = again(scratch);
  const deeds: Deed[] = [];
  for (let index = 0; index < queries; index++) {
    const id = { run: RUN, query: `q${index}`, sample: 0, attempt: 1 };
    const puts: [string, readonly unknown[]][] = [];
    const noting = new Proxy(store, {
      get: (target, name: keyof Store) =>
        name.startsWith('put')
          ? (...args: readonly unknown[]) => {
              puts.push([name, args]);
              return (target[name] as (...all: readonly unknown[]) => unknown)(...args);
            }
          : target[name],
    });
    await play(noting, { query: aQuery(id.query), index, verdicts: ['wrong', 'right', 'wrong'] });
    deeds.push({ id, puts });
  }
  return deeds;
}

export interface Writers {
  /** One run at a time. `pauseMs`: the longest pause before each record. */
  write(out: string, deeds: readonly Deed[], pauseMs: number): Promise<GrowingRun>;
  close(): Promise<void>;
}

export function openWriters(): Writers {
  const threads = Array.from(
    { length: WRITERS },
    () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`)),
  );
  return {
    async write(out, deeds, pauseMs) {
      await putRun(
        again(out),
        deeds.map(({ id }) => aQuery(id.query)),
        { settings: someSettings() },
      );
      const counts = new Int32Array(new SharedArrayBuffer(8));
      const [begun, ended] = [() => Atomics.load(counts, 0), () => Atomics.load(counts, 1)];
      const over = threads.map((thread, one) => {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
        thread.postMessage({ out, deeds: deeds.filter((_deed, i) => i % WRITERS === one), counts, pauseMs });
        return once(thread, 'message');
      });
      return {
        ...{ out, ids: deeds.map(({ id }) => id), begun, ended },
        grows: () => begun() > 0 && ended() < deeds.length,
        over: Promise.all(over).then(() => undefined),
      };
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

/** What a reader says of the run. */
interface Said {
  /** Rollouts that it knows to have ended. */
  readonly ended: number;
  /** Rollouts that it knows at all. */
  readonly all: number;
}

/** Opened once for a run. */
export type Reader = (run: GrowingRun) => () => Promise<Said>;

export async function look(run: GrowingRun, read: () => Promise<Said>): Promise<void> {
  const before = run.ended();
  const { ended, all } = await read();
  const after = run.begun();
  assert(ended >= before && ended <= after, `${ended} have ended, of at least ${before} and at most ${after}`);
  assert(all >= ended && all <= after, `${all} are there, of at most ${after}`);
}

const nothing = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

export const READERS: Readonly<Record<string, Reader>> = {
  /** Its steps share what is known of ended rollouts, and what they wrote. */
  worker({ out, ids }) {
    const parts = { cache: openRecordCache(), disk: openDisk(), endedOf: openEndedOf() };
    return async () => {
      const store = openFileStore(out, RUN, parts);
      let [ended, all] = [0, 0];
      for (const id of ids) {
        const played = await readTrajectory(store, id);
        if (!played) continue;
        all++;
        if (played.end === null) continue;
        ended++;
        assert.equal((await store.put('rollout', id, played.rollout)).created, false);
        for (const turn of [1, 2, 3]) assert(await store.get('verdict', id, turn));
      }
      return { ended, all };
    };
  },

  listing:
    ({ out }) =>
    async () => {
      const store = again(out);
      const ids: RolloutId[] = [];
      for await (const id of store.listRollouts((breach) => assert.fail(JSON.stringify(breach)))) ids.push(id);
      assert.equal(new Set(ids.map(rolloutFolder)).size, ids.length);
      let ended = 0;
      for (const id of ids) {
        assert.equal((await store.listRolloutsOf(id.query)).length, 1);
        const names = await store.readRecords(id, ({ names }) => names());
        assert(names.includes('rollout.json'), `${id.query}: ${names.join()}`);
        if (!names.includes('end.json')) continue;
        assert.equal(names.filter((name) => name.endsWith('.json')).length, 8, names.join());
        ended++;
      }
      return { ended, all: ids.length };
    },

  stats:
    ({ out }) =>
    async () => {
      let [ended, all] = [0, 0];
      const onBroken = (breach: object) => assert.fail(JSON.stringify(breach));
      for await (const { outcome, index, turns } of readSummaries(again(out), { onBroken })) {
        assert.notEqual(index, null);
        all++;
        if (outcome === null) continue;
        assert.equal(turns.length, 3);
        ended++;
      }
      return { ended, all };
    },

  export:
    ({ out }) =>
    async () => {
      const { exported, skipped } = await exportRun(again(out), areal, nothing(), {
        onSkip: ({ problem }) => assert.equal(problem, null),
      });
      return { ended: exported, all: exported + Object.values(skipped).reduce((sum, n) => sum + n, 0) };
    },

  check:
    ({ out }) =>
    async () => {
      const onBreach = (breach: object) => assert.fail(JSON.stringify(breach));
      // Nobody writes the result.
      const { ended, rollouts } = await checkRun(again(out), onBreach, { isGoing: () => Promise.resolve(true) });
      return { ended, all: rollouts };
    },

  viewer({ out }) {
    const index = new RunIndex(again(out));
    return async () => {
      await index.refresh();
      assert.equal(index.progress.problem, undefined);
      const rows = index.rows();
      for (const { flaw, state, turns } of rows) {
        assert.equal(flaw, undefined);
        if (state !== 'open') assert.equal(turns.finish, 'sss');
      }
      return { ended: rows.filter(({ state }) => state !== 'open').length, all: rows.length };
    };
  },
};
