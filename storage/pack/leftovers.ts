// Packs that no manifest names. One whose manifest is gone gets it again: it follows from the zip alone, byte for byte. One
// of a packer that was killed, or lost its number to another, is removed once the run has each of its records elsewhere,
// byte for byte. Any other stays and is reported. Several packers may do so at once.

import { isOlderThan } from '../disk/clock.ts';
import { factsOf } from '../disk/facts.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { join } from '../place.ts';
import { namesIn, removeOldTemporaries } from '../record/listing.ts';
import { sha256OfFile } from './checksum.ts';
import { contradicted, type Harm } from './harm.ts';
import { packedId, type PackRecord, PACKS } from './manifest.ts';
import { openPackFile } from './pack-file.ts';
import { numbersOf, type Packs } from './packs.ts';
import { type ProvedPack, provedPack } from './prove.ts';
import { publish } from './publish.ts';
import { remove } from './remove.ts';
import { restore } from './restore.ts';
import { lostIn, unnamedIn } from './unnamed.ts';

/** A packer that is alive publishes its pack within this time. */
export const LEFT_MS = 60 * 60 * 1000;

export interface Unnamed {
  /** Packs that hold what is nowhere else, and prove themselves. */
  readonly sound: readonly ProvedPack[];
  readonly refused: readonly Harm[];
}

/** Packs of which something is lost without a manifest. `packs` must have been refreshed, and be sound. */
export async function packsWithoutManifest(folder: string, packs: Packs): Promise<Unnamed> {
  const refused: Harm[] = [];
  const proved: ProvedPack[] = [];
  for (const lost of await lostIn(folder, packs)) {
    const found = lost.rollouts ? await provedPack(folder, packs, lost.name) : lost;
    if ('problem' in found) refused.push(found);
    else proved.push(found);
  }
  // All are compared before one is chosen.
  const sound: ProvedPack[] = [];
  for (const one of proved) {
    const other = contradictionAmong(one, proved);
    if (other) refused.push(other);
    else sound.push(one);
  }
  return { sound, refused };
}

/** Makes the manifests of such packs. Returns them, and why others get none. */
export async function nameAgain(
  folder: string,
  packs: Packs,
  layer: FileLayer,
): Promise<{ readonly made: readonly PackRecord[]; readonly refused: readonly Harm[] }> {
  const { sound, refused } = await packsWithoutManifest(folder, packs);
  const made: PackRecord[] = [];
  for (const one of sound) {
    const manifest = await nameOne(folder, packs, one, layer);
    if (manifest) made.push(manifest);
  }
  return { made, refused };
}

function contradictionAmong({ name, digests }: ProvedPack, all: readonly ProvedPack[]): Harm | undefined {
  for (const other of all) {
    for (const [rollout, digest] of digests) {
      if ((other.digests.get(rollout) ?? digest) !== digest)
        return contradicted(name, rollout, `which ${PACKS}/${other.name} holds with other bytes`);
    }
  }
  return undefined;
}

async function nameOne(
  folder: string,
  packs: Packs,
  { name, ids, elsewhere }: ProvedPack,
  layer: FileLayer,
): Promise<PackRecord | undefined> {
  const path = join(folder, PACKS, name);
  const { bytes = 0 } = (await factsOf(path)) ?? {};
  const about = { pack: name, bytes, zipSha256: await sha256OfFile(path), rollouts: ids.map(packedId) };
  for (;;) {
    const numbers = numbersOf(await namesIn(join(folder, PACKS)));
    await packs.refresh();
    packs.mustBeSound();
    if (packs.isNamed(name)) return undefined;
    if (ids.some((id) => packs.knows(id))) {
      // No rollout is in two packs.
      const only = ids.filter((id) => !packs.knows(id) && !elsewhere.includes(id));
      const file = openPackFile(path);
      await restore(folder, file, only, layer).finally(() => file.close());
      return undefined;
    }
    const manifest = { number: numberOf(name, numbers), ...about };
    if (!(await publish(folder, manifest, layer))) continue;
    await packs.refresh();
    return manifest;
  }
}

/** The number that it had, if that is free and leaves no gap. */
function numberOf(name: string, numbers: readonly number[]): number {
  const [own, last] = [parseInt(name, 10), numbers.at(-1) ?? 0];
  if (own >= 1 && own <= last + 1 && !numbers.includes(own)) return own;
  for (let number = 1; ; number++) if (!numbers.includes(number)) return number;
}

/**
 * Packs that hold nothing of their own; with what is wrong, or whether the run has all of it. `packs` must have been
 * refreshed.
 */
export async function* leftovers(
  folder: string,
  packs: Packs,
  isDue: (name: string) => Promise<boolean> = async () => true,
): AsyncGenerator<{ readonly name: string; readonly harm?: Harm; readonly isElsewhere: boolean }> {
  const lost = new Set((await lostIn(folder, packs)).map(({ name }) => name));
  for (const name of await unnamedIn(folder, packs)) {
    if (lost.has(name) || !(await isDue(name))) continue;
    const found = await provedPack(folder, packs, name);
    if ('problem' in found) yield { name, harm: found, isElsewhere: false };
    else yield { name, isElsewhere: found.elsewhere.length === found.ids.length };
  }
}

/** Removes those that are as old; returns why others stay. */
export async function removeLeftovers(
  folder: string,
  packs: Packs,
  layer: FileLayer,
  olderThanMs: number,
): Promise<Harm[]> {
  const root = join(folder, PACKS);
  await removeOldTemporaries(root);
  const isDue = async (name: string) => olderThanMs === 0 || isOlderThan(join(root, name), olderThanMs, root, layer);
  const stay: Harm[] = [];
  for await (const { name, harm, isElsewhere } of leftovers(folder, packs, isDue)) {
    if (harm) stay.push(harm);
    await packs.refresh();
    if (isElsewhere && !packs.isNamed(name)) await remove(join(root, name), layer).catch(() => {});
  }
  return stay;
}
