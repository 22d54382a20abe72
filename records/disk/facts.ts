// Single calls on a file that may be on a disk or in a bucket: what it is, a part of it, its content as a stream, and its
// removal. Errors name the file.

import { open, stat, unlink } from 'node:fs/promises';
import { READ, regularSize, streamRegular } from '../../local/machine/regular-file.ts';
import { inBucket } from '../bucket/files.ts';
import { codeOf, fileError } from './errors.ts';

interface FileFacts {
  readonly bytes: number;
  /** By the clock that stamps the folder's files. */
  readonly modifiedMs: number;
  /** Changes when a file is removed and created again, or replaced. */
  readonly identity: string;
}

/** Undefined where there is none. */
export async function factsOf(path: string): Promise<FileFacts | undefined> {
  const there = inBucket(path);
  if (there) {
    const facts = await there.facts();
    return facts && { ...facts, identity: `${facts.etag} ${facts.bytes} ${facts.modifiedMs}` };
  }
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return {
      bytes: Number(size),
      modifiedMs: Number(mtimeNs / 1_000_000n),
      identity: `${dev} ${ino} ${size} ${mtimeNs}`,
    };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw fileError('read', path, error);
  }
}

/** Fewer bytes only at the file's end. */
export async function readPart(path: string, offset: number, bytes: number): Promise<Buffer> {
  const there = inBucket(path);
  if (there) {
    const found = await there.readAt(offset, bytes);
    if (found) return found;
    throw fileError('read', path, Object.assign(new Error('no such object'), { code: 'ENOENT' }));
  }
  try {
    const file = await open(path, READ);
    try {
      regularSize(path, await file.stat());
      const buffer = Buffer.alloc(bytes);
      let at = 0;
      while (at < bytes) {
        const { bytesRead } = await file.read(buffer, at, bytes - at, offset + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return buffer.subarray(0, at);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError('read', path, error);
  }
}

const PART_BYTES = 8 * 1024 * 1024;

/** The content in parts; a missing file is Node's ENOENT. */
export async function* streamOf(path: string): AsyncGenerator<Buffer> {
  const there = inBucket(path);
  if (!there) {
    yield* streamRegular(path, 1 << 20) as AsyncIterable<Buffer>;
    return;
  }
  for (let offset = 0; ; offset += PART_BYTES) {
    const part = await there.readAt(offset, PART_BYTES);
    if (!part) throw Object.assign(new Error('no such object'), { code: 'ENOENT' });
    if (part.length > 0) yield part;
    if (part.length < PART_BYTES) return;
  }
}

/** Does nothing for a file that is gone. */
export async function removeFile(path: string): Promise<void> {
  const there = inBucket(path);
  if (there) return there.remove();
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw fileError('remove', path, error);
  });
}

/** Each with its LF, if present. Only LF ends a line: a JSON text may hold U+2028. */
export const linesOf = (path: string): AsyncGenerator<string> => linesIn(streamOf(path));

export async function* linesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield `${line}\n`;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
