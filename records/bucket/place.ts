// A bucket as a place. A folder is the common beginning of its objects' keys: it needs no making and no removing. A write is one
// request, so an object appears whole, and nothing is left of a killed writer. Nothing appends to an object.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseBucketPlace } from '../../domain/run/bucket-place.ts';
import { StoreError } from '../../domain/errors/errors.ts';
import { fileError, recordError } from '../disk/errors.ts';
import { isHarmless } from '../format/layout.ts';
import type { Content, FileFacts, Fill, FolderEntries, FolderTexts, Place, WalkOptions } from '../place.ts';
import { type Bucket, openBucket } from './bucket.ts';
import { openSender, type Upload, uploadOf } from './request.ts';
import { bucketSettings } from './settings.ts';

const AT_ONCE = 24;
const PART_BYTES = 8 * 1024 * 1024;

export function openBucketPlace(): Place {
  const seen = openSeen(async (path) => (await facts(path))?.identity);
  return {
    atOnce: AT_ONCE,
    ...{ read, part, stream, facts, list, texts, walk, writeOnce, replace, settle, remove, removeAll },
    identity: seen.identity,
    async isThere(path) {
      seen.forget(path);
      return (await seen.identity(path)) !== undefined;
    },
    async writeBeside(base, path, content) {
      // The look before saves a write in vain, and may be of a moment ago; the one after is what counts.
      if ((await seen.identity(base)) === undefined) return 'alone';
      const created = await writeOnce(path, content);
      if ((await facts(base)) !== undefined) return created ? 'created' : 'exists';
      if (created) await remove(path).catch(() => {});
      seen.forget(base);
      return 'alone';
    },
    // Each write is a request: a log appears at its rollout's end.
    async draft() {},
    append: async (_, path, { line }) => void (await writeOnce(path, line)),
    async removeLeftovers() {},
    // An object appears whole, so this is a copy that was cut; no request moves it without a moment in which two may.
    async moveAside(path) {
      throw recordError(path, 'is torn: its end is missing');
    },
  };
}

async function read(path: string): Promise<string | undefined> {
  const { bucket, key } = objectAt(path);
  return (await bucket.read(key))?.toString('utf8');
}

async function readAt(path: string, offset: number, bytes: number): Promise<Buffer> {
  const { bucket, key } = objectAt(path);
  const found = await bucket.readAt(key, offset, bytes);
  if (found) return found;
  throw Object.assign(new Error('no such object'), { code: 'ENOENT' });
}

const part = (path: string, offset: number, bytes: number): Promise<Buffer> =>
  readAt(path, offset, bytes).catch((error: unknown) => {
    throw fileError('read', path, error);
  });

async function* stream(path: string): AsyncGenerator<Buffer> {
  for (let offset = 0; ; offset += PART_BYTES) {
    const found = await readAt(path, offset, PART_BYTES);
    if (found.length > 0) yield found;
    if (found.length < PART_BYTES) return;
  }
}

async function writeOnce(path: string, content: Content | Fill): Promise<boolean> {
  const { bucket, key } = objectAt(path);
  return withUpload(content, (upload) => bucket.writeOnce(key, upload));
}

async function replace(path: string, content: Content | Fill): Promise<void> {
  const { bucket, key } = objectAt(path);
  await withUpload(content, (upload) => bucket.replace(key, upload));
}

async function settle(path: string, text: string): Promise<void> {
  // Nearly always the first: then no other state of it is overwritten.
  if ((await writeOnce(path, text)) || (await read(path))?.startsWith(text)) return;
  await replace(path, text);
}

async function remove(path: string): Promise<void> {
  const { bucket, key } = objectAt(path);
  await bucket.remove(key);
}

async function removeAll(folder: string, [first, ...others]: readonly string[]): Promise<void> {
  if (first !== undefined) await remove(`${folder}/${first}`);
  await Promise.all(others.map((name) => remove(`${folder}/${name}`)));
}

async function list(folder: string): Promise<FolderEntries> {
  const { bucket, prefix } = objectAt(folder);
  const [files, folders]: [string[], string[]] = [[], []];
  for await (const page of bucket.list(prefix, '/')) {
    // Some tools create an empty object with the folder's name.
    files.push(...page.objects.filter(({ key }) => key !== prefix).map(({ key }) => key.slice(prefix.length)));
    folders.push(...page.prefixes.map((one) => one.slice(prefix.length, -1)));
  }
  return { files, folders };
}

/** All at once: each is a request. */
async function texts(folder: string): Promise<FolderTexts> {
  const names = (await list(folder)).files.filter((name) => !isHarmless(name)).sort();
  const there = new Map(await Promise.all(names.map(async (name) => [name, await read(`${folder}/${name}`)] as const)));
  return { text: (file) => there.get(file), names: () => names.filter((name) => there.get(name) !== undefined) };
}

async function facts(path: string): Promise<FileFacts | undefined> {
  const { bucket, key } = objectAt(path);
  const found = await bucket.facts(key);
  if (!found) return undefined;
  const { bytes, modifiedMs, etag } = found;
  return { bytes, modifiedMs, identity: `${etag} ${bytes} ${modifiedMs}` };
}

/** All objects below, by their paths from here: a page of the listing names a thousand. */
export async function* objectsBelow(folder: string): AsyncGenerator<string> {
  const { bucket, prefix } = objectAt(folder);
  for await (const { objects } of bucket.list(prefix)) for (const { key } of objects) yield key.slice(prefix.length);
}

async function* walk(root: string, depth: number, { isOwn, onOther }: WalkOptions): AsyncGenerator<string> {
  let last = '';
  const others = new Set<string>();
  for await (const path of objectsBelow(root)) {
    const parts = path.split('/');
    if (parts.some(isHarmless)) continue;
    const other = !isOwn(parts[0]!) ? parts[0]! : parts.length > depth ? undefined : path;
    if (other !== undefined) {
      if (!others.has(other)) onOther(other);
      others.add(other);
      continue;
    }
    // Keys are in the order of their bytes: those of one folder follow each other.
    const found = parts.slice(0, depth).join('/');
    if (found !== last) yield found;
    last = found;
  }
}

function objectAt(path: string): { readonly bucket: Bucket; readonly key: string; readonly prefix: string } {
  const place = parseBucketPlace(path);
  if (!place)
    throw new StoreError(`${JSON.stringify(path.slice(0, 300))} is no place in a bucket`, { reason: 'no-such-folder' });
  const { key } = place;
  return { bucket: bucketNamed(place.bucket), key, prefix: key === '' ? '' : `${key}/` };
}

interface Seen {
  /** Undefined where there is none. */
  identity(path: string): Promise<string | undefined>;
  forget(path: string): void;
}

const SEEN_FOR_MS = 10_000;
const MOST = 10_000;

function openSeen(look: (path: string) => Promise<string | undefined>): Seen {
  const known = new Map<string, { readonly identity: string; readonly at: number }>();
  return {
    async identity(path) {
      const found = known.get(path);
      if (found && performance.now() - found.at < SEEN_FOR_MS) return found.identity;
      const identity = await look(path);
      if (known.size >= MOST) known.clear();
      if (identity === undefined) known.delete(path);
      else known.set(path, { identity, at: performance.now() });
      return identity;
    },
    forget: (path) => void known.delete(path),
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
async function withUpload<T>(content: Content | Fill, send: (upload: Upload) => Promise<T>): Promise<T> {
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
