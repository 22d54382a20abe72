// The admission of a rollout: its settings and its query, out of its run or of the workflow's input, if it may be played.

import { mayRetry } from '../domain/rollout/ending.ts';
import { samplesPerQuery } from '../domain/samples/group.ts';
import { unfitRewards } from '../domain/rollout/reward.ts';
import { DatasetError, StoreError, UsageError } from '../domain/errors/errors.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { RolloutInput } from '../domain/run/messages.ts';
import type { Query } from '../domain/query/query.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import type { ActivityDeps } from './deps.ts';

export interface AdmittedRollout {
  readonly store: Store;
  readonly id: RolloutId;
  /** Undefined where the run has no record yet. */
  readonly runRecord: RunRecord | undefined;
  readonly settings: RolloutSettings;
  readonly query: Query;
}

export async function admitRollout(deps: ActivityDeps, input: RolloutInput): Promise<AdmittedRollout> {
  const { run, out, sample = 0, attempt = 1 } = input;
  const store = deps.openStore(out, run);
  const runRecord = (await store.getRun())?.record;
  if (runRecord?.dataset && (input.row || input.settings)) throw playsItsDataset(run, store.folder);
  const settings = runRecord && !input.settings ? runRecord.settings : deps.parseSettings(run, { ...input.settings });
  // A run's file may be made by hand; none of its rollouts could be exported.
  const unfit = unfitRewards(settings, settings.numTurns);
  if (unfit !== null) {
    const message = `The rewardScaling, rewardBias and turnDiscount of run "${run}" ${unfit}.`;
    throw new UsageError(message, { reason: 'bad-rewards', fix: 'Begin a run with others.' });
  }
  deps.permit(settings, store.folder);
  const query = input.row ? deps.parseRow(input.row, settings) : await queryAt(store, input);
  const id = { run, query: query.queryId, sample, attempt };
  if (runRecord?.dataset && sample >= samplesPerQuery(runRecord)) throw noSuchSample(run, samplesPerQuery(runRecord));
  if (attempt > 1) await mustHaveFailed(store, { ...id, attempt: attempt - 1 });
  return { store, id, runRecord, settings, query };
}

async function queryAt(store: Store, { run, out, index }: RolloutInput): Promise<Query> {
  if (index === undefined) {
    throw new DatasetError(`The rollout of run "${run}" names no query.`, {
      reason: 'no-query',
      fix: "Give `row` (a data set row), or `index` (a place in the run's queries.jsonl).",
    });
  }
  const [query] = await store.readQueries(index, 1);
  if (query) return query;
  throw new StoreError(`Run "${run}" in ${out} has no query at index ${index}.`, {
    reason: 'no-such-query',
    fix: `It holds ${await store.countQueries()} queries.`,
  });
}

/** A workflow's input must not replace a query or a model that a run has yet to play. */
function playsItsDataset(run: string, folder: string): UsageError {
  return new UsageError(`Run "${run}" in ${folder} plays its data set, with its own settings.`, {
    reason: 'not-allowed',
    fix: 'Give `index` without `row` and `settings`, or give the rollout another run.',
  });
}

function noSuchSample(run: string, samples: number): UsageError {
  return new UsageError(`Run "${run}" plays ${samples} of each query.`, {
    reason: 'not-allowed',
    fix: `Give a sample from 0 to ${samples - 1}, or give the rollout another run.`,
  });
}

/** A new attempt takes the place of one that failed or could not be judged, and of no other. */
async function mustHaveFailed(store: Store, before: RolloutId): Promise<void> {
  const end = await store.getEnd(before);
  if (end && mayRetry(end.record.outcome)) return;
  throw new UsageError(`Attempt ${before.attempt} at "${before.query}" has not failed, and was not undecided.`, {
    reason: 'not-allowed',
    fix: 'Only such a rollout is tried again.',
  });
}
