// A pack is published by its manifest: of several packers that want a number, one gets it.

import { StoreError } from '../../domain/errors.ts';
import { factsOf } from '../disk/facts.ts';
import type { FileLayer } from '../disk/file-layer.ts';
import { writeOnce } from '../disk/write-once.ts';
import { join } from '../place.ts';
import { encodeRecord } from '../record/text.ts';
import { manifestFile, type PackRecord, PACKS, readManifest } from './manifest.ts';
import { remove } from './remove.ts';

/** False: another pack has that number. */
export async function publish(folder: string, manifest: PackRecord, layer: FileLayer): Promise<boolean> {
  const path = join(folder, manifestFile(manifest.number));
  const { text } = await encodeRecord('pack', null, manifest);
  // Another packer may have made the same one: of a pack whose manifest was lost.
  if (!(await writeOnce(path, text, layer)))
    return (await readManifest(folder, manifest.number))?.pack === manifest.pack;
  const zip = join(folder, PACKS, manifest.pack);
  if (await factsOf(zip)) return true;
  // A packer that slept for an hour: its zip was a leftover to another one, which found all of it elsewhere.
  await remove(path, layer);
  throw new StoreError(`${zip} was removed by another packer before its manifest was there`, {
    reason: 'record-broken',
    fix: 'Nothing is lost: call it again.',
  });
}
