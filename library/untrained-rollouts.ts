// Rollouts of which nothing is trained, because a run's `--train-calls` names none of their calls: a tag with another letter does.

import { parseTrainCalls } from '../domain/agent/index.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { readTrajectory } from '../records/reading/trajectories.ts';
import type { Store } from '../records/store.ts';

export interface UntrainedRollouts {
  readonly trainCalls: string;
  readonly rollouts: number;
  /** Complete rollouts, the first of the data set, that were looked at. */
  readonly of: number;
  /** The first of the rollouts, and what its calls have for a tag or a model, whichever the run asks for; null: none. */
  readonly query: string;
  readonly field: 'tag' | 'model';
  readonly seen: readonly (string | null)[];
}

/** More would keep the user waiting, and a wrong name shows in the first. */
const MOST_QUERIES = 100;
const MOST_READ = 200;

/** Undefined where there is none. Damage is for `check` to name. */
export async function untrainedRollouts(store: Store, record?: RunRecord): Promise<UntrainedRollouts | undefined> {
  const trainCalls = record?.settings.program?.trainCalls;
  const wanted = trainCalls === undefined ? undefined : parseTrainCalls(trainCalls);
  if (trainCalls === undefined || !wanted) return undefined;
  const { field } = wanted;
  let [rollouts, of] = [0, 0];
  let first: RolloutId | undefined;
  for await (const id of firstRollouts(store)) {
    const end = (await store.get('end', id).catch(() => undefined))?.record;
    if (end?.outcome !== 'complete') continue;
    of++;
    if (end.untrained?.length === end.turns.length) {
      rollouts++;
      first ??= id;
    }
    if (of >= MOST_READ) break;
  }
  const found = first && (await readTrajectory(store, first).catch(() => undefined));
  if (!first || !found) return undefined;
  const seen = [...new Set(found.turns.map(({ record: { asked } }) => asked?.[field] ?? null))];
  return { trainCalls, rollouts, of, query: first.query, field, seen };
}

async function* firstRollouts(store: Store): AsyncGenerator<RolloutId> {
  for (const { queryId } of await store.readQueries(0, MOST_QUERIES))
    yield* await store.listRolloutsOf(queryId, { partly: true });
}
