// The calls of an agent's program out of the turns of its rollout: each with its request, its reply and its tokens.

import { outputTokens, contextTokens, noEos, replyText } from '../rollout/turn-facts.ts';
import type { TurnRecord } from '../rollout/turn.ts';
import { wholeRequest } from '../agent/whole-request.ts';
import type { PlayedCall } from './call-context.ts';
import { replyMessage, type AgentReply } from '../agent/reply.ts';

/** `callOf`: the call of an earlier turn. */
export function playedCall(record: TurnRecord, callOf: (turn: number) => PlayedCall | undefined): PlayedCall {
  const asked = record.asked!;
  const parent = asked.parent === null ? undefined : callOf(asked.parent);
  return {
    id: asked.call,
    parent: parent?.id ?? null,
    request: wholeRequest(asked, parent?.request),
    reply: replyMessage(replyOf(record)),
    contextIds: record.contextIds,
    outputIds: record.outputIds,
    // Behind the program's own stop text stands no token that ends replies.
    finish: record.finish === 'stop' && record.reply?.stopped === undefined ? 'stop' : 'length',
  };
}

/** The reply that the program gets. */
export function replyOf(record: TurnRecord): AgentReply {
  const { asked, reply, finish, finishedAt, model, usage } = record;
  const input = contextTokens(record) ?? 0;
  return {
    call: asked!.call,
    text: replyText(record),
    reasoning: reply?.reasoning ?? record.reasoning ?? '',
    calls: reply?.calls ?? [],
    finish: noEos(finish) ? 'length' : 'stop',
    stopped: reply?.stopped ?? null,
    model,
    createdAt: Math.floor(finishedAt / 1000),
    usage: {
      input,
      cached: usage?.cached ?? input - record.contextIds.length * Math.sign(record.contextLength),
      output: outputTokens(record) ?? 0,
      reasoning: usage?.reasoning ?? 0,
    },
  };
}
