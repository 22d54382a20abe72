// The parameters of a call that the rollout's workflow makes itself, on the queue of the user's own worker: made from the
// records. A turn that was judged before is not asked about again.

import { EnvironmentError } from '../domain/errors/errors.ts';
import type { AskInput, QueueCall } from '../domain/rollout/rollout-facts.ts';
import { answerToJudge, isCut } from '../domain/rollout/turn-facts.ts';
import type { ActivityDeps, ProgramDeps } from './deps.ts';
import { shortVerdict } from './evaluate.ts';
import { readJudgedTurns, recordedRollout, recordedTurn } from './recorded.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import { withHeartbeats } from './heartbeat.ts';

export function askActivity({ openStore, environments }: ActivityDeps) {
  return async function askEnvironment({ rollout: id, turn, method }: AskInput): Promise<QueueCall> {
    const store = openStore(id.out, id.run);
    const known = method === 'respond' ? await store.get('verdict', id, turn) : undefined;
    if (known) return { judged: shortVerdict(known.record) };
    const { record: rollout } = await recordedRollout(store, id);
    const { ask } = environments.of(rollout, store.folder);
    if (!ask) {
      throw new EnvironmentError('The environment of this rollout is not called by its workflow.', {
        reason: 'environment-mismatch',
      });
    }
    if (method === 'end') return { params: await ask.end({ rollout, before: () => readJudgedTurns(store, id, turn) }) };
    const { record } = await recordedTurn(store, id, turn);
    const before = () => readJudgedTurns(store, id, turn - 1);
    return { params: await ask.respond({ rollout, turn, answer: answerToJudge(record), cut: isCut(record), before }) };
  };
}

export interface EndInput {
  readonly rollout: TrajectoryReference;
  /** Judged turns. */
  readonly turns: number;
}

/** The environment gives back what its rollout took, as often as it is told. */
export function endActivity({ openStore, environments }: ProgramDeps) {
  return async function endEnvironment({ rollout: id, turns }: EndInput): Promise<void> {
    const store = openStore(id.out, id.run);
    const { record: rollout } = await recordedRollout(store, id);
    const environment = environments.of(rollout, store.folder);
    const before = () => readJudgedTurns(store, id, turns);
    await withHeartbeats((signal) => environment.end?.({ rollout, before }, { signal }) ?? Promise.resolve());
  };
}
