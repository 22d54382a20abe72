// The end of an agent's rollout, as the turn that is judged takes it.

import { replyOf } from '../domain/context/played-calls.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Store } from '../records/store.ts';
import { endOfAgent } from './agent-log.ts';
import { missing, recordedTurn } from './recorded.ts';

/** The answer that its program gave, or the reply to its last call, where that is not the turn's answer; and its reward. */
export async function readAgentEnd(store: Store, id: TrajectoryReference, record: TurnRecord) {
  const end = (await endOfAgent(store, id)) ?? missing(store, id, 'the end of its agent');
  const { answer, reward, rewards, last } = end;
  const text = answer ?? replyOf((await recordedTurn(store, id, last)).record).text;
  return {
    done: true,
    ...(reward !== undefined && { reward }),
    ...(rewards && { rewards }),
    ...(text !== record.answer && { answer: text }),
  };
}
