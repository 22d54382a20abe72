// Single calls on a file: what it is, a part of it, its content as a stream, and its removal. Errors name the file.

import { open, stat, unlink } from 'node:fs/promises';
import { READ, regularSize, streamRegular } from '../../local/machine/regular-file.ts';
import type { FileFacts } from '../place.ts';
import { codeOf, fileError } from './errors.ts';

/** Undefined where there is none. */
export async function factsOf(path: string): Promise<FileFacts | undefined> {
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

/** The content in parts; a missing file is Node's ENOENT. */
export async function* streamOf(path: string): AsyncGenerator<Buffer> {
  yield* streamRegular(path, 1 << 20) as AsyncIterable<Buffer>;
}

/** Does nothing for a file that is gone. */
export async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw fileError('remove', path, error);
  });
}

/** Each line with its LF, if present. */
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
