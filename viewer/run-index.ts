// The rows of one run in memory: ended rollouts from the indexes beside their lines, those in flight from their files. A
// refresh takes what ended since, and looks at what is in flight again. Reads only.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain } from '../domain/errors/errors.ts';
import { nothingSeen } from '../records/ended/ended.ts';
import { completeBefore, mustHold } from '../records/run/present.ts';
import type { SeenRows, Store } from '../records/store.ts';
import { compareRows, type Row, rowKey } from './model/row.ts';
import type { Progress, RowPlace } from './model/messages.ts';
import { pauses } from './in-batches.ts';

/** As long as a page may wait for its first rows. */
const SOON_MS = 150;

export class RunIndex {
  readonly #store: Store;
  readonly #rows = new Map<string, Row>();
  /** Rows in data set order; undefined when a row is new since. */
  #sorted: readonly Row[] | undefined;
  readonly #seen: SeenRows = nothingSeen();
  #revision = 0;
  #listed = false;
  #closed = false;
  #problem: string | undefined;
  #looking: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** All rows so far, in data set order. */
  rows(): readonly Row[] {
    return (this.#sorted ??= [...this.#rows.values()].sort(compareRows));
  }

  row(place: RowPlace): Row | undefined {
    return this.#rows.get(rowKey(place));
  }

  get progress(): Progress {
    const problem = this.#problem;
    const reading = !this.#listed && { reading: true as const };
    return { revision: this.#revision, ...(problem !== undefined && { problem }), ...reading };
  }

  /** Whether the first look is over. */
  get listed(): boolean {
    return this.#listed;
  }

  close(): void {
    this.#closed = true;
  }

  /** Finds what is new since the last look. The first time that is everything. */
  refresh(): Promise<void> {
    return (this.#looking ??= this.#look()
      .then(
        () => (this.#problem = undefined),
        (error: unknown) => (this.#problem = explain(error)),
      )
      .then(() => {
        this.#listed = true;
        this.#looking = undefined;
      }));
  }

  /** The same, but for a moment of the first look, which takes seconds in a long run. */
  refreshSoon(): Promise<void> {
    const looked = this.refresh();
    return this.#listed ? looked : Promise.race([looked, sleep(SOON_MS, undefined, { ref: false })]);
  }

  async #look(): Promise<void> {
    const pause = pauses();
    const complete = await completeBefore(this.#store);
    for await (const row of this.#store.listRows({ seen: this.#seen, inFlight: true })) {
      if (this.#closed) return;
      this.#put(row);
      await pause();
    }
    let here = 0;
    for (const { attempt } of this.#rows.values()) if (attempt === 1) here++;
    mustHold(this.#store, complete, here);
  }

  #put(row: Row): void {
    this.#rows.set(rowKey(row), row);
    this.#sorted = undefined;
    this.#revision++;
  }
}
