// Loose files of a run's packed rollouts again, pack by pack from the last one. Each step may be killed, and is repeated by
// the next call: a pack without its manifest gets it again, the files are written (a rollout's first record last: until it
// is there, readers read the pack), then the manifest is removed, then the pack.

import { inBucket } from '../bucket/files.ts';
import { recordError } from '../disk/errors.ts';
import { type FileLayer, NODE_FILES } from '../disk/file-layer.ts';
import { join } from '../place.ts';
import { ANSWERS } from '../record/layout.ts';
import { namesIn, removeOldTemporaries } from '../record/listing.ts';
import { harmError } from './harm.ts';
import { nameAgain, removeLeftovers } from './leftovers.ts';
import { manifestFile, PACKS, parsePackedId, type PackRecord, readManifest } from './manifest.ts';
import { openPackFile } from './pack-file.ts';
import { numbersOf, openPacks } from './packs.ts';
import { remove, versions } from './remove.ts';
import { restore, strangeEntry } from './restore.ts';

/** Returns the numbers of packs and rollouts. A damaged pack is a StoreError, and stays as it is. */
export async function unpackRun(
  folder: string,
  layer: FileLayer = NODE_FILES,
): Promise<{ readonly packs: number; readonly rollouts: number }> {
  const done = { packs: 0, rollouts: 0 };
  const packs = openPacks(folder);
  await packs.refresh();
  packs.mustBeSound();
  const { refused } = await nameAgain(folder, packs, layer);
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
  await packs.refresh();
  const [harm] = [...refused, ...(await removeLeftovers(folder, packs, layer, 0))];
  if (harm) throw harmError(folder, harm);
  if (!inBucket(folder)) await layer.rmdir(join(folder, PACKS)).catch(() => {});
  return done;
}

async function unpackOne(folder: string, manifest: PackRecord, layer: FileLayer): Promise<void> {
  const file = openPackFile(join(folder, PACKS, manifest.pack));
  try {
    const rollouts = manifest.rollouts.map((text) => parsePackedId(text)!);
    const strange = strangeEntry((await file.entries()).keys(), rollouts);
    if (strange !== undefined)
      throw recordError(file.path, `holds ${JSON.stringify(strange)}, which is of none of its rollouts`);
    await restore(folder, file, rollouts, layer);
  } finally {
    file.close();
  }
}
