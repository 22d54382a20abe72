// The files of experts in a run's folder, `experts/<2 hex>/<sha256>-<bytes>.gz`: each is written once, before the record that names
// it. A killed worker leaves at most one that no record names.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { StoreError } from '../../domain/errors/errors.ts';
import { expertsFile, type ExpertsSlice } from '../../domain/rollout/experts.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { mapAhead } from '../map-ahead.ts';
import { join, type Place } from '../place.ts';
import { entriesOf, factsOf, namesIn, streamOf } from '../places/files.ts';
import type { Store } from '../store.ts';

const [compress, inflate] = [promisify(gzip), promisify(gunzip)];
/** The numbers are small, in four bytes each: the fastest level leaves a fifth. */
const LEVEL = 1;

export function openExperts(folder: string, disk: Pick<Place, 'writeOnce'>): Pick<Store, 'putExperts' | 'readExperts'> {
  return {
    async putExperts(data) {
      const of = { sha256: createHash('sha256').update(data).digest('hex'), bytes: data.length };
      await disk.writeOnce(join(folder, expertsFile(of)), await compress(data, { level: LEVEL }));
      return of;
    },
    readExperts: (of) => readExperts(folder, of),
  };
}

type Named = Pick<ExpertsSlice, 'sha256' | 'bytes'>;

async function readExperts(folder: string, of: Named): Promise<Buffer | undefined> {
  const path = join(folder, expertsFile(of));
  if ((await factsOf(path)) === undefined) return undefined;
  const parts: Buffer[] = [];
  for await (const part of streamOf(path)) parts.push(part);
  const data = await inflate(Buffer.concat(parts), { maxOutputLength: Math.max(1, of.bytes) }).catch(() => null);
  if (data?.length === of.bytes && createHash('sha256').update(data).digest('hex') === of.sha256) return data;
  throw new StoreError(`${path} is not the file of its name: its content is another, or is torn`, {
    reason: 'record-broken',
    fix: 'Copy it again from where the run was played: nothing else has these bytes.',
  });
}

/** For a record that is carried to another run. */
export async function copyExperts(source: Store, target: Store, { experts = [] }: TurnRecord): Promise<void> {
  for (const slice of experts) {
    const data = await source.readExperts(slice);
    // That of the source says so.
    if (data) await target.putExperts(data);
  }
}

export interface ExpertsSize {
  readonly files: number;
  /** Without their compression. */
  readonly bytes: number;
}

/** By the names of the files alone. */
export async function sizeOfExperts(runFolder: string): Promise<ExpertsSize> {
  const root = join(runFolder, 'experts');
  const { folders } = await entriesOf(root);
  let [files, bytes] = [0, 0];
  for await (const names of mapAhead(folders, 16, (name) => namesIn(join(root, name)))) {
    for (const name of names) {
      const size = /^[0-9a-f]{64}-(\d+)\.gz$/.exec(name)?.[1];
      if (size === undefined) continue;
      files++;
      bytes += Number(size);
    }
  }
  return { files, bytes };
}
