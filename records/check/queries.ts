// Proves that a run plays its accepted rows: queries.jsonl is the one that run.json names, each rollout plays the query
// at its index, and after the run's result every query has its samples.

import { createHash } from 'node:crypto';
import { explain } from '../../domain/errors/errors.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import { INDEX_FILE, QUERIES_FILE, queryFolder, rolloutFolder, ROLLOUTS, RUN_FILE } from '../format/layout.ts';
import type { Query } from '../../domain/query/query.ts';
import { NameSet } from '../name-set.ts';
import { hashOfQueriesFile, queryLine } from '../run/queries.ts';
import { sha256 } from '../format/text.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { OnBreach, Store } from '../store.ts';
import type { CheckedRollout } from './checked.ts';
import { ROLLOUT_FILE } from '../format/rollout-file.ts';

/** The query that a rollout played. */
export interface PlayedQuery {
  readonly index: number;
  readonly digest: string;
  readonly path: string;
}

/** Undefined for a rollout that was started by itself. */
export function playedQueryOf({ id, rollout: { query, index, begun } }: CheckedRollout): PlayedQuery | undefined {
  if (index === null) return undefined;
  // An environment that begins the rollout gives it another prompt.
  const digest = digestOf(begun ? { ...query, prompt: begun.asked } : query);
  return { index, digest, path: `${rolloutFolder(id)}/${ROLLOUT_FILE}` };
}

const digestOf = (query: Query): string => sha256(queryLine(query)).slice(0, 32);

const PAGE = 256;
/** Rollouts named one by one: of a folder that is gone all are missing. */
const MOST_MISSING = 20;

export function openQueriesCheck(store: Store, run: RunRecord | undefined, onBreach: OnBreach) {
  /** By index in queries.jsonl: samples that were played. */
  let played = new Uint32Array(1024);
  let page: { readonly from: number; readonly digests: readonly string[] | null } | undefined;

  /** Null where the queries cannot be read, which is reported with all of them. */
  async function digestAt(index: number): Promise<string | null | undefined> {
    const from = index - (index % PAGE);
    const read = () => store.readQueries(from, PAGE).then((queries) => queries.map(digestOf));
    if (page?.from !== from) page = { from, digests: await read().catch(() => null) };
    return page.digests && page.digests[index - from];
  }

  return {
    /** In the order of the data set as far as they have one: a page of queries is in memory. */
    async rollout({ index, digest, path }: PlayedQuery, attempt: number): Promise<void> {
      const right = await digestAt(index);
      if (right === null) return;
      if (right !== digest) onBreach({ path, problem: `does not play the query at index ${index} of ${QUERIES_FILE}` });
      if (right === undefined || attempt > 1) return;
      if (index >= played.length) {
        const longer = new Uint32Array(2 * (index + 1));
        longer.set(played);
        played = longer;
      }
      played[index]!++;
    },

    /** After the last rollout. Returns the number of queries. */
    async all(concluded: boolean): Promise<number> {
      if (run) await checkHash(store, run, onBreach);
      const ids = new NameSet();
      const whole = createHash('sha256');
      const say = (problem: string) => onBreach({ path: QUERIES_FILE, problem });
      let missing = 0;
      const neverPlayed: OnBreach = (breach) => {
        if (++missing <= MOST_MISSING) onBreach(breach);
      };
      try {
        const count = await store.countQueries();
        if (run?.dataset && run.dataset.accepted !== count)
          say(`holds ${count} queries; ${RUN_FILE} says that ${run.dataset.accepted} were accepted`);
        for (let from = 0; from < count; from += PAGE) {
          const page = await store.readQueries(from, PAGE);
          for (const [i, query] of page.entries()) {
            whole.update(queryLine(query));
            if (!ids.add(query.queryId)) say(`holds the query ${JSON.stringify(query.queryId)} twice`);
            const samples = run ? samplesPerQuery(run) : 0;
            if (run && concluded && (played[from + i] ?? 0) < samples)
              await checkSamples(store, query.queryId, samples, neverPlayed);
          }
        }
        const hash = await hashOfQueriesFile(store.folder);
        if (hash && whole.digest('hex') !== hash)
          say('is not the text that its rows give: a key stands in one twice, or the spacing is not ours');
        const more = (missing - MOST_MISSING).toLocaleString('en-US');
        if (missing > MOST_MISSING)
          onBreach({ path: ROLLOUTS, problem: `lacks ${more} more, which were never played` });
        return count;
      } catch (error) {
        const problem = explain(error);
        onBreach({ path: problem.includes(INDEX_FILE) ? INDEX_FILE : QUERIES_FILE, problem });
        return 0;
      }
    },
  };
}

async function checkHash(store: Store, { dataset }: RunRecord, onBreach: OnBreach): Promise<void> {
  if (!dataset) return;
  const hash = await hashOfQueriesFile(store.folder);
  if (hash === dataset.sha256) return;
  const problem = hash ? `is changed: its hash is ${hash}, ${RUN_FILE} says ${dataset.sha256}` : 'is missing';
  onBreach({ path: QUERIES_FILE, problem });
}

async function checkSamples(store: Store, query: string, samples: number, onBreach: OnBreach): Promise<void> {
  const there = new Set((await store.listRolloutsOf(query, { partly: true })).map(({ sample }) => sample));
  for (let sample = 0; sample < samples; sample++) {
    if (there.has(sample)) continue;
    const path = `${queryFolder(query)}/${sample}.1`;
    onBreach({ path, problem: `is missing: query ${JSON.stringify(query)}, sample ${sample}, was never played` });
  }
}
