// The log of the attempts of an agent: an attempt begins and ends by taking the next entry, which is written once. The end that
// counts is the last entry: one that another attempt has followed is written nowhere, however late its process wakes up. A pause
// of the rollout takes an entry, too, and so does its end.

import type { AgentEnd, AgentEntry } from '../domain/agent/index.ts';
import { AgentError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { Store } from '../records/store.ts';
import { replyText } from '../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import { sleep } from './heartbeat.ts';
import { failMissing, recordedTurn } from './recorded.ts';

export interface BegunAttempt {
  /** Rejects if another attempt has begun since. */
  mustBeLast(): Promise<void>;
  /** Resolves when a call may be asked: at once, unless the rollout is paused. Rejects if another attempt has begun since. */
  mayAsk(signal: AbortSignal): Promise<void>;
  /** Rejects if another attempt has begun, and nothing is written then. */
  end(ended: AgentEnd): Promise<void>;
}

type OwnEntry = Omit<AgentEntry, 'entry' | 'ended' | 'paused'>;
/** A rollout that is paused is looked at again after this time. */
const POLL_MS = 500;

/** The attempt, which is now the last one; or the end of an earlier attempt, after which none begins. Rejects if a later one has begun. */
export async function beginAttempt(
  store: Store,
  id: TrajectoryReference,
  own: OwnEntry,
): Promise<BegunAttempt | AgentEnd> {
  let paused = false;
  let next = 1;
  for (; ; next++) {
    const there = (await store.get('agent', id, next)) ?? (await store.put('agent', id, { entry: next, ...own }));
    if (there.record.ended) return there.record.ended;
    if (there.record.token === own.token) break;
    if (there.record.paused !== undefined) ({ paused } = there.record);
    else if (there.record.scheduledAt > own.scheduledAt) throw followed(there.record);
  }
  next++;

  async function mustBeLast(): Promise<void> {
    for (;;) {
      const at = next;
      const there = await store.get('agent', id, at);
      if (!there) return;
      if (there.record.paused === undefined) throw followed(there.record);
      // Several calls look at once.
      if (at === next) [next, paused] = [at + 1, there.record.paused];
    }
  }
  return {
    mustBeLast,
    async mayAsk(signal) {
      for (await mustBeLast(); paused; await mustBeLast()) await sleep(POLL_MS, signal);
    },
    async end(ended) {
      for (;;) {
        const { record } = await store.put('agent', id, { entry: next, ...own, ended });
        if (record.token === own.token) return;
        if (record.paused === undefined) throw followed(record);
        await mustBeLast();
      }
    },
  };
}

/** Writes down that the rollout is paused, or goes on: its agent reads it before each call. */
export async function pauseAgent(store: Store, id: TrajectoryReference, own: OwnEntry, paused: boolean): Promise<void> {
  let isPaused = false;
  for (let entry = 1; ; entry++) {
    const there = (await store.get('agent', id, entry))?.record;
    if (there?.ended) return;
    if (there) isPaused = there.paused ?? isPaused;
    else if (isPaused === paused) return;
    else isPaused = (await store.put('agent', id, { entry, ...own, paused })).record.paused ?? isPaused;
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

/** The answer that its program gave, or the reply to its last call, where that is not the turn's answer; and its rewards. */
export async function readAgentEnd(store: Store, id: TrajectoryReference, record: TurnRecord) {
  const end = (await endOfAgent(store, id)) ?? failMissing(store, id, 'the end of its agent');
  const { answer, reward, rewards, verified, callRewards = [], last } = end;
  const { undecided, note } = verified ?? {};
  const callReward = callRewards.find(({ turn }) => turn === record.turn)?.reward;
  const text = answer ?? replyText((await recordedTurn(store, id, last)).record);
  return {
    done: true,
    ...(reward !== undefined && { reward }),
    ...(rewards && { rewards }),
    ...(undecided !== undefined && { verdict: { verdict: 'undecided', reason: undecided } as const, note }),
    ...(callReward !== undefined && { callReward }),
    ...(text !== record.answer && { answer: text }),
  };
}
