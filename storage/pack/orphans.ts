// Packs that no manifest names: of packers that were killed, or lost their number to another, and of a run whose manifest was
// moved away. One is removed only if each of its rollouts is elsewhere, loose or in a published pack; any other stays.

import type { StoreError } from '../../domain/errors.ts';
import { isOlderThan } from '../disk/clock.ts';
import { factsOf } from '../disk/facts.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { join } from '../place.ts';
import { END_FILE, ROLLOUT_FILE, ROLLOUTS } from '../record/layout.ts';
import { namesIn, removeOldTemporaries } from '../record/listing.ts';
import { PACKS, readManifest } from './manifest.ts';
import { openPackFile } from './pack-file.ts';
import { numbersOf, type Packs } from './packs.ts';
import { remove, type Report } from './remove.ts';
import { lostIn, unnamedIn } from './unnamed.ts';

/** A packer that is alive publishes its pack within this time. */
export const ORPHAN_MS = 60 * 60 * 1000;

/** `packs` must have been refreshed. Reports those that hold what is nowhere else, and returns their errors. */
export async function removeOrphans(
  folder: string,
  packs: Packs,
  layer: FileLayer,
  report: Report,
  olderThanMs: number,
): Promise<StoreError[]> {
  const root = join(folder, PACKS);
  await removeOldTemporaries(root);
  for (const name of await unnamedIn(folder)) {
    const path = join(root, name);
    if (olderThanMs > 0 && !(await isOlderThan(path, olderThanMs, root, layer))) continue;
    if (await isElsewhere(folder, path, packs)) await remove(path, layer).catch(() => {});
  }
  const lost = await lostIn(folder, packs, new Set());
  for (const { name, problem } of lost) report(`${PACKS}/${name}`, `${problem}: it stays`);
  return lost.map(({ error }) => error);
}

/** Published packs that are gone, or have another size: what only a check sees is left to it. */
export async function reportCut(folder: string, report: Report): Promise<void> {
  for (const number of numbersOf(await namesIn(join(folder, PACKS)))) {
    const manifest = await readManifest(folder, number);
    const path = manifest && `${PACKS}/${manifest.pack}`;
    const facts = path === undefined ? undefined : await factsOf(join(folder, path));
    if (path !== undefined && facts?.bytes !== manifest?.bytes)
      report(path, facts ? `is cut or changed: it has ${facts.bytes} bytes of ${manifest!.bytes}` : 'is missing');
  }
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
