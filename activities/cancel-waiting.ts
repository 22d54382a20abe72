// Ends rollouts of a cancelled run that only wait for a generation which no worker has begun: records their ends as
// `cancelled`, with all turns that were played. That record is the end: a generation that begins later is refused, and
// the rollout's workflow ends with it. One that began meanwhile is cancelled. All others are left for their workflows
// to end. Repeated, it goes on where it stopped.

import { type RolloutResult, rolloutResult, scoredTurns } from '../domain/rollout/ending.ts';
import { rolloutWorkflowId, type TrajectoryReference } from '../domain/names/ids.ts';
import { recordedFacts, turnFacts } from '../domain/rollout/rollout-facts.ts';
import type { TurnFacts } from '../domain/rollout/turn-facts.ts';
import type { Store } from '../records/store.ts';
import type { Settled, SettleInput } from './collection.ts';
import type { ActivityDeps } from './deps.ts';
import { readEndedResult } from './ended-result.ts';
import { finishActivity } from './finish.ts';
import { withHeartbeats } from './heartbeat.ts';

const AT_ONCE = 8;

export function cancelActivities(deps: ActivityDeps) {
  const { openStore, isWaiting, cancelRollout } = deps;
  const finish = finishActivity(deps);

  async function recordEnd(store: Store, id: TrajectoryReference): Promise<RolloutResult | undefined> {
    const ended = await readEndedResult(store, id);
    if (ended) return ended;
    const rollout = (await store.getRollout(id))?.record;
    if (!rollout) return undefined;
    const { query, settings } = rollout;
    const own = settings.environments?.find(({ name }) => name === query.environment);
    const turns = own?.ends ? undefined : await playedTurns(store, id);
    if (!turns) return undefined;
    const result = rolloutResult(id, turns, 'cancelled', null, scoredTurns(turns, 'cancelled', settings));
    return (await finish({ result, message: null })) ?? result;
  }

  return {
    /** The results of those that it ended. */
    cancelWaiting: ({ out, run, rollouts }: SettleInput): Promise<Settled[]> =>
      withHeartbeats(async (signal) => {
        const store = openStore(out, run);
        const left = [...rollouts];
        const settled: Settled[] = [];
        const cancelSome = async () => {
          for (let next = left.shift(); next; next = left.shift()) {
            signal.throwIfAborted();
            const { unit, query, sample } = next;
            const id = { out, run, query, sample, attempt: 1 };
            const workflowId = rolloutWorkflowId(id);
            const result = (await isWaiting(workflowId)) ? await recordEnd(store, id) : undefined;
            if (!result) continue;
            // A generation that began before the record does not know of it.
            if (!(await isWaiting(workflowId))) await cancelRollout(workflowId);
            settled.push({ unit, result });
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, cancelSome));
        return settled;
      }),
  };
}

/** Undefined if one of them is not judged: its workflow is in the middle of a turn. */
async function playedTurns(store: Store, id: TrajectoryReference): Promise<TurnFacts[] | undefined> {
  const played: TurnFacts[] = [];
  for (let turn = 1; ; turn++) {
    const [record, verdict] = await Promise.all([store.getTurn(id, turn), store.getVerdict(id, turn)]);
    if (!record) return played;
    if (!verdict) return undefined;
    played.push(turnFacts(recordedFacts(record.record), verdict.record));
  }
}
