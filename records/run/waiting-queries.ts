// Accepted queries that wait for their run to have a name, in a temporary file that has no name itself: it goes with its process,
// however that ends. Memory: one block.

import { randomUUID } from 'node:crypto';
import { appendFileSync, closeSync, createReadStream, openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Query } from '../../domain/query/query.ts';
import { fileError } from '../disk/errors.ts';
import { linesIn } from '../disk/facts.ts';
import { openQueryHash, queryLine } from './queries.ts';

const BLOCK_CHARS = 1 << 20;

export function openWaitingQueries() {
  const path = join(tmpdir(), `everturn-rows-${randomUUID()}`);
  const file = openUnnamed(path);
  const hash = openQueryHash();
  let block = '';
  let isOpen = true;
  function flush(): void {
    try {
      appendFileSync(file, block);
    } catch (error) {
      throw fileError('write', path, error);
    }
    block = '';
  }
  return {
    get count() {
      return hash.count;
    },
    put(query: Query): void {
      hash.put(query);
      block += queryLine(query);
      if (block.length >= BLOCK_CHARS) flush();
    },
    /** No more follow. Returns their hash, as of queries.jsonl. */
    end(): string {
      flush();
      return hash.digest();
    },
    async *read(): AsyncGenerator<Query> {
      const stream = createReadStream(path, { fd: file, start: 0, autoClose: false });
      for await (const line of linesIn(stream)) yield JSON.parse(line) as Query;
    },
    close(): void {
      // The number of a closed file may be another's by now.
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

function openUnnamed(path: string): number {
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  } catch (error) {
    throw fileError('make', path, error);
  }
}
