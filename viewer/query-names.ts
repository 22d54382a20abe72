// Queries by the names of their folders: those of the data set by some bytes each, and those that a client started
// directly by their first record.

import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { safeName, shardOf } from '../domain/run/ids.ts';
import type { Query } from '../domain/run/query.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import { parseRolloutFolder, ROLLOUT_FILE, ROLLOUTS } from '../records/record/layout.ts';
import type { Store } from '../records/store.ts';
import { foldersIn, readTail } from './plain-files.ts';

export interface FoundQuery {
  readonly query: Query;
  /** Its place in the data set; null if it has none. */
  readonly index: number | null;
}

/** Rows of the data set that are read at once: rollouts end about in its order. */
const PAGE = 256;

export class QueryNames {
  readonly #store: Store;
  readonly #hashes: Int32Array;
  /** Places in the data set by the hash of their name, plus one; the next free slot where several have one. */
  readonly #slots: Int32Array;
  readonly #pages = new Map<number, readonly Query[]>();

  constructor(store: Store, total: number) {
    this.#store = store;
    this.#hashes = new Int32Array(total);
    this.#slots = new Int32Array(2 * total + 1);
  }

  set(name: string, index: number): void {
    const hash = crc32(name) | 0;
    this.#hashes[index] = hash;
    let slot = (hash >>> 0) % this.#slots.length;
    while (this.#slots[slot] !== 0) slot = (slot + 1) % this.#slots.length;
    this.#slots[slot] = index + 1;
  }

  /** Undefined if its first record is not there yet. */
  async find(name: string): Promise<FoundQuery | undefined> {
    const known = await this.ofDataset(name);
    if (known) return known;
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

  async ofDataset(name: string): Promise<(FoundQuery & { readonly index: number }) | undefined> {
    const hash = crc32(name) | 0;
    const { length } = this.#slots;
    for (let slot = (hash >>> 0) % length; this.#slots[slot] !== 0; slot = (slot + 1) % length) {
      const index = this.#slots[slot]! - 1;
      if (this.#hashes[index] !== hash) continue;
      const query = await this.#queryAt(index);
      if (query && safeName(query.queryId) === name) return { query, index };
    }
    return undefined;
  }

  async #queryAt(index: number): Promise<Query | undefined> {
    const from = index - (index % PAGE);
    const page = this.#pages.get(from) ?? (await this.#store.readQueries(from, PAGE));
    if (!this.#pages.has(from) && this.#pages.size >= 4) this.#pages.delete(this.#pages.keys().next().value!);
    this.#pages.set(from, page);
    return page[index - from];
  }
}
