// The objects of one bucket as files: whole reads, parts, listings, and writes of which only the first of a key succeeds.
// A write whose answer was lost counts as this call's if the object holds its content. Before its first request a process
// lists the bucket, which only an S3 server answers: any web server answers a read. Before its first write the bucket is
// proved to refuse a second writer.

import { randomBytes } from 'node:crypto';
import type { BucketPlace } from '../../domain/run/bucket-place.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { type BucketAnswer, type Send, sha256Of, type Upload, uploadOf } from './request.ts';
import { notBucket, unsafeBucket } from './problems.ts';
import { type Precondition, PRECONDITIONS } from './settings.ts';
import { type ListedObject, type ListPage, parseError, parseListing } from './xml.ts';

export interface ObjectFacts {
  readonly bytes: number;
  /** By the server's clock. */
  readonly modifiedMs: number;
  readonly etag: string;
}

export interface Bucket {
  read(key: string): Promise<Buffer | undefined>;
  /** Fewer bytes only at the object's end. */
  readAt(key: string, offset: number, bytes: number): Promise<Buffer | undefined>;
  facts(key: string): Promise<ObjectFacts | undefined>;
  /** True if this call wrote it. Durable on return. */
  writeOnce(key: string, upload: Upload): Promise<boolean>;
  replace(key: string, upload: Upload): Promise<void>;
  remove(key: string): Promise<void>;
  /** The objects and, with a `delimiter`, the folders below a prefix, page by page in the order of their names. */
  list(prefix: string, delimiter?: '/'): AsyncGenerator<Pick<ListPage, 'objects' | 'prefixes'>>;
}

export type { ListedObject };

const MISSING = [404];
const PRECONDITION_FAILED = 412;
/** The answer of a server that knows no conditional writes, to a header for example. */
const NOT_IMPLEMENTED = 501;

export function openBucket(bucket: string, send: Send, precondition: Precondition): Bucket {
  const at = (key: string): BucketPlace => ({ bucket, key });
  const missing = (answer: BucketAnswer) => answer.status === 404;
  const presence = openPresence(bucket, send);
  let proved: Promise<void> | undefined;

  async function read(key: string, headers?: Readonly<Record<string, string>>): Promise<Buffer | undefined> {
    await presence.mustBeThere();
    const answer = await send({
      action: 'read',
      method: 'GET',
      place: at(key),
      ...(headers ? { headers } : {}),
      expected: [...MISSING, 416],
    });
    if (answer.status === 416) return Buffer.alloc(0);
    if (!missing(answer)) return answer.body;
    // Some servers answer 404 for an unknown bucket or owner of the key.
    if (parseError(answer.body.toString()).code !== 'NoSuchKey') presence.doubt();
    await presence.mustBeThere();
    return undefined;
  }

  const putNew = (key: string, upload: Upload) => putIfNew(send, at(key), upload, precondition);
  const prove = (key: string): Promise<void> => {
    proved ??= presence
      .mustBeThere()
      .then(() => proveConditionalWrites(at(key), { putNew, read, remove }))
      .catch((error: unknown) => {
        proved = undefined;
        throw error;
      });
    return proved;
  };

  async function remove(key: string): Promise<void> {
    await send({ action: 'remove', method: 'DELETE', place: at(key), expected: MISSING });
  }

  return {
    read: (key) => read(key),
    async readAt(key, offset, bytes) {
      if (bytes === 0) return Buffer.alloc(0);
      const found = await read(key, { range: `bytes=${offset}-${offset + bytes - 1}` });
      // A server may ignore a range.
      return found && found.length > bytes ? found.subarray(offset, offset + bytes) : found;
    },
    async facts(key) {
      await presence.mustBeThere();
      const answer = await send({ action: 'read', method: 'HEAD', place: at(key), expected: [301, 400, 403, 404] });
      if (answer.status >= 300) {
        if (!missing(answer)) presence.doubt();
        await presence.mustBeThere();
        // The keys may list objects, but not read them.
        if (!missing(answer)) await read(key, { range: 'bytes=0-0' });
        return undefined;
      }
      const { 'content-length': length, 'last-modified': modified, etag = '' } = answer.headers;
      return { bytes: Number(length ?? 0), modifiedMs: Date.parse(modified ?? '') || 0, etag };
    },
    async writeOnce(key, upload) {
      await prove(key);
      const { status, unsure } = await putNew(key, upload);
      if (status !== PRECONDITION_FAILED) return true;
      if (!unsure) return false;
      const there = await read(key);
      return there !== undefined && sha256Of(there) === upload.sha256;
    },
    async replace(key, upload) {
      await presence.mustBeThere();
      await put(send, at(key), upload);
    },
    remove,
    list: (prefix, delimiter) => listPages(bucket, send, prefix, delimiter),
  };
}

/** A missing bucket is not a missing object, and the answer to a HEAD does not say which of them it is, or why. */
function openPresence(bucket: string, send: Send) {
  let reached = false;
  let asked: Promise<void> | undefined;
  return {
    /** The next call asks again. */
    doubt(): void {
      reached = false;
    },
    async mustBeThere(): Promise<void> {
      if (reached) return;
      asked ??= send({ action: 'read', method: 'GET', place: { bucket, key: '' }, query: LIST_ONE })
        .then((answer) => pageIn(answer, bucket))
        .then(() => void (reached = true))
        .finally(() => (asked = undefined));
      await asked;
    },
  };
}

const LIST_ONE = { 'list-type': '2', 'max-keys': '1' };

async function* listPages(bucket: string, send: Send, prefix: string, delimiter?: '/'): AsyncGenerator<ListPage> {
  for (let token: string | undefined; ;) {
    const query = {
      'list-type': '2',
      prefix,
      ...(delimiter ? { delimiter } : {}),
      ...(token ? { 'continuation-token': token } : {}),
    };
    const answer = await send({ action: 'list', method: 'GET', place: { bucket, key: '' }, query });
    const page = pageIn(answer, bucket);
    yield page;
    if (page.next === undefined) return;
    token = page.next;
  }
}

function pageIn({ status, headers, body }: BucketAnswer, bucket: string): ListPage {
  const page = parseListing(body.toString());
  if (!page) throw notBucket({ bucket, key: '' }, status, headers['content-type']);
  return page;
}

const put = (send: Send, place: BucketPlace, upload: Upload, headers: Readonly<Record<string, string>> = {}) =>
  send({
    action: 'write',
    method: 'PUT',
    place,
    upload,
    headers,
    expected: [PRECONDITION_FAILED, ...(Object.keys(headers).length > 0 ? [NOT_IMPLEMENTED] : [])],
  });

/** Writes on condition that nothing is there. */
async function putIfNew(
  send: Send,
  place: BucketPlace,
  upload: Upload,
  precondition: Precondition,
): Promise<BucketAnswer> {
  const answer = await put(send, place, upload, PRECONDITIONS[precondition]);
  if (answer.status !== NOT_IMPLEMENTED) return answer;
  const { code, message } = parseError(answer.body.toString());
  const words = oneLine(`${code}${message ? `: ${message}` : ''}`.trim()).slice(0, 200);
  const fault = `it does not take a write on condition that nothing is there (501${words ? ` ${words}` : ''})`;
  const folder = { ...place, key: place.key.slice(0, Math.max(0, place.key.lastIndexOf('/'))) };
  throw unsafeBucket(folder, answer.headers['server'], fault);
}

interface ProbeCalls {
  putNew(key: string, upload: Upload): Promise<BucketAnswer>;
  read(key: string): Promise<Buffer | undefined>;
  remove(key: string): Promise<void>;
}

const WRITERS = 16;
const RACES = 3;

/** `place`: of the object that is about to be written; the probe's are beside it, under names that no reader opens. */
async function proveConditionalWrites(place: BucketPlace, { putNew, read, remove }: ProbeCalls): Promise<void> {
  const folder = place.key.includes('/') ? place.key.slice(0, place.key.lastIndexOf('/') + 1) : '';
  const key = `${folder}.probe-${randomBytes(8).toString('hex')}`;
  const one = `${key}-1`;
  const raced = Array.from({ length: RACES }, (_, i) => `${key}-${i + 2}`);
  let server: string | undefined;
  const write = async (to: string, content: string) => {
    const { status, unsure, headers } = await putNew(to, uploadOf(content));
    server = headers['server'] ?? server;
    return { won: status !== 412, unsure };
  };
  const unsafe = (found: string) => unsafeBucket({ ...place, key: folder.slice(0, -1) }, server, found);
  try {
    const first = await write(one, 'first');
    const second = await write(one, 'second');
    const there = (await read(one))?.toString();
    if (second.won || there !== 'first') {
      if (!first.won && !first.unsure) throw unsafe('it refuses the first write of a new name');
      throw unsafe(
        'it takes a second write of one name, and If-None-Match: * (or what EVERTURN_BUCKET_PRECONDITION says) is ignored',
      );
    }
    const names = Array.from({ length: WRITERS }, (_, i) => `writer ${i}`);
    for (const to of raced) {
      await Promise.all(names.map(() => read(to)));
      const all = await Promise.all(names.map((name) => write(to, name)));
      const winner = (await read(to))?.toString();
      const winners = names.filter((name, i) => all[i]!.won || (all[i]!.unsure && name === winner));
      if (winners.length !== 1 || winners[0] !== winner)
        throw unsafe(`of ${WRITERS} writers of one name at once ${winners.length} were told that they were the first`);
    }
  } finally {
    // Keys that may not delete leave small objects that no reader opens.
    await Promise.allSettled([one, ...raced].map(remove));
  }
}
