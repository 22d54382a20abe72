// The prompt of a turn of the loop: the query, or the feedback on the turn before.

import { callsInReply } from '../domain/rollout/calls.ts';
import { conversationOf, type EarlierTurn, newContext, newTranscript } from '../domain/context/new-context.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import { recordedTurns, recordedVerdict } from './recorded.ts';
import type { PromptSource, TurnPrompt } from './turn-prompt.ts';

export async function readLoopPrompt({ store, id, turn, rollout, tools }: PromptSource): Promise<TurnPrompt> {
  const { record, hash } = rollout;
  const { settings, query } = record;
  const before = await recordedTurns(store, id, turn - 1);
  const said = turn === 1 ? undefined : await store.getSay(id, turn);

  async function judgedTurn(earlier: TurnRecord): Promise<EarlierTurn> {
    const [verdict, saidThen] = await Promise.all([
      recordedVerdict(store, id, earlier.turn),
      store.getSay(id, earlier.turn + 1),
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
