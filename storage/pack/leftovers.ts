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
import { type Lost, lostIn, unnamedIn } from './unnamed.ts';

/** A packer that is alive publishes its pack within this time. */
export const LEFT_MS = 60 * 60 * 1000;

export interface NamedAgain {
  readonly made: readonly PackRecord[];
  /** Packs that get none. */
  readonly refused: readonly Harm[];
}

/** Makes the manifests of packs that hold what is nowhere else. `packs` must have been refreshed, and be sound. */
export async function nameAgain(folder: string, packs: Packs, layer: FileLayer): Promise<NamedAgain> {
  const refused: Harm[] = [];
  const proved: ProvedPack[] = [];
  for (const lost of await lostIn(folder, packs)) {
    const found = lost.rollouts ? await provedPack(folder, packs, lost.name) : lost;
    if ('problem' in found) refused.push(found);
    else proved.push(found);
  }
  const made: PackRecord[] = [];
  // All are compared before one is chosen.
  const others = proved.map((one) => contradictionAmong(one, proved));
  for (const [i, one] of proved.entries()) {
    const other = others[i];
    const manifest = other ? undefined : await nameOne(folder, packs, one, layer);
    if (other) refused.push(other);
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

/** Those that hold nothing of their own, and what is wrong with each. `packs` must have been refreshed. */
export async function* leftovers(
  folder: string,
  packs: Packs,
  lost: readonly Pick<Lost, 'name'>[],
): AsyncGenerator<{ readonly name: string; read(): Promise<ProvedPack | Harm> }> {
  for (const name of await unnamedIn(folder, packs))
    if (!lost.some((one) => one.name === name)) yield { name, read: () => provedPack(folder, packs, name) };
}

/** Removes those that are as old; returns those that stay because the run has another record in their place. */
export async function removeLeftovers(
  folder: string,
  packs: Packs,
  layer: FileLayer,
  olderThanMs: number,
): Promise<Harm[]> {
  const root = join(folder, PACKS);
  await removeOldTemporaries(root);
  const stay: Harm[] = [];
  for await (const { name, read } of leftovers(folder, packs, await lostIn(folder, packs))) {
    const path = join(root, name);
    if (olderThanMs > 0 && !(await isOlderThan(path, olderThanMs, root, layer))) continue;
    const found = await read();
    await packs.refresh();
    if ('problem' in found) stay.push(found);
    else if (found.elsewhere.length === found.ids.length && !packs.isNamed(name))
      await remove(path, layer).catch(() => {});
  }
  return stay;
}
