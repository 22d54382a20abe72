// The rows of one run in memory: ended rollouts from the indexes beside their lines, those in flight from their files. A
// refresh takes what ended since, and looks at what is in flight again. Reads only.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain } from '../domain/errors/errors.ts';
import { plural } from '../domain/text/plural.ts';
import { nothingSeen } from '../records/ended/ended.ts';
import { rolloutFolder } from '../records/format/layout.ts';
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
  #seen: SeenRows = nothingSeen();
  #revision = 0;
  #listed = false;
  #closed = false;
  /** Readers that wait for a whole look. */
  #waiting = 0;
  #problem: string | undefined;
  #damaged: string | undefined;
  #looking: Promise<boolean> | undefined;

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
    const [problem, damaged] = [this.#problem, this.#damaged];
    const told = { ...(problem !== undefined && { problem }), ...(damaged !== undefined && { damaged }) };
    return { revision: this.#revision, ...told, ...(!this.#listed && { reading: true as const }) };
  }

  /** Whether the first look is over. */
  get listed(): boolean {
    return this.#listed;
  }

  /** Ends a look for which nobody waits. */
  close(): void {
    this.#closed = true;
  }

  /** Finds what is new since the last look. The first time that is everything, also of an index that was closed meanwhile. */
  async refresh(): Promise<void> {
    this.#waiting++;
    try {
      while (!(await this.#lookOnce()));
    } finally {
      this.#waiting--;
    }
  }

  /** The same, but for a moment of the first look, which takes seconds in a long run. */
  async refreshSoon(): Promise<void> {
    if (this.#listed) return this.refresh();
    await Promise.race([this.#lookOnce(), sleep(SOON_MS, undefined, { ref: false })]);
  }

  /** One look at a time; false: it was ended before its end. */
  #lookOnce(): Promise<boolean> {
    return (this.#looking ??= this.#look()
      .then(
        (isWhole) => {
          if (isWhole) this.#problem = undefined;
          return isWhole;
        },
        (error: unknown) => {
          this.#problem = explain(error);
          return true;
        },
      )
      .then((isOver) => {
        if (isOver) this.#listed = true;
        else this.#seen = nothingSeen();
        this.#looking = undefined;
        return isOver;
      }));
  }

  async #look(): Promise<boolean> {
    const pause = pauses();
    const complete = await completeBefore(this.#store);
    for await (const row of this.#store.listRows({ seen: this.#seen, inFlight: true })) {
      if (this.#closed && this.#waiting === 0) return false;
      this.#put(row);
      await pause();
    }
    let here = 0;
    for (const { attempt } of this.#rows.values()) if (attempt === 1) here++;
    mustHold(this.#store, complete, here);
    // A record that is being written may be half there.
    this.#damaged = complete > 0 ? damagedRows([...this.#rows.values()]) : undefined;
    return true;
  }

  #put(row: Row): void {
    this.#rows.set(rowKey(row), row);
    this.#sorted = undefined;
    this.#revision++;
  }
}

/** Undefined if each row could be read. */
function damagedRows(rows: readonly Row[]): string | undefined {
  const flawed = rows.filter(({ flaw }) => flaw !== undefined);
  const [first] = flawed;
  if (!first) return undefined;
  return `The numbers leave out ${plural(flawed.length, 'rollout')}: records are damaged, the first in ${rolloutFolder(first)}: ${first.flaw}`;
}
