// Published packs of which nothing can be read: their zip is missing, cut or no zip. Found before their rollouts, each of
// which would say so again.

import { StoreError } from '../../domain/errors.ts';
import { factsOf } from '../disk/facts.ts';
import { join } from '../place.ts';
import { namesIn } from '../record/listing.ts';
import { type Harm, otherSize, unreadable } from './harm.ts';
import { PACKS, type PackRecord, readManifest } from './manifest.ts';
import { entriesOf } from './pack-file.ts';
import { numbersOf } from './packs.ts';

export interface UnreadPack extends Harm {
  readonly manifest: PackRecord;
}

/** `sizes`: reads only directories of zips of another size. A manifest that cannot be read is left to others. */
export async function* unreadPacks(folder: string, look: 'all' | 'sizes'): AsyncGenerator<UnreadPack> {
  for (const number of numbersOf(await namesIn(join(folder, PACKS)))) {
    const manifest = await readable(folder, number);
    const harm = manifest && (await harmOf(folder, manifest, look));
    // Unpacked in the meantime?
    if (harm && (await readable(folder, number))?.pack === manifest.pack) yield { manifest, ...harm };
  }
}

async function harmOf(folder: string, { pack, bytes, rollouts }: PackRecord, look: 'all' | 'sizes') {
  const path = join(folder, PACKS, pack);
  const size = look === 'sizes' ? (await factsOf(path))?.bytes : undefined;
  if (size === bytes) return undefined;
  const entries = await entriesOf(path);
  if (entries instanceof StoreError) return unreadable(folder, pack, entries, rollouts.length);
  return size === undefined ? undefined : otherSize(pack, size, bytes);
}

async function readable(folder: string, number: number): Promise<PackRecord | undefined> {
  return readManifest(folder, number).catch((error: unknown) => {
    if (error instanceof StoreError && !error.retryable) return undefined;
    throw error;
  });
}
