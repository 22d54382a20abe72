// Plays the turns of an agent's calls within the agent's own activity: each is generated here and written once. What can pass is
// tried again here, because an activity that failed would run the whole program again.

import type { AskedRecord, AskedRequest } from '../domain/agent/index.ts';
import { EverturnError, explain, ModelError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Backend } from '../inference/backend.ts';
import type { Store, Stored } from '../records/store.ts';
import { agentPrompt } from './agent-prompt.ts';
import type { AnswerTurn } from './answer-turn.ts';
import type { ActivityDeps } from './deps.ts';
import { failIfRepeated, type Flaws, readFlaws, withFlaw } from './flaws.ts';
import { whileStopping } from './generate.ts';
import { sleep } from './heartbeat.ts';
import type { InSlot } from './slots.ts';

/** The turn of a call that is written down. `before`: the turns on the path to its parent, and itself. */
export interface DueCall {
  readonly asked: Stored<AskedRecord>;
  readonly before: readonly Stored<TurnRecord>[];
  readonly request: AskedRequest;
}

/** Has the turn played, and returns its record. Rejects with what cannot pass. */
export type Play = (due: DueCall) => Promise<Stored<TurnRecord>>;

interface Playing {
  /** It waits for the disk where an answer cannot be stored. */
  readonly store: Store;
  readonly id: TrajectoryReference;
  readonly rollout: RolloutRecord;
  readonly backend: Backend;
  /** Which try of the activity this is, 1-based. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Takes what a call waits for, while it is tried again; null when that is over. */
  readonly waits: (what: string | null) => void;
}

const PAUSE_MS = { first: 500, most: 30_000 };

export function playingCalls(
  { tools, isStopping }: Pick<ActivityDeps, 'tools' | 'isStopping'>,
  answerTurn: AnswerTurn,
  inSlot: InSlot,
  { store, id, rollout, backend, attempt, signal, waits }: Playing,
): Play {
  const stopping = () => isStopping(id.out, id.run);

  async function tried({ asked, before, request }: DueCall, flaws: Flaws): Promise<Stored<TurnRecord>> {
    const { turn } = asked.record;
    // Another attempt, thought dead, may have begun it.
    const there = asked.created ? undefined : await store.get('turn', id, turn);
    if (there) return there;
    if (await stopping()) await whileStopping(stopping, signal);
    const prompt = agentPrompt(asked.record, before, request, { settings: rollout.settings, tools });
    const firstChunk = asked.created ? undefined : (await store.get('chunk', id, turn, 1))?.record;
    const due = { store, id, rollout, turn, prompt, avoid: flaws.servers, attempt, firstChunk, options: { signal } };
    const answer = await inSlot(turn, signal, () => answerTurn(backend, due));
    if ('noRoom' in answer) throw tooLong(answer.contextTokens, answer.modelLength);
    return answer;
  }

  return async (due) => {
    let { asked } = due;
    let flaws = readFlaws(undefined);
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.most)) {
      try {
        const stored = await tried({ ...due, asked }, flaws);
        waits(null);
        return stored;
      } catch (error) {
        if (signal.aborted || !(error instanceof EverturnError)) throw error;
        flaws = withFlaw(flaws, error) ?? flaws;
        const last = error instanceof ModelError && error.flaw !== undefined ? failIfRepeated(error, flaws) : error;
        if (!last.retryable) throw last;
        waits(explain(last));
        await sleep(last.retryAfterMs ?? pause, signal);
        // Chunks of the answer may be there now.
        asked = { ...asked, created: false };
      }
    }
  };
}

const tooLong = (contextTokens: number, modelLength: number | null): ModelError =>
  new ModelError(`The prompt has ${contextTokens} tokens, and the model's context holds ${modelLength}.`, {
    reason: 'prompt-too-long',
    fix: 'Shorten the prompt, or use a model with a longer context.',
  });
