// A rollout of the user's own environment has ended: the environment gives back what it took. Repeatable.

import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './heartbeat.ts';
import { readJudgedTurns, recordedRollout } from './recorded.ts';

export interface EndInput {
  readonly rollout: TrajectoryReference;
  /** Judged turns. */
  readonly turns: number;
}

export function endActivity({ openStore, environments }: ActivityDeps) {
  return async function endEnvironment({ rollout: id, turns }: EndInput): Promise<void> {
    const store = openStore(id.out, id.run);
    const { record: rollout } = await recordedRollout(store, id);
    const environment = environments.of(rollout, store.folder);
    const before = () => readJudgedTurns(store, id, turns);
    await withHeartbeats((signal) => environment.end?.({ rollout, before }, { signal }) ?? Promise.resolve());
  };
}
