// A rollout's first step: records the query and the settings it plays; later changes of their sources have no effect.

import { samplesPerQuery } from '../domain/group.ts';
import { firstWords } from '../domain/foreign-text.ts';
import { mayRetry } from '../domain/ending.ts';
import { DatasetError, StoreError, UsageError } from '../domain/errors.ts';
import { questionOf } from '../domain/query.ts';
import { unfitRewards } from '../domain/reward.ts';
import type { OpenedRollout } from '../domain/rollout-facts.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { RunRecord } from '../storage/record/run-record.ts';
import type { Store } from '../storage/store.ts';
import type { RolloutInput } from '../domain/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { endedResult } from './ended-result.ts';

export function openActivity(deps: ActivityDeps) {
  const { openStore, parseRow, readSolutions, parseSettings, permit, now, version } = deps;
  /** The record of a run whose rollouts are started one by one. */
  const looseRun = (run: string, settings: RolloutSettings): RunRecord => ({
    format: 'everturn-run/1',
    run,
    settings,
    origins: Object.fromEntries(Object.keys(settings).map((key) => [key, 'input'] as const)),
    samples: 1,
    dataset: null,
    versions: { everturn: version, node: process.version },
    createdAt: now(),
  });

  return async function open(input: RolloutInput): Promise<OpenedRollout> {
    const { run, out, sample = 0, attempt = 1 } = input;
    const store = openStore(out, run);
    const known = await store.getRun();
    if (known?.record.dataset && (input.row || input.settings)) throw ofItsOwn(run, store.folder);
    const settings = known && !input.settings ? known.record.settings : parseSettings(run, { ...input.settings });
    // A run may be older than this check; none of its rollouts could be exported.
    const unfit = unfitRewards(settings, settings.numTurns);
    if (unfit !== null) {
      const message = `The rewardScaling, rewardBias and turnDiscount of run "${run}" ${unfit}.`;
      throw new UsageError(message, { reason: 'bad-rewards', fix: 'Begin a run with others.' });
    }
    permit(settings, store.folder);
    const query = await queryOf();
    const id = { run, query: query.queryId, sample, attempt };
    if (known?.record.dataset && sample >= samplesPerQuery(known.record))
      throw noSuchSample(run, samplesPerQuery(known.record));
    if (attempt > 1) await mustHaveFailed(store, { ...id, attempt: attempt - 1 });
    // A rollout that was accepted before is not asked again; one that is refused leaves nothing in the folder.
    if (input.row && !(await store.getRollout(id))) await readSolutions?.(input.row);
    const inForce = !known && input.row ? await store.putRun(looseRun(run, settings)) : known;
    const { record, hash, created } = await store.putRollout(id, {
      run,
      query,
      index: input.index ?? null,
      sample,
      attempt,
      settings,
      birthTime: now(),
    });
    const ended = created ? undefined : await endedResult(store, { out, ...id });
    const { numTurns, stop, rewardScaling, rewardBias, turnDiscount } = record.settings;
    return {
      rollout: { out, ...id },
      limits: { numTurns, stop },
      reward: { rewardScaling, rewardBias, turnDiscount },
      title: firstWords(questionOf(record.query)),
      task: record.query.task,
      ...(ended && { ended }),
      records: { run: inForce?.hash ?? null, rollout: hash },
    };

    async function queryOf() {
      if (input.row) return parseRow(input.row);
      if (input.index === undefined) {
        throw new DatasetError(`The rollout of run "${run}" names no query.`, {
          reason: 'no-query',
          fix: "Give `row` (a data set row), or `index` (a place in the run's queries.jsonl).",
        });
      }
      const [found] = await store.readQueries(input.index, 1);
      if (found) return found;
      throw new StoreError(`Run "${run}" in ${out} has no query at index ${input.index}.`, {
        reason: 'no-such-query',
        fix: `It holds ${await store.countQueries()} queries.`,
      });
    }
  };
}

/** A workflow's input must not replace a query or a model that a run has yet to play. */
function ofItsOwn(run: string, folder: string): UsageError {
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
