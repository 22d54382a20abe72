// Proves a run's folder: each (query, sample, turn) once, contiguous, judged and logged once, every hash
// and every reward right. Streams: memory holds a few rollouts and the names of the logs.

import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { explain, StoreError } from '../domain/errors.ts';
import type { RolloutId } from '../domain/ids.ts';
import { OUTCOMES, type Outcome } from '../domain/outcome.ts';
import { openLogCheck } from './check-logs.ts';
import { checkRollout, type CheckedRollout } from './check-rollout.ts';
import { QUERIES_FILE, queryFolder, RESULT_FILE, ROLLOUT_FILE, rolloutFolder, RUN_FILE } from './layout.ts';
import type { OnBreach } from './listing.ts';
import { hashOfQueriesFile } from './queries.ts';
import type { RunRecord } from './run-record.ts';
import type { Store } from './store.ts';

export interface CheckSummary {
  readonly breaches: number;
  readonly queries: number;
  /** Rollouts that have begun, every attempt counted. */
  readonly rollouts: number;
  readonly turns: number;
  readonly ended: number;
  readonly unfinished: number;
  /** Of the last attempt at each sample. */
  readonly byOutcome: Readonly<Record<Outcome, number>>;
}

const AT_ONCE = 8;
const PAGE = 256;

export async function checkRun(store: Store, onBreach: OnBreach): Promise<CheckSummary> {
  await mustExist(store.folder);
  let breaches = 0;
  const report: OnBreach = (breach) => {
    breaches++;
    onBreach(breach);
  };
  const run = await attempt(RUN_FILE, () => store.getRun());
  const result = await attempt(RESULT_FILE, () => store.getResult());
  if (run) await checkQueriesHash(store, run.record, report);
  const queries = (await attempt(QUERIES_FILE, () => store.countQueries())) ?? 0;

  const totals = { rollouts: 0, turns: 0, ended: 0 };
  const byOutcome = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  const logs = openLogCheck(store, report);

  for await (const ids of groups(store.listRollouts(report), AT_ONCE)) {
    const rollouts = await Promise.all(ids.map((id) => checkRollout(store, id, report)));
    for (const rollout of rollouts) {
      totals.rollouts++;
      if (!rollout) continue;
      totals.turns += rollout.turns.filter((turn) => turn !== undefined).length;
      await checkOrigin(store, rollout, run?.record, report);
      await logs.rollout(rollout);
      if (!rollout.end) continue;
      totals.ended++;
      const later = await store.getRollout({ ...rollout.id, attempt: rollout.id.attempt + 1 }).catch(() => undefined);
      if (!later) byOutcome[rollout.end.outcome]++;
    }
  }
  await logs.foreign();
  if (run && result && !('cancelled' in result.record && result.record.cancelled)) {
    await checkAllPlayed(store, queries, run.record.samples, report);
  }
  return { breaches, queries, ...totals, unfinished: totals.rollouts - totals.ended, byOutcome };

  async function attempt<T>(path: string, get: () => Promise<T>): Promise<T | undefined> {
    try {
      return await get();
    } catch (error) {
      report({ path, problem: explain(error) });
      return undefined;
    }
  }
}

async function mustExist(folder: string): Promise<void> {
  if ((await stat(folder).catch(() => undefined))?.isDirectory()) return;
  throw new StoreError(`there is no run in ${folder}`, {
    reason: 'no-such-run',
    fix: 'Name a run under --out, or its folder.',
  });
}

async function checkQueriesHash(store: Store, { dataset }: RunRecord, report: OnBreach): Promise<void> {
  const hash = await hashOfQueriesFile(store.folder);
  if (hash === undefined) report({ path: QUERIES_FILE, problem: 'is missing' });
  else if (hash !== dataset.sha256) {
    report({ path: QUERIES_FILE, problem: `is changed: its hash is ${hash}, ${RUN_FILE} says ${dataset.sha256}` });
  }
}

/** The rollout plays this run's query, as accepted. */
async function checkOrigin(
  store: Store,
  { id, rollout }: CheckedRollout,
  run: RunRecord | undefined,
  report: OnBreach,
): Promise<void> {
  const path = `${rolloutFolder(id)}/${ROLLOUT_FILE}`;
  if (run && rollout.run !== run.run) report({ path, problem: `is of the run ${JSON.stringify(rollout.run)}` });
  if (rollout.index === null) return;
  try {
    const [query] = await store.readQueries(rollout.index, 1);
    if (isDeepStrictEqual(query, rollout.query)) return;
    report({ path, problem: `does not play the query at index ${rollout.index} of ${QUERIES_FILE}` });
  } catch (error) {
    report({ path, problem: `names a query that cannot be read: ${explain(error)}` });
  }
}

/** After the run's last word, every query has its samples. */
async function checkAllPlayed(store: Store, queries: number, samples: number, report: OnBreach): Promise<void> {
  for (let from = 0; from < queries; from += PAGE) {
    const page = await store.readQueries(from, PAGE).catch(() => []);
    for (const { queryId } of page) {
      const there = new Set((await store.listRolloutsOf(queryId)).map(({ sample }) => sample));
      for (let sample = 0; sample < samples; sample++) {
        if (there.has(sample)) continue;
        report({
          path: `${queryFolder(queryId)}/${sample}.1`,
          problem: `is missing: query ${JSON.stringify(queryId)}, sample ${sample}, was never played`,
        });
      }
    }
  }
}

async function* groups(ids: AsyncIterable<RolloutId>, size: number): AsyncGenerator<RolloutId[]> {
  let group: RolloutId[] = [];
  for await (const id of ids) {
    group.push(id);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
