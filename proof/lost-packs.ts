// Packs of which nothing can be read: their zip is missing, cut or no zip, or no manifest says what it holds. Found before the
// rollouts, each of which would say so again: a check reports such a pack once, with the number of its rollouts, and
// proves the others.

import { StoreError } from '../domain/errors.ts';
import { factsOf } from '../storage/disk/facts.ts';
import { isZipName, PACKS, type PackRecord, parsePackedId, readManifest } from '../storage/pack/manifest.ts';
import { openPackFile } from '../storage/pack/pack-file.ts';
import { numbersOf, openPacks } from '../storage/pack/packs.ts';
import { join } from '../storage/place.ts';
import { ROLLOUT_FILE, rolloutFolder, ROLLOUTS } from '../storage/record/layout.ts';
import { namesIn } from '../storage/record/listing.ts';
import type { OnBreach } from '../storage/store.ts';

export interface LostPacks {
  /** Of their manifests. */
  readonly numbers: ReadonlySet<number>;
  /** Folders of the rollouts that cannot be read, as `rolloutFolder` names them. */
  readonly rollouts: ReadonlySet<string>;
}

/** Reports each. A manifest that cannot be read is left to the check of the packs. */
export async function lostPacks(folder: string, onBreach: OnBreach): Promise<LostPacks> {
  const numbers = new Set<number>();
  const rollouts = new Set<string>();
  const names = await namesIn(join(folder, PACKS));
  const named = new Set<string>();
  for (const number of numbersOf(names)) {
    const manifest = await readable(folder, number);
    if (!manifest) continue;
    named.add(manifest.pack);
    const error = await entriesOf(folder, manifest.pack);
    // Unpacked in the meantime?
    if (Array.isArray(error) || (await readable(folder, number))?.pack !== manifest.pack) continue;
    const path = `${PACKS}/${manifest.pack}`;
    const what = error.message.replace(`${join(folder, path)} `, '').replace(/\.$/, '');
    onBreach({ path, problem: `${what}: ${its(manifest.rollouts.length)} cannot be read. ${error.fix ?? ''}`.trim() });
    numbers.add(number);
    for (const id of manifest.rollouts) rollouts.add(rolloutFolder(parsePackedId(id)!));
  }
  for (const name of names.filter((one) => isZipName(one) && !named.has(one))) {
    const only = await nowhereElse(folder, name);
    if (only.length === 0) continue;
    const problem = `is named by no manifest: ${its(only.length)}, nowhere else, cannot be read. ${MANIFEST}`;
    onBreach({ path: `${PACKS}/${name}`, problem });
    for (const rollout of only) rollouts.add(rollout);
  }
  return { numbers, rollouts };
}

const MANIFEST = 'Take its manifest, the .json of the same number, from a copy of the run.';
const its = (n: number): string => (n === 1 ? 'its 1 rollout' : `its ${n.toLocaleString('en-US')} rollouts`);

async function readable(folder: string, number: number): Promise<PackRecord | undefined> {
  return readManifest(folder, number).catch((error: unknown) => {
    if (error instanceof StoreError && !error.retryable) return undefined;
    throw error;
  });
}

/** The names in a pack; or why it cannot be read. */
async function entriesOf(folder: string, pack: string): Promise<string[] | StoreError> {
  const file = openPackFile(join(folder, PACKS, pack));
  try {
    return [...(await file.entries()).keys()];
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return error;
    throw error;
  } finally {
    file.close();
  }
}

/** Rollouts of a pack without a manifest that are neither loose nor in another pack: not those of a packer that was killed. */
async function nowhereElse(folder: string, pack: string): Promise<string[]> {
  const entries = await entriesOf(folder, pack);
  if (!Array.isArray(entries)) return [];
  const packs = openPacks(folder);
  await packs.refresh();
  const only: string[] = [];
  for (const entry of entries) {
    const rollout = entry.replace(/\.jsonl$/, '');
    if (!entry.startsWith(`${ROLLOUTS}/`) || packs.isPackedFolder(rollout)) continue;
    if (!(await factsOf(join(folder, rollout, ROLLOUT_FILE)))) only.push(rollout);
  }
  return only;
}
