// A rollout of the user's own environment has ended: the environment gives back what it took. Repeatable.

import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { ActivityDeps } from './deps.ts';
import { heartbeating } from './heartbeat.ts';
import { earlierTurns, recordedRollout } from './recorded.ts';

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
    const before = () => earlierTurns(store, id, turns);
    await heartbeating((signal) => environment.end?.({ rollout, before }, { signal }) ?? Promise.resolve());
  };
}
