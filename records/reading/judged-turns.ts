// Every judged turn of a run with its query, record and verdict, for judging again and for checks. All attempts, in
// data set order. Memory holds one rollout.

import { StoreError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Query } from '../../domain/query/query.ts';
import type { EarlierTurn } from '../../domain/context/new-context.ts';
import type { RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { recordError } from '../disk/errors.ts';
import { rolloutFolder } from '../format/layout.ts';
import type { Store, Stored } from '../store.ts';
import { rolloutsInOrder } from './trajectories.ts';
import { fileOf } from '../format/rollout-file.ts';

export interface JudgedTurn {
  readonly id: RolloutId;
  readonly query: Query;
  readonly rollout: RolloutRecord;
  readonly turn: Stored<TurnRecord>;
  /** The turns before it. */
  readonly before: readonly EarlierTurn[];
  readonly verdict: VerdictRecord;
}

export interface TurnReports {
  /** A turn that was generated and has no verdict yet. */
  readonly onUnjudged: (id: RolloutId, turn: number) => void;
  /** Called for a rollout with damaged records; the rest of that rollout is skipped. */
  readonly onBroken: (id: RolloutId, error: StoreError) => void;
}

export async function* judgedTurns(store: Store, { onUnjudged, onBroken }: TurnReports): AsyncGenerator<JudgedTurn> {
  for await (const id of rolloutsInOrder(store, { attempts: 'all' })) {
    try {
      yield* turnsOf(store, id, onUnjudged);
    } catch (error) {
      if (!(error instanceof StoreError) || error.retryable) throw error;
      onBroken(id, error);
    }
  }
}

async function* turnsOf(
  store: Store,
  id: RolloutId,
  onUnjudged: TurnReports['onUnjudged'],
): AsyncGenerator<JudgedTurn> {
  const rollout = await store.get('rollout', id);
  if (!rollout) return;
  const { query } = rollout.record;
  const before: EarlierTurn[] = [];
  for (let number = 1; ; number++) {
    const [turn, verdict] = await Promise.all([store.get('turn', id, number), store.get('verdict', id, number)]);
    if (!turn) return;
    if (!verdict) onUnjudged(id, number);
    else if (verdict.record.of === turn.hash) {
      // A turn that called tools is no answer.
      if (verdict.record.verdict !== 'called')
        yield { id, query, rollout: rollout.record, turn, before: [...before], verdict: verdict.record };
      before.push({ turn: turn.record, verdict: verdict.record });
    } else
      throw recordError(
        `${store.folder}/${rolloutFolder(id)}/${fileOf('verdict', number)}`,
        'judges another turn than this',
      );
  }
}
