// All runs of one folder: their heads, from run.json and result.json alone, and the rows of those that are looked at.
// Only real folders with a run's name are runs; nothing else of the folder can be reached. Memory: the rows of the last
// few runs.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { explain, UsageError } from '../domain/errors/errors.ts';
import { samplesPerQuery } from '../domain/samples/group.ts';
import { evaluationsNamed } from '../domain/run/evaluation.ts';
import { isRunName } from '../domain/names/ids.ts';
import { titleOfDataset } from '../domain/run/hub-source.ts';
import type { CollectionResult } from '../domain/run/messages.ts';
import { countEnded } from '../domain/run/progress.ts';
import type { RunSize } from '../domain/rollout/rollout-summary.ts';
import { RUN_FILE } from '../records/format/layout.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { placeNamed } from '../run/place.ts';
import { openHeadNumbers } from './head-numbers.ts';
import { hasFailed, type HeadNumbers } from './model/summary.ts';
import type { RunHead } from './model/messages.ts';
import { realFoldersIn } from './plain-files.ts';
import { RunIndex } from './run-index.ts';
import { isOnDisk } from '../records/place.ts';

export interface OpenRun {
  readonly run: string;
  readonly store: Store;
  readonly record: RunRecord;
  /** Rollouts of the run, as far as the data set says. */
  readonly total: number;
  readonly shape: RunSize;
  readonly index: RunIndex;
}

type ListedRun = Omit<OpenRun, 'index'> & Partial<Pick<OpenRun, 'index'>>;

export interface Runs {
  /** Absolute. */
  readonly out: string;
  heads(): Promise<RunHead[]>;
  head(open: OpenRun): Promise<RunHead>;
  /** Whether the folder has a run of this name. */
  has(run: string): boolean;
  /** Throws a UsageError for a run that is not there. */
  open(run: string): Promise<OpenRun>;
  /** The same with an index of its own, which its caller closes. */
  read(run: string): Promise<OpenRun>;
  close(): void;
}

const MOST_OPEN = 4;

export function openRuns(out: string): Runs {
  if (!isOnDisk(out)) {
    throw new UsageError(`\`view\` and \`log\` read runs in folders, and ${out} is in a bucket.`, {
      reason: 'bad-value',
      fix: 'Copy the run to a folder first (`aws s3 sync`, under the same name); `stats`, `show` and `export` read the bucket.',
    });
  }
  const opened = new Map<string, Promise<OpenRun>>();

  const has = (run: string): boolean => isIn(run, out);

  function mustHave(run: string): void {
    if (has(run)) return;
    throw new UsageError(`There is no run ${JSON.stringify(run)} in this folder.`, {
      reason: 'no-such-run',
      fix: 'The list of runs names those that are there.',
    });
  }

  async function open(run: string): Promise<OpenRun> {
    mustHave(run);
    const known = opened.get(run);
    if (known) {
      // The last one that was looked at stays longest.
      opened.delete(run);
      opened.set(run, known);
      return known;
    }
    const fresh = load(run);
    opened.set(run, fresh);
    fresh.catch(() => opened.delete(run));
    if (opened.size > MOST_OPEN) {
      const [oldest, first] = opened.entries().next().value!;
      opened.delete(oldest);
      void first.then(({ index }) => index.close()).catch(() => {});
    }
    return fresh;
  }

  async function load(run: string): Promise<OpenRun> {
    const found = await readRun(run, out);
    const index = new RunIndex(found.store);
    void index.refreshSoon();
    return { ...found, index };
  }

  const numbers = openHeadNumbers();

  async function anyHead(run: string): Promise<() => RunHead> {
    try {
      const found = (await opened.get(run)) ?? (await readRun(run, out));
      const own = await headOf(found);
      // Numbers of a run that goes on are those of its page.
      if (own.state === 'open') return () => own;
      numbers.of(found);
      return () => withNumbers(own, numbers.of(found) ?? null);
    } catch (error) {
      const broken: RunHead = { ...NO_HEAD, run, state: 'broken', problem: explain(error) };
      return () => broken;
    }
  }

  return {
    out,
    head: headOf,
    open,
    async read(run) {
      mustHave(run);
      return load(run);
    },
    has,
    async heads() {
      const heads: (() => RunHead)[] = [];
      for (const name of runsIn(out)) heads.push(await anyHead(name));
      await numbers.soon();
      return withForks(heads.map((one) => one()).sort((a, b) => b.createdAt - a.createdAt));
    },
    close() {
      for (const run of opened.values()) void run.then(({ index }) => index.close()).catch(() => {});
      opened.clear();
    },
  };
}

/** The names of the runs in a folder. */
function runsIn(out: string): string[] {
  return realFoldersIn(out).filter((name) => isRunName(name) && existsSync(join(out, name, RUN_FILE)));
}

/** In this folder, or as an evaluation in that of another run. */
function isIn(run: string, out: string): boolean {
  if (!isRunName(run)) return false;
  const evaluations = evaluationsNamed(run);
  const isEvaluation = evaluations !== null && realFoldersIn(out).includes(evaluations);
  return runsIn(out).includes(run) || (isEvaluation && runsIn(join(out, evaluations)).includes(run));
}

async function readRun(run: string, out: string): Promise<Omit<OpenRun, 'index'>> {
  const { store } = await placeNamed(run, { cwd: out, out });
  const record = (await store.get('run'))?.record;
  if (!record) throw new UsageError(`Run ${run} has no run.json any more.`, { reason: 'no-such-run' });
  const queries = await store.countQueries().catch(() => 0);
  const { samples, epochs = 1, settings } = record;
  const shape = { queries, samples, epochs, numTurns: settings.numTurns, stop: settings.stop };
  return { run, store, record, total: queries * samples * epochs, shape };
}

/** The rows of a run are not read for its head alone: its record and its result are. */
async function headOf({ run, store, record, total, index }: ListedRun): Promise<RunHead> {
  const result = (await store.get('result'))?.record;
  const rows = index?.rows() ?? [];
  const ended = index?.listed ? rows.filter(({ state }) => state !== 'open').length : null;
  const counts = result ? countsOf(result) : { total: Math.max(total, rows.length), ended };
  return { ...recordedHead(run, record), ...counts };
}

/** The newest first, and behind each run its forks; those of a run that is not there are where their age puts them. */
function withForks(heads: readonly RunHead[]): RunHead[] {
  const named = new Set(heads.map(({ run }) => run));
  const ordered = new Set<RunHead>();
  const add = (head: RunHead): void => {
    if (ordered.has(head)) return;
    ordered.add(head);
    heads.filter(({ parent }) => parent === head.run).forEach(add);
  };
  heads.filter(({ run, parent }) => parent === undefined || parent === run || !named.has(parent)).forEach(add);
  // Planted runs may name each other.
  heads.forEach(add);
  return [...ordered];
}

const NO_HEAD: RunHead = {
  run: '',
  state: 'open',
  createdAt: 0,
  model: '',
  dataset: null,
  numTurns: 0,
  samples: 1,
  total: null,
  ended: null,
  numbers: null,
  tokens: null,
};

/** `run`: the folder's name, by which it is found; a copy has the name of its original in its record. */
function recordedHead(run: string, record: RunRecord): RunHead {
  return {
    ...NO_HEAD,
    run,
    createdAt: record.createdAt,
    model: record.settings.model,
    dataset: record.dataset && (record.dataset.benchmark ?? titleOfDataset(record.dataset.path)),
    numTurns: record.settings.numTurns,
    samples: samplesPerQuery(record),
    ...(record.settings.program && { isAgents: true as const }),
    ...(record.forkedFrom && { parent: record.forkedFrom.run }),
  };
}

function countsOf({ total, cancelled, counts }: CollectionResult): Partial<RunHead> {
  const [done, { failed }] = [countEnded(counts), counts.outcomes];
  const state = cancelled ? 'cancelled' : done > 0 && failed === done ? 'failed' : 'ended';
  return { state, total, ended: done, tokens: counts.tokens };
}

/** A rollout that failed may have been played again since: its last attempt counts. */
export const withNumbers = (head: RunHead, numbers: HeadNumbers | null): RunHead =>
  numbers === null
    ? head
    : {
        ...{ ...head, numbers },
        ...((head.state === 'ended' || head.state === 'failed') && { state: hasFailed(numbers) ? 'failed' : 'ended' }),
      };
