// Files and folders of a bucket by their paths (`s3://bucket/key`), for the functions of disk/ and record/, which serve
// both kinds of places. A folder is the common beginning of its objects' keys: it needs no making and no removing.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBucketPlace, parseBucketPlace } from '../../domain/run/bucket-place.ts';
import { StoreError } from '../../domain/errors/errors.ts';
import { type Bucket, type ObjectFacts, openBucket } from './bucket.ts';
import { openSender, type Upload, uploadOf } from './request.ts';
import { bucketSettings } from './settings.ts';

export type BucketContent = string | Uint8Array | ((file: FileHandle) => Promise<void>);

export interface BucketEntry extends ObjectFacts {
  readonly name: string;
}

export interface BucketFiles {
  text(): Promise<string | undefined>;
  readAt(offset: number, bytes: number): Promise<Buffer | undefined>;
  facts(): Promise<ObjectFacts | undefined>;
  writeOnce(content: BucketContent): Promise<boolean>;
  replace(content: BucketContent): Promise<void>;
  remove(): Promise<void>;
  /** Directly in it. */
  entries(): Promise<{ readonly files: readonly BucketEntry[]; readonly folders: readonly string[] }>;
  /** Everything below it: names are paths from here. */
  all(): AsyncGenerator<BucketEntry>;
  now(): Promise<number>;
}

/** The file or folder of a path in a bucket; undefined for a path on a disk. */
export function inBucket(path: string): BucketFiles | undefined {
  if (!isBucketPlace(path)) return undefined;
  const place = parseBucketPlace(path);
  if (!place)
    throw new StoreError(`${JSON.stringify(path.slice(0, 300))} is no place in a bucket`, { reason: 'no-such-folder' });
  const { key } = place;
  const bucket = () => bucketNamed(place.bucket);
  const prefix = key === '' ? '' : `${key}/`;
  const entryOf = ({ key: whole, ...facts }: ObjectFacts & { readonly key: string }): BucketEntry => ({
    name: whole.slice(prefix.length),
    ...facts,
  });
  return {
    text: async () => (await bucket().read(key))?.toString('utf8'),
    readAt: async (offset, bytes) => bucket().readAt(key, offset, bytes),
    facts: async () => bucket().facts(key),
    writeOnce: async (content) => withUpload(content, (upload) => bucket().writeOnce(key, upload)),
    replace: async (content) => withUpload(content, (upload) => bucket().replace(key, upload)),
    remove: async () => bucket().remove(key),
    async entries() {
      const files: BucketEntry[] = [];
      const folders: string[] = [];
      for await (const page of bucket().list(prefix, '/')) {
        // Some tools create an empty object with the folder's name.
        files.push(...page.objects.filter((object) => object.key !== prefix).map(entryOf));
        folders.push(...page.prefixes.map((one) => one.slice(prefix.length, -1)));
      }
      return { files, folders };
    },
    async *all() {
      for await (const { objects } of bucket().list(prefix)) for (const object of objects) yield entryOf(object);
    },
    now: async () => bucket().now(key),
  };
}

/** By settings and name: one agent and one proof of conditional writes for each. */
const buckets = new Map<string, Bucket>();

function bucketNamed(name: string): Bucket {
  const settings = bucketSettings(process.env);
  const id = JSON.stringify([name, settings]);
  const known = buckets.get(id);
  if (known) return known;
  const made = openBucket(name, openSender(settings), settings.precondition);
  buckets.set(id, made);
  return made;
}

/** An object is sent whole: content that is filled step by step is first a file of this machine. */
async function withUpload<T>(content: BucketContent, send: (upload: Upload) => Promise<T>): Promise<T> {
  if (typeof content !== 'function') return send(uploadOf(content));
  const folder = await mkdtemp(join(tmpdir(), 'everturn-upload-'));
  try {
    const path = join(folder, 'content');
    const file = await open(path, 'wx');
    try {
      await content(file);
    } finally {
      await file.close();
    }
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
    const { size } = await stat(path);
    return await send({ bytes: size, sha256: hash.digest('hex'), open: () => createReadStream(path) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
