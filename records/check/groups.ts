// Rows with the same key, found among very many: a few megabytes of them wait in memory, more of them in a file that has no name
// and goes with its process. Memory: those megabytes, then a part of all rows at a time.

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileError } from '../disk/errors.ts';

export interface Groups {
  /** The key is a hash. Neither it nor a field of the row holds a tab or a line break. */
  add(key: string, row: readonly string[]): void;
  /** The rows of each key that has several, in the order they came. Once, at the end. */
  several(): Generator<readonly (readonly string[])[]>;
}

const PARTS = 64;
const MEMORY_CHARS = 4 * 1024 * 1024;

/** `memoryChars`: rows that wait in memory. */
export function openGroups(memoryChars = MEMORY_CHARS): Groups {
  const path = join(tmpdir(), `everturn-check-${randomBytes(8).toString('hex')}`);
  const waiting: string[][] = Array.from({ length: PARTS }, () => []);
  /** Of each part: places in the file. */
  const written: { readonly at: number; readonly bytes: number }[][] = Array.from({ length: PARTS }, () => []);
  let chars = 0;
  let end = 0;
  let file: number | undefined;

  function write(): void {
    if (file === undefined) {
      file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
    }
    for (const [part, lines] of waiting.entries()) {
      const bytes = Buffer.from(lines.splice(0).join(''));
      for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from, bytes.length - from, end + from);
      written[part]!.push({ at: end, bytes: bytes.length });
      end += bytes.length;
    }
    chars = 0;
  }

  function* linesOf(part: number): Generator<string> {
    for (const { at, bytes } of written[part]!) {
      const block = Buffer.alloc(bytes);
      readSync(file!, block, 0, bytes, at);
      yield* block.toString().split('\n').slice(0, -1);
    }
    for (const line of waiting[part]!) yield line.slice(0, -1);
  }

  function guarded<T>(action: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw fileError(action, path, error);
    }
  }

  return {
    add(key, row) {
      const line = `${key}\t${row.join('\t')}\n`;
      waiting[partOf(key)]!.push(line);
      chars += line.length;
      if (chars > memoryChars) guarded('write', write);
    },
    *several() {
      for (let part = 0; part < PARTS; part++) {
        const groups = guarded('read', () => grouped(linesOf(part)));
        for (const rows of groups.values()) if (rows.length > 1) yield rows.map((row) => row.split('\t'));
      }
      if (file !== undefined) closeSync(file);
    },
  };
}

function grouped(lines: Iterable<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const [key, row] = [line.slice(0, tab), line.slice(tab + 1)];
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

const partOf = (key: string): number => (key.charCodeAt(1) * 31 + key.charCodeAt(2)) % PARTS;
