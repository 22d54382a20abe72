// One open pack: its directory, read once, and its entries by name. The file is closed some seconds after its last use.

import { close, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { StoreError } from '../../domain/errors.ts';
import { inBucket } from '../bucket/files.ts';
import { codeOf, fileError, recordError } from '../disk/errors.ts';
import { factsOf, readPart } from '../disk/facts.ts';
import { readDirectory, readEntry, type ReadAt, type ZipDirectory } from './zip.ts';

const openFd = promisify(open);
const readFd = promisify(read);
const IDLE_MS = 5_000;
/** Read at once where one entry is asked for after the other. */
const AHEAD_BYTES = 1 << 20;

export interface PackFile {
  readonly path: string;
  /** Entries in the order of the file. */
  entries(): Promise<ZipDirectory>;
  /** Undefined if there is no such entry. A damaged one is a StoreError. */
  text(name: string): Promise<string | undefined>;
  close(): void;
}

export function openPackFile(path: string): PackFile {
  let fd: Promise<number> | undefined;
  let uses = 0;
  let idle: NodeJS.Timeout | undefined;
  let directory: Promise<ZipDirectory> | undefined;

  function closeNow(): void {
    clearTimeout(idle);
    const opened = fd;
    fd = undefined;
    ahead = undefined;
    opened?.then(
      (number) => close(number, () => {}),
      () => {},
    );
  }

  /** The last part that was read ahead, and the end of the last one asked for. */
  let ahead: { readonly offset: number; readonly bytes: number; readonly data: Promise<Buffer> } | undefined;
  let asked = 0;

  const readAt: ReadAt = async (offset, bytes) => {
    const inOrder = offset >= asked && offset - asked <= AHEAD_BYTES;
    asked = offset + bytes;
    const holds = () => ahead !== undefined && offset >= ahead.offset && offset + bytes <= ahead.offset + ahead.bytes;
    if (!holds()) {
      if (!inOrder || bytes >= AHEAD_BYTES) return readNow(offset, bytes);
      ahead = { offset, bytes: AHEAD_BYTES, data: readNow(offset, AHEAD_BYTES) };
    }
    const { offset: from, data } = ahead!;
    try {
      return (await data).subarray(offset - from, offset - from + bytes);
    } catch (error) {
      ahead = undefined;
      throw error;
    }
  };

  const readNow: ReadAt = async (offset, bytes) => {
    if (inBucket(path)) return readPart(path, offset, bytes);
    const buffer = Buffer.allocUnsafe(bytes);
    clearTimeout(idle);
    uses++;
    try {
      const number = await (fd ??= openFd(path, 'r'));
      let at = 0;
      while (at < bytes) {
        const { bytesRead } = await readFd(number, buffer, at, bytes - at, offset + at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return buffer.subarray(0, at);
    } catch (error) {
      fd = undefined;
      throw error;
    } finally {
      if (--uses === 0) idle = setTimeout(closeNow, IDLE_MS).unref();
    }
  };

  async function load(): Promise<ZipDirectory> {
    const facts = await factsOf(path);
    if (!facts) throw recordError(path, 'is missing');
    const entries = await readDirectory(facts.bytes, readAt);
    if ('problem' in entries) throw recordError(path, entries.problem);
    return entries;
  }

  const entries = (): Promise<ZipDirectory> => {
    directory ??= load().catch((error: unknown) => {
      directory = undefined;
      throw codeOf(error) === 'ENOENT' ? recordError(path, 'is missing') : fileError('read', path, error);
    });
    return directory;
  };

  return {
    path,
    entries,
    async text(name) {
      const entry = (await entries()).get(name);
      if (!entry) return undefined;
      const text = await readEntry(entry, readAt).catch((error: unknown) => {
        throw fileError('read', path, error);
      });
      if (typeof text !== 'string') throw recordError(`${path}: ${name}`, text.problem);
      return text;
    },
    close: closeNow,
  };
}

/** The names in a pack; or why it cannot be read. */
export async function entriesOf(path: string): Promise<readonly string[] | StoreError> {
  const file = openPackFile(path);
  try {
    return [...(await file.entries()).keys()];
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return error;
    throw error;
  } finally {
    file.close();
  }
}
