// Queries by the names of their folders: those of the data set by four bytes each, and those that a client started
// directly by their first record.

import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { safeName, shardOf } from '../domain/ids.ts';
import type { Query } from '../domain/query.ts';
import type { RolloutRecord } from '../domain/trajectory.ts';
import { parseRolloutFolder, ROLLOUT_FILE, ROLLOUTS } from '../storage/record/layout.ts';
import type { Store } from '../storage/store.ts';
import { foldersIn, readTail } from './plain-files.ts';

export interface FoundQuery {
  readonly query: Query;
  /** Its place in the data set; null if it has none. */
  readonly index: number | null;
}

export class QueryNames {
  readonly #store: Store;
  readonly #hashes: Int32Array;

  constructor(store: Store, total: number) {
    this.#store = store;
    this.#hashes = new Int32Array(total);
  }

  set(name: string, index: number): void {
    this.#hashes[index] = crc32(name);
  }

  /** Undefined if its first record is not there yet. */
  async find(name: string): Promise<FoundQuery | undefined> {
    const hash = crc32(name) | 0;
    for (let index = this.#hashes.indexOf(hash); index >= 0; index = this.#hashes.indexOf(hash, index + 1)) {
      const [query] = await this.#store.readQueries(index, 1);
      if (query && safeName(query.queryId) === name) return { query, index };
    }
    const folder = join(this.#store.folder, ROLLOUTS, shardOf(name), name);
    for (const rollout of foldersIn(folder)) {
      if (!parseRolloutFolder(rollout)) continue;
      const text = readTail(join(folder, rollout, ROLLOUT_FILE));
      try {
        const query = text === undefined ? undefined : (JSON.parse(text) as RolloutRecord).query;
        if (query && safeName(query.queryId) === name) return { query, index: null };
      } catch {
        // Torn: `check` names it.
      }
    }
    return undefined;
  }
}
