// The rows of one run in memory, read from its folder: first the ends of all rollouts in data set order, then the facts
// of their turns, the asked-for ones first. While the run is open, a refresh finds what is new by the times of folders, and
// what ended since in the indexes of lines. Reads only.

import { join } from 'node:path';
import { explain } from '../domain/errors/errors.ts';
import { firstWords } from '../domain/text/foreign-text.ts';
import { safeName } from '../domain/run/ids.ts';
import { type Query, questionOf } from '../domain/run/query.ts';
import { parseRolloutFolder, queryFolder, ROLLOUTS } from '../records/record/layout.ts';
import type { SeenLines, Store } from '../records/store.ts';
import { doingOf, factsOf, NOT_ENDED, plainFiles } from './glance.ts';
import { retried, type Row } from './model/row.ts';
import type { Progress, RowPlace } from './model/messages.ts';
import { endedRow, listedRow, type Named, TITLE_CHARS } from './ended-rows.ts';
import { changedAt, foldersIn } from './plain-files.ts';
import { plainRow } from './row-bytes.ts';
import { QueryNames } from './query-names.ts';
import { RowTable } from './row-table.ts';
import { inBatches, pauses } from './in-batches.ts';

interface KnownQuery {
  readonly index: number | null;
  readonly id: string;
  readonly title: string;
  /** Of its folder, when it was listed. */
  changed: number;
}

const PAGE = 512;
/** As many as are in sight: they wait for no others. */
const FIRST = 64;
const CHECKED_PER_REFRESH = 4_000;
/** Ended rollouts are shown as they are read, so often. */
const SHOW_MS = 150;

export class RunIndex {
  readonly #store: Store;
  readonly #perQuery: number;
  readonly #rows = new RowTable();
  /** Queries that have begun, by the name of their folder; those that may get more rollouts. */
  readonly #queries = new Map<string, KnownQuery>();
  readonly #growing = new Set<string>();
  #names: QueryNames | undefined;
  readonly #shards = new Map<string, number>();
  readonly #endedSeen: SeenLines = new Map();
  #listed = false;
  #closed = false;
  #problem: string | undefined;
  /** By `performance.now()`. */
  begunAt = 0;
  #shownAt = 0;
  readonly #pause = pauses();
  #scan: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #firstRead = (): void => {};
  readonly #first = new Promise<void>((resolve) => (this.#firstRead = resolve));

  /** `perQuery`: rollouts of each query, over all epochs. */
  constructor(store: Store, perQuery: number) {
    this.#store = store;
    this.#perQuery = perQuery;
  }

  /** All rows so far, in data set order; `plainRow` is a copy of one. */
  rows(): readonly Row[] {
    return this.#rows.listed();
  }

  row(place: RowPlace): Row | undefined {
    return this.#rows.get(place);
  }

  get progress(): Progress {
    return {
      revision: this.#rows.revision,
      listed: this.#listed,
      glanced: this.#rows.read,
      begun: this.#rows.size,
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  /** Begins to read, once. The promise is of the list, without the facts of turns. */
  start(): Promise<void> {
    this.begunAt ||= performance.now();
    return (this.#scan ??= this.#list()
      .catch((error: unknown) => void (this.#problem = explain(error)))
      .then(() => {
        this.#listed = true;
        this.#rows.touch();
        this.#rows.publish();
        this.#firstRead();
        void this.#glanceAll();
      }));
  }

  /** The first rows, as many as are in sight, or the list if that is shorter. */
  first(): Promise<void> {
    return this.#first;
  }

  close(): void {
    this.#closed = true;
  }

  /** Finds what is new since the last look; nothing before the first list is complete. */
  refresh(): Promise<void> {
    if (!this.#listed) return Promise.resolve();
    return (this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined)));
  }

  /** Looks at the turns of these rows now. */
  async glance(rows: readonly Row[]): Promise<void> {
    const wanted = rows.filter(({ turns }) => turns === null);
    if (wanted.length === 0) return;
    await this.#glances(wanted);
    this.#rows.publish();
  }

  async #list(): Promise<void> {
    const begun = new Set<string>();
    const total = await this.#store.countQueries().catch(() => 0);
    const names = (this.#names = new QueryNames(this.#store, total));
    for (let from = 0, size = FIRST; from < total && !this.#closed; from += size, size = PAGE) {
      const page = await this.#store.readQueries(from, size);
      await inBatches(page.entries(), ([i, query]) => {
        const name = safeName(query.queryId);
        names.set(name, from + i);
        // The first rows do not wait for the names of all the others.
        if (from === 0 || begun.delete(name)) this.#visit(name, known(query, from + i));
      });
      this.#rows.publish();
      if (from === 0) for (const name of await this.#listShards()) begun.add(name);
      // Those in sight have their turns at once.
      for (const [i, query] of from === 0 ? page.entries() : []) {
        for (const id of await this.#store.listRolloutsOf(query.queryId, { partly: true })) {
          const row = this.#rows.has(id) ? undefined : await endedRow(this.#store, id, known(query, i));
          if (row) this.#put(row);
        }
      }
      this.#rows.publish();
      this.#firstRead();
    }
    await this.#listEnded();
    if (total === 0) for (const name of await this.#listShards()) begun.add(name);
    await this.#meet([...begun]);
  }

  /** Rollouts that ended since the last look. */
  async #listEnded(): Promise<void> {
    for await (const entry of this.#store.listEnded(this.#endedSeen)) {
      if (this.#closed) return;
      const before = this.#rows.get(entry);
      if (before && before.state !== 'open') continue;
      const found = before ? undefined : await this.#names?.ofDataset(safeName(entry.query));
      const named: Named | undefined = before ?? (found && known(found.query, found.index));
      const row = listedRow(entry, named) ?? (await endedRow(this.#store, entry, named));
      if (row) this.#put(row);
      await this.#pause();
      if (performance.now() < this.#shownAt + SHOW_MS) continue;
      this.#shownAt = performance.now();
      this.#rows.publish();
    }
  }

  /** Names of the queries that are in shards which changed. */
  async #listShards(): Promise<Set<string>> {
    const root = join(this.#store.folder, ROLLOUTS);
    const found = new Set<string>();
    const shards = foldersIn(root).filter((name) => /^[0-9a-f]{2}$/.test(name));
    await inBatches(shards, (shard) => {
      const changed = changedAt(join(root, shard));
      if (changed === undefined || this.#shards.get(shard) === changed) return;
      this.#shards.set(shard, changed);
      for (const name of foldersIn(join(root, shard))) if (!this.#queries.has(name)) found.add(name);
    });
    return found;
  }

  /** Queries that have begun since. */
  async #meet(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const found = await this.#names?.find(name);
      if (found) this.#visit(name, known(found.query, found.index));
      // It has begun, and its first record is not there yet.
      else this.#shards.clear();
    }
  }

  /** Reads the rollouts of a query that are not read yet. */
  #visit(name: string, query: KnownQuery): void {
    const folder = join(this.#store.folder, queryFolder(query.id));
    const changed = changedAt(folder);
    if (changed === undefined) return;
    query.changed = changed;
    this.#queries.set(name, query);
    const samples = new Set<number>();
    for (const child of foldersIn(folder)) {
      const place = parseRolloutFolder(child);
      if (!place) continue;
      samples.add(place.sample);
      const id = { query: query.id, ...place };
      if (!this.#rows.has(id)) this.#read(query, id, join(folder, child));
    }
    if (samples.size < this.#perQuery || this.#mayBeRetried(query.id, samples)) this.#growing.add(name);
    else this.#growing.delete(name);
  }

  /** A person may have a failed or undecided rollout played again. */
  #mayBeRetried(query: string, samples: ReadonlySet<number>): boolean {
    return [...samples].some((sample) => {
      let [last, attempt]: [Row | undefined, number] = [undefined, 1];
      for (let row; (row = this.#rows.get({ query, sample, attempt })); attempt++) last = row;
      return last !== undefined && retried(last);
    });
  }

  #read(query: KnownQuery, id: RowPlace, folder: string): void {
    const { sample, attempt } = id;
    const base = { index: query.index, title: query.title, query: id.query, sample, attempt };
    const before = this.#rows.get(id);
    // The turns of an open rollout are read again only when it has gone on.
    const now = before?.doing && doingOf(folder);
    if (now && before.doing.turn === now.turn && before.doing.what === now.what)
      return this.#put({ ...before, doing: now });
    const facts = factsOf(plainFiles(folder), base, 'ends') ?? NOT_ENDED;
    const doing = facts.state === 'open' ? doingOf(folder) : null;
    this.#put({ ...base, ...facts, ...(doing && { doing }) });
  }

  #put(row: Row): void {
    this.#rows.put(row);
    if (retried(row) && this.#queries.has(safeName(row.query))) this.#growing.add(safeName(row.query));
  }

  /** False if its files are not there: it is a line. */
  #glance(row: Row): boolean {
    const now = this.#rows.get(row);
    if (!now || now.turns !== null) return true;
    const folder = join(this.#store.folder, queryFolder(row.query), `${row.sample}.${row.attempt}`);
    const facts = factsOf(plainFiles(folder), now, 'turns');
    if (facts) this.#put({ ...now, ...facts });
    return facts !== undefined;
  }

  async #glances(rows: readonly Row[]): Promise<void> {
    const missed: Row[] = [];
    await inBatches(rows, (row) => void (this.#glance(row) || missed.push(row)));
    for (const row of missed) {
      const { query, sample, attempt, state } = row;
      const found = await endedRow(this.#store, { query, sample, attempt }, row);
      this.#put(found ?? { ...plainRow(row), ...NOT_ENDED, state });
    }
  }

  /** In the background, few at once: requests come first. */
  async #glanceAll(): Promise<void> {
    const waiting = this.rows().filter(({ turns }) => turns === null);
    for (let from = 0; from < waiting.length && !this.#closed; from += PAGE) {
      await this.#glances(waiting.slice(from, from + PAGE)).catch(() => {});
      this.#rows.publish();
    }
  }

  async #refresh(): Promise<void> {
    await this.#listEnded();
    await inBatches(this.#rows.open(), (row) => {
      const query = this.#queries.get(safeName(row.query));
      const folder = join(this.#store.folder, queryFolder(row.query), `${row.sample}.${row.attempt}`);
      if (query) this.#read(query, row, folder);
    });
    await this.#meet([...(await this.#listShards())]);
    // Those that were checked go to the end of the line.
    const growing = [...this.#growing].slice(0, CHECKED_PER_REFRESH);
    await inBatches(growing, (name) => {
      const query = this.#queries.get(name)!;
      const changed = changedAt(join(this.#store.folder, queryFolder(query.id)));
      this.#growing.delete(name);
      this.#growing.add(name);
      if (changed !== query.changed) this.#visit(name, query);
    });
    this.#rows.publish();
    await this.glance(this.#rows.unread(PAGE));
  }
}

function known(query: Query, index: number | null): KnownQuery {
  return { index, id: query.queryId, title: firstWords(questionOf(query), TITLE_CHARS), changed: 0 };
}
