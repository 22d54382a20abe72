// The rows of one run in memory: ended rollouts from the indexes beside their lines, those in flight from their files. A
// refresh takes what ended since, and looks at what is in flight again. Reads only.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { explain } from '../domain/errors/errors.ts';
import { parseRolloutFolder, ROLLOUTS } from '../records/format/layout.ts';
import type { Owner } from '../records/format/text.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import { rowOf } from '../records/ended/row.ts';
import { nothingSeen } from '../records/ended/ended.ts';
import type { RolloutFiles, SeenLines, Store } from '../records/store.ts';
import { type Doing, compareRows, type Row, rowKey } from './model/row.ts';
import type { Progress, RowPlace } from './model/messages.ts';
import { pauses } from './in-batches.ts';
import { changedAt, filesIn, realFoldersIn, readPlain } from './plain-files.ts';
import { END_FILE, parseRolloutFile, ROLLOUT_FILE } from '../records/format/rollout-file.ts';

/** As long as a page may wait for its first rows. */
const SOON_MS = 150;

export class RunIndex {
  readonly #store: Store;
  readonly #rows = new Map<string, Row>();
  /** Rows in data set order; undefined when a row is new since. */
  #sorted: readonly Row[] | undefined;
  readonly #seen: SeenLines = nothingSeen();
  /** The rollout that is in each folder. */
  readonly #owners = new Map<string, Owner>();
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

  /** Files first: a rollout that ends meanwhile has its line before its files go, and the line counts. */
  async #look(): Promise<void> {
    const pause = pauses();
    for (const folder of this.#inFlight()) {
      if (this.#closed) return;
      this.#read(folder);
      await pause();
    }
    for await (const row of this.#store.listEnded(this.#seen)) {
      if (this.#closed) return;
      // Beside its place in the segment the index has what a row is.
      this.#put(row);
      await pause();
    }
  }

  *#inFlight(): Generator<string> {
    const root = join(this.#store.folder, ROLLOUTS);
    for (const shard of realFoldersIn(root).filter((name) => /^[0-9a-f]{2}$/.test(name)))
      for (const query of realFoldersIn(join(root, shard)))
        for (const rollout of realFoldersIn(join(root, shard, query))) yield join(root, shard, query, rollout);
  }

  #read(folder: string): void {
    const owner = this.#owners.get(folder) ?? ownerIn(folder);
    if (!owner) return;
    this.#owners.set(folder, owner);
    const before = this.row(owner);
    // One that is a line by now may have some files left. A flaw is looked for again each time.
    const isSound = before !== undefined && before.flaw === undefined;
    if (isSound && before.state !== 'open') return;
    const doing = doingOf(folder);
    // The turns of an open rollout are read again only when it has gone on.
    const stays = isSound && doing !== null && doing.turn === before.doing?.turn && doing.what === before.doing.what;
    const row = stays ? before : rowOf(plainFiles(folder), owner);
    // Its first file goes first when it ends: what was read counts while that is there.
    if (row && changedAt(join(folder, ROLLOUT_FILE)) !== undefined)
      this.#put(row.state === 'open' && doing ? { ...row, doing } : row);
  }

  #put(row: Row): void {
    const key = rowKey(row);
    const before = this.#rows.get(key);
    if ((before?.state === 'open' || before?.flaw !== undefined) && JSON.stringify(before) === JSON.stringify(row))
      return;
    this.#rows.set(key, row);
    this.#sorted = undefined;
    this.#revision++;
  }
}

function plainFiles(folder: string): RolloutFiles {
  return {
    text: (file) => readPlain(join(folder, file)),
    names: () => filesIn(folder),
  };
}

/** Undefined if its first record is not there yet, or is torn: `check` names it. */
function ownerIn(folder: string): Owner | undefined {
  const place = parseRolloutFolder(folder.slice(folder.lastIndexOf('/') + 1));
  const text = place && readPlain(join(folder, ROLLOUT_FILE));
  try {
    return text === undefined ? undefined : { query: (JSON.parse(text) as RolloutRecord).query.queryId, ...place! };
  } catch {
    return undefined;
  }
}

/** The step that an open rollout waits for; null if it has an end. */
function doingOf(folder: string): Doing | null {
  const names = filesIn(folder);
  if (names.includes(END_FILE)) return null;
  const files = names.map((name) => ({ name, ...parseRolloutFile(name) }));
  const last = (kind: 'turn' | 'verdict') =>
    Math.max(0, ...files.flatMap((file) => (file.kind === kind ? file.turn : [])));
  const [turns, judged] = [last('turn'), last('verdict')];
  const chunks = files.filter((file) => file.kind === 'chunk' && file.turn === turns + 1).length;
  const since = Math.max(0, ...files.map(({ name }) => changedAt(join(folder, name)) ?? 0));
  return { turn: turns > judged ? turns : turns + 1, what: turns > judged ? 'judge' : 'answer', chunks, since };
}
