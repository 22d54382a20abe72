// Loose files of a run's packed rollouts again, pack by pack from the last one. Each step may be killed, and is repeated by
// the next call: the files are written (a rollout's first record last: until it is there, readers read the pack), then
// the manifest is removed, then the pack.

import { StoreError } from '../../domain/errors.ts';
import { logName } from '../../domain/turn-log.ts';
import { inBucket } from '../bucket/files.ts';
import { recordError } from '../disk/errors.ts';
import { type FileLayer, NODE_FILES } from '../disk/file-layer.ts';
import { readText, writeOnce } from '../disk/write-once.ts';
import { join } from '../place.ts';
import { ANSWERS, parseRolloutFile, ROLLOUT_FILE, rolloutFolder } from '../record/layout.ts';
import { namesIn, removeOldTemporaries } from '../record/listing.ts';
import { linesByName } from './lines.ts';
import { manifestFile, PACKS, parsePackedId, type PackRecord, readManifest } from './manifest.ts';
import { openPackFile } from './pack-file.ts';
import { removeOrphans } from './orphans.ts';
import { entryName, numbersOf, openPacks } from './packs.ts';
import { remove, versions } from './remove.ts';

/** Returns the numbers of packs and rollouts. A damaged pack is a StoreError, and stays as it is. */
export async function unpackRun(
  folder: string,
  layer: FileLayer = NODE_FILES,
): Promise<{ readonly packs: number; readonly rollouts: number }> {
  const done = { packs: 0, rollouts: 0 };
  for (const number of numbersOf(await namesIn(join(folder, PACKS))).toReversed()) {
    const manifest = await readManifest(folder, number);
    if (!manifest) continue;
    await unpackOne(folder, manifest, layer);
    await remove(join(folder, manifestFile(number)), layer);
    await remove(join(folder, PACKS, manifest.pack), layer).catch(() => {});
    done.packs++;
    done.rollouts += manifest.rollouts.length;
  }
  for (const version of await versions(folder)) await removeOldTemporaries(join(folder, ANSWERS, version));
  // Of an earlier call that was killed after it had removed the manifest.
  const packs = openPacks(folder);
  await packs.refresh();
  const [only] = await removeOrphans(folder, packs, layer, () => {}, 0);
  if (only !== undefined) throw only;
  if (!inBucket(folder)) await layer.rmdir(join(folder, PACKS)).catch(() => {});
  return done;
}

/** No other name of an entry is ever a path. */
const LOG = /^answers\/(?:0|[1-9]\d*)\/([^/\\]+)\.(?:txt|jsonl)$/;

async function unpackOne(folder: string, manifest: PackRecord, layer: FileLayer): Promise<void> {
  const file = openPackFile(join(folder, PACKS, manifest.pack));
  try {
    const left = new Set((await file.entries()).keys());
    const rollouts = manifest.rollouts.map((text) => parsePackedId(text)!);
    for (const id of rollouts) {
      await removeOldTemporaries(join(folder, rolloutFolder(id)));
      const name = entryName(id);
      const text = await file.text(name);
      left.delete(name);
      if (text === undefined) throw recordError(file.path, `holds no ${name}`);
      const lines = [...linesByName(text, id)];
      for (const [one, line] of lines) {
        const opened = line.open();
        const problem = 'problem' in opened ? opened.problem : undefined;
        if (problem === undefined && parseRolloutFile(one).kind !== 'foreign') continue;
        throw recordError(`${file.path}: ${name}`, `holds ${one}, which ${problem ?? 'is no file of ours'}`);
      }
      const put = ([one, { text: line }]: (typeof lines)[number]) =>
        writeSame(join(folder, rolloutFolder(id), one), line, layer);
      await Promise.all(lines.filter(([one]) => one !== ROLLOUT_FILE).map(put));
    }
    const logs = new Set(rollouts.map(logName));
    const foreign = [...left].find((name) => !logs.has(LOG.exec(name)?.[1] ?? ''));
    if (foreign !== undefined)
      throw recordError(file.path, `holds ${JSON.stringify(foreign)}, which is of none of its rollouts`);
    for (const name of left) await writeSame(join(folder, name), (await file.text(name))!, layer);
    for (const id of rollouts) {
      const first = linesByName((await file.text(entryName(id)))!, id).get(ROLLOUT_FILE);
      if (first) await writeSame(join(folder, rolloutFolder(id), ROLLOUT_FILE), first.text, layer);
    }
  } finally {
    file.close();
  }
}

async function writeSame(path: string, text: string, layer: FileLayer): Promise<void> {
  if (await writeOnce(path, text, layer)) return;
  if ((await readText(path, layer)) === text) return;
  throw new StoreError(`${path} is there already, and is not what its pack holds`, {
    reason: 'record-broken',
    fix: 'Run `everturn check`; once that file is moved away, unpack again.',
  });
}
