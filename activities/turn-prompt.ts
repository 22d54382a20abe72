// The prompt of a turn: what the model is asked, and what the turn's record says of it. The turns of the loop and the calls of an
// agent's program (agent-prompt.ts) are its two kinds.

import {
  type AskedModel,
  conversationOf,
  type EarlierTurn,
  type NewContext,
  newContext,
  newTranscript,
} from '../domain/context/new-context.ts';
import type { ReplyForm } from '../domain/agent/index.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { Tools } from '../environments/tools/tool.ts';
import type { TextRequest } from '../inference/backend.ts';
import type { Store, Stored } from '../records/store.ts';
import { callsInReply } from '../domain/rollout/calls.ts';
import { recordedTurns, recordedVerdict } from './recorded.ts';

/** The fields of a turn's record that do not depend on the model's kind. */
type Framing =
  | 'turn'
  | 'seed'
  | 'previous'
  | 'attempt'
  | 'startedAt'
  | 'finishedAt'
  | 'model'
  | 'said'
  | 'calls'
  | 'carried'
  | 'asked';

export interface Answered {
  readonly fields: Omit<TurnRecord, Framing>;
  /** Places in the reply's text where ordinary tokens spell a marker of calls. */
  readonly spelled?: readonly number[];
  /** Chunks that are stored. */
  readonly chunks: number;
}

export interface TurnPrompt {
  /** The turns with whose tokens the context begins. */
  readonly before: readonly Stored<TurnRecord>[];
  /** Hash of the record that the turn follows. */
  readonly previous: string;
  /** The turn's name in its seed. */
  readonly seedName: number | string;
  /** New tokens at most. */
  readonly maxNewTokens: number;
  /** The server holds the answer to it. */
  readonly form?: ReplyForm;
  /** Texts that end the answer where they occur in it. */
  readonly stopTexts: readonly string[];
  /** A context without room for an answer ends the rollout. False: the prompt is refused. */
  readonly mayFill: boolean;
  /** The part of the context behind the turns before. */
  newContext(model: AskedModel): Promise<NewContext>;
  /** The whole conversation, for a model that takes messages, with the text that is new in it. */
  conversation(): Promise<{
    readonly request: Pick<TextRequest, 'messages' | 'tools' | 'toolChoice' | 'form'>;
    readonly newText: string;
  }>;
  /** The fields of the turn's record that depend on the kind of prompt. */
  fieldsOf(answer: Answered): Pick<TurnRecord, 'said' | 'calls' | 'asked' | 'reply'>;
}

interface PromptSource {
  readonly store: Store;
  readonly id: TrajectoryReference;
  readonly turn: number;
  readonly rollout: Stored<RolloutRecord>;
  readonly tools: Tools | undefined;
}

export async function readLoopPrompt({ store, id, turn, rollout, tools }: PromptSource): Promise<TurnPrompt> {
  const { record, hash } = rollout;
  const { settings, query } = record;
  const before = await recordedTurns(store, id, turn - 1);
  const said = turn === 1 ? undefined : await store.get('say', id, turn);

  async function judgedTurn(earlier: TurnRecord): Promise<EarlierTurn> {
    const [verdict, saidThen] = await Promise.all([
      recordedVerdict(store, id, earlier.turn),
      store.get('say', id, earlier.turn + 1),
    ]);
    return { turn: earlier, verdict: verdict.record, ...(saidThen && { said: saidThen.record.text }) };
  }

  return {
    before,
    previous: before.at(-1)?.hash ?? hash,
    seedName: turn,
    maxNewTokens: settings.maxNewTokens,
    stopTexts: [],
    mayFill: turn > 1,
    async newContext(model) {
      const last = before.at(-1);
      return newContext(record, last ? await judgedTurn(last.record) : null, model);
    },
    async conversation() {
      const earlier = await Promise.all(before.map((stored) => judgedTurn(stored.record)));
      return {
        request: { messages: conversationOf(query.prompt, earlier), tools: settings.tools?.list ?? [] },
        newText: newTranscript(record, earlier.at(-1) ?? null),
      };
    },
    fieldsOf({ fields, spelled = [] }) {
      const records = before.map((stored) => stored.record);
      const calls = tools && callsInReply(fields, records, settings, tools, spelled);
      return { ...(said && { said: { text: said.record.text, hash: said.hash } }), ...(calls && { calls }) };
    },
  };
}
