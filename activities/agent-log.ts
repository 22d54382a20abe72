// The log of the attempts of an agent: an attempt begins and ends by taking the next entry, which is written once. The end that
// counts is the last entry: one that another attempt has followed is written nowhere, however late its process wakes up.

import type { AgentEnd, AgentEntry } from '../domain/agent/program.ts';
import { AgentError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { Store } from '../records/store.ts';
import { replyText } from '../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import { failMissing, recordedTurn } from './recorded.ts';

export interface BegunAttempt {
  /** Rejects if another attempt has begun since. */
  mustBeLast(): Promise<void>;
  /** Rejects if another attempt has begun, and nothing is written then. */
  end(ended: AgentEnd): Promise<void>;
}

/** The attempt, which is now the last one; or the end of an earlier attempt, after which none begins. Rejects if a later one has begun. */
export async function beginAttempt(
  store: Store,
  id: TrajectoryReference,
  own: Omit<AgentEntry, 'entry' | 'ended'>,
): Promise<BegunAttempt | AgentEnd> {
  for (let entry = 1; ; entry++) {
    const there = (await store.get('agent', id, entry)) ?? (await store.put('agent', id, { entry, ...own }));
    if (there.record.ended) return there.record.ended;
    if (there.record.token === own.token) return begunAt(entry);
    if (there.record.scheduledAt > own.scheduledAt) throw followed(there.record);
  }

  function begunAt(entry: number): BegunAttempt {
    const next = { entry: entry + 1, ...own };
    return {
      async mustBeLast() {
        const there = await store.get('agent', id, next.entry);
        if (there) throw followed(there.record);
      },
      async end(ended) {
        const { record } = await store.put('agent', id, { ...next, ended });
        if (record.token !== own.token) throw followed(record);
      },
    };
  }
}

const followed = ({ attempt }: AgentEntry): AgentError =>
  new AgentError(`Attempt ${attempt} of the agent has begun since: this one counts no more.`, {
    reason: 'agent-followed',
    retryable: true,
  });

/** The end, behind the entries of its attempts; undefined while the program runs. */
export async function endOfAgent(store: Store, id: TrajectoryReference): Promise<AgentEnd | undefined> {
  for (let entry = 1; ; entry++) {
    const stored = await store.get('agent', id, entry);
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
