// The rows of one run in memory, with those that are open and those whose turns are not read, so that a look at them
// costs nothing for the others. A row is in the list from the next publication on.

import { inOrder, type Row, rowKey } from './model/row.ts';

export class RowTable {
  readonly #rows = new Map<string, Row>();
  readonly #open = new Map<string, Row>();
  readonly #unread = new Map<string, Row>();
  #listed: readonly Row[] | undefined;
  #dirty = true;
  #revision = 0;

  get size(): number {
    return this.#rows.size;
  }

  /** Rows whose turns were read. */
  get read(): number {
    return this.#rows.size - this.#unread.size;
  }

  /** Grows with every publication of something new. */
  get revision(): number {
    return this.#revision;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  put(row: Row): void {
    const key = rowKey(row);
    const before = this.#rows.get(key);
    if (before?.state === 'open' && JSON.stringify(before) === JSON.stringify(row)) return;
    this.#dirty = true;
    this.#rows.set(key, row);
    if (row.state === 'open') this.#open.set(key, row);
    else this.#open.delete(key);
    if (row.turns === null) this.#unread.set(key, row);
    else this.#unread.delete(key);
  }

  /** All rows as last published, in data set order. */
  listed(): readonly Row[] {
    return (this.#listed ??= [...this.#rows.values()].sort(inOrder));
  }

  open(): readonly Row[] {
    return [...this.#open.values()];
  }

  /** The first `count` of those whose turns are not read. */
  unread(count: number): readonly Row[] {
    const first: Row[] = [];
    for (const row of this.#unread.values()) {
      if (first.length >= count) break;
      first.push(row);
    }
    return first;
  }

  publish(): void {
    if (!this.#dirty) return;
    this.#dirty = false;
    this.#listed = undefined;
    this.#revision++;
  }

  /** The next publication is new, whatever was put. */
  touch(): void {
    this.#dirty = true;
  }
}
