// `packs/<number>.json`: the record that publishes a pack, numbered from 1 without gaps. Two packers that choose at once
// want the same number, of which only one gets it: so no rollout is in two packs. From its manifest on a pack is what
// readers read.

import { recordError } from '../disk/errors.ts';
import { readText } from '../disk/write-once.ts';
import { join } from '../place.ts';
import { decodeRecord } from '../record/text.ts';

export const PACKS = 'packs';
/** Rollouts and bytes of records of one pack, unless a single rollout is larger. */
export const PACK_ROLLOUTS = 2000;
export const PACK_BYTES = 256 * 1024 * 1024;

export interface PackRecord {
  readonly number: number;
  /** The name of the zip, beside this file. */
  readonly pack: string;
  readonly bytes: number;
  /** SHA-256 of the zip. */
  readonly zipSha256: string;
  /** `<sample>.<attempt> <query>`, in the order of the zip. */
  readonly rollouts: readonly string[];
}

export const manifestFile = (number: number): string => `${PACKS}/${String(number).padStart(6, '0')}.json`;

/** The number of a manifest's name; undefined for any other name. */
export function parseManifestName(name: string): number | undefined {
  const number = Number(/^(\d{6,9})\.json$/.exec(name)?.[1] ?? 0);
  return number >= 1 && manifestFile(number) === `${PACKS}/${name}` ? number : undefined;
}

const ZIP = /^\d{6,9}-[0-9a-f]{12}\.zip$/;
export const isZipName = (name: string): boolean => ZIP.test(name);
export const zipName = (number: number, unique: string): string => `${String(number).padStart(6, '0')}-${unique}.zip`;

export interface PackedId {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

export const packedId = ({ query, sample, attempt }: PackedId): string => `${sample}.${attempt} ${query}`;

export function parsePackedId(text: unknown): PackedId | undefined {
  const found = typeof text === 'string' ? /^(0|[1-9]\d{0,8})\.([1-9]\d{0,8}) ([^]*)$/.exec(text) : null;
  return found ? { sample: Number(found[1]), attempt: Number(found[2]), query: found[3]! } : undefined;
}

/** Throws a StoreError that names what is wrong with it; undefined where it is gone. */
export async function readManifest(folder: string, number: number): Promise<PackRecord | undefined> {
  const path = join(folder, manifestFile(number));
  const text = await readText(path);
  if (text === undefined) return undefined;
  const decoded = decodeRecord('pack', null, text);
  if ('problem' in decoded) throw recordError(path, decoded.problem);
  const record = decoded.record as PackRecord;
  const sound =
    record.number === number &&
    typeof record.pack === 'string' &&
    isZipName(record.pack) &&
    Number.isSafeInteger(record.bytes) &&
    typeof record.zipSha256 === 'string' &&
    Array.isArray(record.rollouts) &&
    record.rollouts.every((id) => parsePackedId(id) !== undefined);
  if (!sound) throw recordError(path, 'is not the manifest of a pack of this number');
  return record;
}
