// The end of an agent's program, as the turn that is judged takes it.

import type { AgentEnd } from '../domain/agent/program.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import { replyText } from '../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Store } from '../records/store.ts';
import { failMissing, recordedTurn } from './recorded.ts';

/** The end, behind the entries of its attempts (agent-log.ts); undefined while the program runs. */
export async function endOfAgent(store: Store, id: TrajectoryReference): Promise<AgentEnd | undefined> {
  for (let entry = 1; ; entry++) {
    const stored = await store.getAgent(id, entry);
    if (!stored || stored.record.ended) return stored?.record.ended;
  }
}

/** The answer that its program gave, or the reply to its last call, where that is not the turn's answer; and its reward. */
export async function readAgentEnd(store: Store, id: TrajectoryReference, record: TurnRecord) {
  const end = (await endOfAgent(store, id)) ?? failMissing(store, id, 'the end of its agent');
  const { answer, reward, rewards, last } = end;
  const text = answer ?? replyText((await recordedTurn(store, id, last)).record);
  return {
    done: true,
    ...(reward !== undefined && { reward }),
    ...(rewards && { rewards }),
    ...(text !== record.answer && { answer: text }),
  };
}
