// Packs that no manifest names: of packers that were killed, or lost their number to another, and of a run whose manifest was
// moved away. One is removed only if each of its rollouts is elsewhere, loose or in a published pack; any other stays.

import { isOlderThan } from '../disk/clock.ts';
import { factsOf } from '../disk/facts.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { join } from '../place.ts';
import { END_FILE, ROLLOUT_FILE, ROLLOUTS } from '../record/layout.ts';
import { namesIn, removeOldTemporaries } from '../record/listing.ts';
import { isZipName, PACKS, readManifest } from './manifest.ts';
import { openPackFile } from './pack-file.ts';
import { numbersOf, type Packs } from './packs.ts';
import { remove, type Report } from './remove.ts';

/** A packer that is alive publishes its pack within this time. */
export const ORPHAN_MS = 60 * 60 * 1000;
const ONLY = 'is named by no manifest, and holds rollouts that are nowhere else: it stays';

/** `packs` must have been refreshed. Returns those that stay. */
export async function removeOrphans(
  folder: string,
  packs: Packs,
  layer: FileLayer,
  report: Report,
  olderThanMs: number,
): Promise<string[]> {
  const root = join(folder, PACKS);
  await removeOldTemporaries(root);
  const left: string[] = [];
  for (const name of await orphansIn(folder)) {
    const path = join(root, name);
    if (olderThanMs > 0 && !(await isOlderThan(path, olderThanMs, root, layer))) continue;
    if (await isElsewhere(folder, path, packs)) await remove(path, layer).catch(() => {});
    else {
      report(`${PACKS}/${name}`, ONLY);
      left.push(path);
    }
  }
  return left;
}

/** False as well of one that cannot be read. */
async function isElsewhere(folder: string, path: string, packs: Packs): Promise<boolean> {
  const file = openPackFile(path);
  try {
    for (const name of (await file.entries()).keys()) {
      if (!name.startsWith(`${ROLLOUTS}/`)) continue;
      const rollout = name.replace(/\.jsonl$/, '');
      if (packs.isPackedFolder(rollout)) continue;
      for (const record of [ROLLOUT_FILE, END_FILE]) if (!(await factsOf(join(folder, rollout, record)))) return false;
    }
    return true;
  } catch {
    return false;
  } finally {
    file.close();
  }
}

async function orphansIn(folder: string): Promise<string[]> {
  const names = await namesIn(join(folder, PACKS));
  const named = new Set<string>();
  for (const number of numbersOf(names)) named.add((await readManifest(folder, number))?.pack ?? '');
  return names.filter((name) => isZipName(name) && !named.has(name));
}
