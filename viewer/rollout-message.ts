// One rollout as its page shows it, made from its records: the query, the turns with their verdicts and rewards, the end, and
// what people said of it.

import { turnReward } from '../domain/rollout/reward.ts';
import { outputTokens } from '../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { EndRecord } from '../domain/rollout/trajectory.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { rolloutFolder, STEERING } from '../records/format/layout.ts';
import { actsOn, readActs } from '../records/run/steering.ts';
import type { Store, Stored } from '../records/store.ts';
import type { RolloutMessage, RowPlace, TurnMessage } from './model/messages.ts';
import { mustBePlain } from './plain-files.ts';
import type { OpenRun } from './runs.ts';

/** Undefined for a rollout that has not begun. */
export async function readRollout(
  { run, store, record, index }: OpenRun,
  place: RowPlace,
): Promise<Omit<RolloutMessage, 'previous' | 'next' | 'history'> | undefined> {
  const id = { run, ...place };
  const folder = rolloutFolder(id);
  mustBePlain(store.folder, folder);
  mustBePlain(store.folder, STEERING);
  const [rollout, row] = [await store.get('rollout', id), index.row(place)];
  if (!rollout || !row) return undefined;
  const end = (await store.get('end', id))?.record ?? null;
  return {
    row,
    query: rollout.record.query,
    numTurns: record.settings.numTurns,
    samples: index.rows().filter(({ query }) => query === place.query),
    turns: await readTurns(store, id, end, rollout.record.settings),
    end,
    folder,
    acts: actsOn(await readActs(store, () => {}), id),
  };
}

async function readTurns(
  store: Store,
  id: RolloutId,
  end: EndRecord | null,
  settings: RolloutSettings,
): Promise<TurnMessage[]> {
  const turns: TurnMessage[] = [];
  for (let turn = 1; !end || turn <= end.turns.length; turn++) {
    const [stored, verdict] = await Promise.all([store.get('turn', id, turn), store.get('verdict', id, turn)]);
    if (!stored) break;
    const value = verdict?.record.verdict;
    const judged = value === 'right' || value === 'wrong';
    const made = judged ? turnReward(value === 'right', settings) : null;
    // An environment may give a reward of its own.
    const reward = verdict?.record.reward ?? made;
    turns.push(turnMessage(stored, verdict?.record ?? null, reward));
  }
  return turns;
}

function turnMessage({ record, hash }: Stored<TurnRecord>, verdict: TurnMessage['verdict'], reward: number | null) {
  const { contextIds, outputIds: _ids, logprobs, textLogprobs, ...rest } = record;
  return {
    record: rest,
    hash,
    contextTokens: contextIds.length,
    outputTokens: outputTokens(record),
    hasTokens: logprobs.length > 0 || (textLogprobs?.length ?? 0) > 0,
    verdict,
    reward,
  };
}
