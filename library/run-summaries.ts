// A run's rollouts as small summaries, with the run's size: what statistics and comparisons are made of.

import type { RolloutSummary, RunSize } from '../domain/rollout/rollout-summary.ts';
import { mustHoldAll } from '../records/run/present.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Breach } from '../records/store.ts';
import { readSummaries } from '../records/reading/trajectories.ts';
import type { SummaryOptions } from '../records/reading/summary.ts';
import { knownResult, type RunPlace } from '../run/place.ts';

export interface RunSummaries {
  readonly record: RunRecord | undefined;
  readonly shape: RunSize;
  /** Begun rollouts, the last attempt of each. */
  readonly rollouts: readonly RolloutSummary[];
  /** The run has ended, by itself or because a user cancelled it; null: it is in progress, or interrupted. */
  readonly end: 'ended' | 'cancelled' | null;
  /** Damaged records: their rollouts are left out. */
  readonly broken: readonly Breach[];
}

export interface ReadOptions {
  /** Default `turns`. */
  readonly detail?: SummaryOptions['detail'];
  /** Rollouts that a person had a part in count like any other. Default false: statistics leave them out. */
  readonly includeSteered?: boolean;
}

export async function readRunSummaries(
  place: RunPlace,
  { detail = 'turns', includeSteered = false }: ReadOptions = {},
): Promise<RunSummaries> {
  const { store } = place;
  await mustHoldAll(store);
  const record = (await store.get('run'))?.record;
  const rollouts: RolloutSummary[] = [];
  const broken: Breach[] = [];
  const options = { detail, onBroken: (breach: Breach) => void broken.push(breach) };
  const isFork = record?.forkedFrom !== undefined;
  for await (const { steered, ...summary } of readSummaries(store, options)) {
    const part = steered ?? (isFork ? 'fork' : undefined);
    rollouts.push(includeSteered || part === undefined ? summary : { ...summary, steered: part });
  }
  const queries = record?.dataset ? await store.countQueries() : 0;
  const result = await knownResult(place).catch(() => undefined);
  const end = result ? (result.cancelled ? 'cancelled' : 'ended') : null;
  return { record, end, shape: shapeOf(record, queries, rollouts), rollouts, broken };
}

/** A run without a record of its own has the size that its rollouts show. */
function shapeOf(record: RunRecord | undefined, queries: number, rollouts: readonly RolloutSummary[]): RunSize {
  return {
    queries,
    samples: record?.samples ?? 1,
    epochs: record?.epochs ?? 1,
    numTurns: record?.settings.numTurns ?? rollouts.reduce((most, { success }) => Math.max(most, success.length), 1),
    stop: record?.settings.stop ?? 'always',
  };
}
