// A feed's activities on its ledger: open it (the state follows from the ledger and run.json alone), write an entry, and
// read what a rewind takes off the line. An entry is written once: where another feed wrote that number first, this one
// fails as `ledger-moved` and is opened again.

import { Context } from '@temporalio/activity';
import { StoreError } from '../domain/errors/errors.ts';
import { addEntry, countOf, emptyLine, type FeedEntry, groupsOf } from '../domain/feed/entry.ts';
import { type FeedState, noteAdmission, REMEMBERED } from '../domain/feed/state.ts';
import { NO_FILTER } from '../domain/samples/group.ts';
import type { EvaluationOf } from '../domain/run/evaluation.ts';
import { type NumberSet, without } from '../domain/feed/number-set.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store, Stored } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './heartbeat.ts';

export interface FeedReference {
  readonly run: string;
  readonly out: string;
}

export interface FeedRecordInput extends FeedReference {
  readonly entry: FeedEntry;
}

export interface TrainedAfterInput extends FeedReference {
  /** Entries of the ledger. */
  readonly entries: number;
  readonly version: number;
}

const POLL_MS = 500;
/** Entries that are read at once. */
const AT_ONCE = 32;

export function feedActivities({ openStore, makeEvaluation }: Pick<ActivityDeps, 'openStore' | 'makeEvaluation'>) {
  return {
    /** Waits until the run's folder is made. */
    openFeed: ({ run, out }: FeedReference): Promise<FeedState> =>
      withHeartbeats(async () => {
        const store = openStore(out, run);
        for (;;) {
          const record = (await store.get('run'))?.record;
          if (record && !record.dataset) {
            throw new StoreError(`Run "${run}" in ${out} is made of rollouts that were started one by one.`, {
              reason: 'run-without-dataset',
              fix: 'A feed hands out the groups of a data set.',
            });
          }
          if (record) return stateOf(store, record);
          await Context.current().sleep(POLL_MS);
        }
      }),

    /** Returns the entry's hash. */
    async recordFeedEntry({ run, out, entry }: FeedRecordInput): Promise<string> {
      const store = openStore(out, run);
      if (entry.number > 1 && (await store.get('feed', entry.number - 1))?.hash !== entry.previous) {
        throw moved(store, entry.number - 1);
      }
      const { record, hash, created } = await store.put('feed', null, entry);
      if (!created && bare(record) !== bare(entry)) throw moved(store, entry.number);
      return hash;
    },

    /** Makes the run of a held-out evaluation; null if it has ended. */
    openEvaluation: (of: EvaluationOf) => withHeartbeats(() => makeEvaluation(of)),

    /** The groups that the surviving line trained into a later version. */
    trainedAfter: ({ run, out, entries, version }: TrainedAfterInput): Promise<NumberSet> =>
      withHeartbeats(async () => {
        const store = openStore(out, run);
        const { line } = await readLedger(store, entries);
        return groupsOf(line.acknowledged.filter((one) => one.version > version));
      }),
  };
}

async function readLedger(store: Store, entries: number) {
  const line = emptyLine();
  let last: string | null = null;
  for (let number = 1; number <= entries; number += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, entries + 1 - number) }, (_, i) => entryAt(store, number + i));
    for (const { record: entry, hash } of await Promise.all(some)) {
      addEntry(line, entry);
      last = hash;
    }
  }
  return { line, last };
}

async function stateOf(store: Store, { run, samples, epochs = 1, train, evaluation }: RunRecord): Promise<FeedState> {
  const entries = await store.countFeedEntries();
  const { line, last } = await readLedger(store, entries);
  const trained = groupsOf(line.acknowledged);
  const next = (trained.at(-1)?.[1] ?? -1) + 1;
  const { batchGroups = null, maxStaleness = 0, ...filter } = train ?? {};
  const { acknowledged, ...rest } = line;
  const newest = acknowledged.slice(-REMEMBERED).map((one) => ({ ...one, groups: countOf([one]) }));
  const state: FeedState = {
    run,
    shape: {
      ...{ queries: await store.countQueries(), samples, epochs, batchGroups, maxStaleness },
      filter: { ...NO_FILTER, ...filter },
      ...(evaluation && { evaluateEvery: evaluation.every }),
    },
    ...{ entries, last, ...rest, acknowledged: newest },
    trainedGroups: countOf(acknowledged),
    ahead: countOf(acknowledged.filter(({ version }) => version > line.version)),
    next,
    // Those that were left out are found again by looking at them.
    playing: next === 0 ? [] : without([[0, next - 1]], trained),
    ready: [],
    leases: [],
    leftOut: { members: 0, 'success-rate': 0, 'zero-variance': 0 },
    admissions: [],
    restarts: {},
    concluded: false,
  };
  noteAdmission(state);
  return state;
}

async function entryAt(store: Store, number: number): Promise<Stored<FeedEntry>> {
  const stored = await store.get('feed', number);
  if (stored) return stored;
  throw new StoreError(`Entry ${number} of the feed's ledger in ${store.folder} is missing.`, {
    reason: 'record-missing',
    fix: `Run \`everturn check ${store.folder}\` to list every fault.`,
  });
}

/**
 * Without the record's own fields, and without the time: a task that is done again because its worker died writes the same
 * entry at another time.
 */
function bare(entry: FeedEntry): string {
  const { format: _, at: _at, ...fields } = entry as FeedEntry & { readonly format?: string };
  return JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function moved(store: Store, number: number): StoreError {
  return new StoreError(`Entry ${number} of the feed's ledger in ${store.folder} was written by another feed.`, {
    reason: 'ledger-moved',
    fix: 'Ask again: the feed reads its ledger again.',
  });
}
