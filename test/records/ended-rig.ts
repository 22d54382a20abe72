// For the tests of ended rollouts: everything that a reader of a run sees, in one value; the bytes of a folder; a store that
// leaves ended rollouts as files, as a worker does that is killed before its last step; and a file layer that stops after
// some changes, as a killed process does: nothing that follows reaches the disk.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logName } from '../../domain/rollout/turn-log.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { type FileLayer, NODE_FILES } from '../../records/disk/file-layer.ts';
import { openDisk } from '../../records/steps/disk.ts';
import { openFileStore } from '../../records/file-store.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { rolloutsInOrder } from '../../records/reading/trajectories.ts';
import type { Store } from '../../records/store.ts';
import { RUN } from './play.ts';

/** Records with their hashes, logs, and listings, of all attempts. */
export async function seenIn(store: Store): Promise<unknown> {
  const ids: RolloutId[] = [];
  for await (const id of rolloutsInOrder(store, { attempts: 'all' })) ids.push(id);
  const listed: string[] = [];
  for await (const id of store.listRollouts((breach) => listed.push(JSON.stringify(breach))))
    listed.push(rolloutFolder(id));
  const rollouts = [];
  for (const id of ids) {
    const files = (await store.readRecords(id, ({ names }) => names())).toSorted();
    const turns = [];
    for (let turn = 1; turn <= 4; turn++)
      turns.push([
        await store.get('turn', id, turn),
        await store.get('verdict', id, turn),
        await store.get('chunk', id, turn, 1),
      ]);
    const logs = [];
    for (const version of [0, 1, 2])
      for (const kind of ['txt', 'jsonl'] as const) logs.push(await store.getLog(version, logName(id), kind));
    rollouts.push({ id, files, rollout: await store.get('rollout', id), turns, end: await store.get('end', id), logs });
  }
  return { listed: listed.sort(), rollouts };
}

/** What `seenIn` has of rollouts, but for the names of their files: files of an ended rollout may be left. */
export function rolloutsIn(seen: unknown): unknown[] {
  return (seen as { rollouts: { files: unknown }[] }).rollouts.map((rollout) => {
    const { files: _, ...rest } = rollout;
    return rest;
  });
}

export const again = (out: string): Store => openFileStore(out, RUN);

/** Ended rollouts stay files. */
export const openLoose = (out: string, run = RUN): Store =>
  openFileStore(out, run, { disk: { ...openDisk(), end: async () => {} } });

/** Does the last step of each ended rollout that is files. */
export async function endAll(out: string, layer: FileLayer = NODE_FILES, run = RUN): Promise<void> {
  const store = openFileStore(out, run);
  const disk = openDisk(layer);
  for await (const id of store.listRollouts()) if (await store.get('end', id)) await disk.end(store.folder, id, false);
}

/** Makes files of ended rollouts again, so that a test can do harm to them. */
export async function asFiles(out: string, run = RUN): Promise<void> {
  const store = openFileStore(out, run);
  for await (const { query, sample, attempt } of store.listRows()) {
    const folder = join(store.folder, rolloutFolder({ query, sample, attempt }));
    mkdirSync(folder, { recursive: true });
    await store.readRecords({ run, query, sample, attempt }, ({ names, text }) => {
      for (const name of names()) writeFileSync(join(folder, name), text(name)!);
    });
  }
  rmSync(join(store.folder, 'ended'), { recursive: true, force: true });
}

/** Path → content of every file, but those that no reader opens. */
export function bytesIn(folder: string, path = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, path))) {
    if (name.startsWith('.')) continue;
    const inner = path === '' ? name : `${path}/${name}`;
    if (statSync(join(folder, inner)).isDirectory()) Object.assign(found, bytesIn(folder, inner));
    else found[inner] = readFileSync(join(folder, inner), 'latin1');
  }
  return found;
}

export class Killed extends Error {}

/** The process is gone after so many changes of the disk; `changes` counts them. */
export function mortalLayer(after: number): {
  readonly layer: FileLayer;
  readonly changes: () => number;
  readonly steps: string[];
} {
  let changes = 0;
  const steps: string[] = [];
  const alive = <T>(step: string, change: () => Promise<T>): Promise<T> => {
    if (changes >= after) return Promise.reject(new Killed());
    changes++;
    steps.push(step);
    return change();
  };
  const layer: FileLayer = {
    ...NODE_FILES,
    async open(path, flags) {
      const file =
        flags === 'r'
          ? await NODE_FILES.open(path, flags)
          : await alive(`open ${path}`, () => NODE_FILES.open(path, flags));
      return {
        writeFile: (content) => alive(`write ${path}`, () => file.writeFile(content)),
        sync: () => file.sync(),
        close: () => file.close(),
      };
    },
    link: (from, to) => alive(`link ${to}`, () => NODE_FILES.link(from, to)),
    rename: (from, to) => alive(`rename ${to}`, () => NODE_FILES.rename(from, to)),
    unlink: (path) => alive(`unlink ${path}`, () => NODE_FILES.unlink(path)),
    mkdir: (path) => alive(`mkdir ${path}`, () => NODE_FILES.mkdir(path)),
    rmdir: (path) => alive(`rmdir ${path}`, () => NODE_FILES.rmdir(path)),
  };
  return { layer, changes: () => changes, steps };
}
