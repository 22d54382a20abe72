// The tokens that a call adds: behind its parent's own ids only the text that the chat template has for the new messages, or
// the whole conversation rendered as a new root. Ids that the model sampled are never made from text again.

import { type ContextTokenizer, idsBehind, TooManyTokens } from './new-context.ts';
import type { ReplyEnd } from './tool-extension.ts';
import { type CallToShow, shownCall } from './call-text.ts';
import {
  type AgentReply,
  type AnsweredCall,
  type AskedRequest,
  type BranchReason,
  placeInTree,
  prefillOf,
  replyMessage,
  wholeRequest,
} from '../agent/index.ts';
import { contextTokens, noEos, outputTokens, replyText } from '../rollout/turn-facts.ts';
import type { TurnRecord } from '../rollout/turn.ts';

/** A call with its tokens; each token of a rollout is stored once. */
export interface CallTokens {
  readonly id: string;
  /** Null for a root. */
  readonly parent: string | null;
  /** Ids new in its context, behind the parent's; all of them for a root. */
  readonly contextIds: readonly number[];
  /** Sampled ids, the stop token included. */
  readonly outputIds: readonly number[];
}

/** A call with its reply and its tokens. `stop`: the last token is one that ends replies. */
export interface PlayedCall extends AnsweredCall, CallTokens {
  readonly finish: 'stop' | 'length';
}

export interface CallContext {
  readonly parent: string | null;
  readonly branch: BranchReason | null;
  /** The 0-based first message that made it a branch; null if it is none. */
  readonly differsAt: number | null;
  /** New ids, behind the parent's. */
  readonly ids: readonly number[];
  /** Their text. */
  readonly text: string;
  /** Messages of the request that are the parent's own; 0 where the whole request was rendered. */
  readonly shared: number;
  /** The echo of the parent's reply lacks its reasoning, which stays in the tokens. */
  readonly reasoningDropped: boolean;
  /** The template takes no system message in mid-conversation: it was shown as a user's. */
  readonly systemAsUser: boolean;
}

/**
 * `calls`: those with a reply, in the order in which they began. `form`: how the model's format ends calls, and the variables of
 * its chat template. Rejects with TooManyTokens where `most` new ids are not enough.
 */
export async function callContext(
  request: AskedRequest,
  calls: readonly PlayedCall[],
  tokenizer: ContextTokenizer,
  { stops = [], opensResults, variables }: Omit<ReplyEnd, 'stop'> & Pick<CallToShow, 'variables'>,
  most = Infinity,
): Promise<CallContext> {
  const { messages, tools } = request;
  const prefill = prefillOf(messages);
  const place = placeInTree(prefill ? { ...request, messages: messages.slice(0, -1) } : request, calls);
  const show = async (call: CallToShow) => tokenizer.showCall?.(call) ?? shownCall(call, tokenizer.renderChat);
  const nothingShared = { shared: 0, reasoningDropped: false };
  if (place.parent) {
    const { parent, reasoningDropped } = place;
    const added = prefill ? [...place.added, prefill] : place.added;
    const last = parent.finish === 'stop' ? parent.outputIds.at(-1) : undefined;
    const stop = last === undefined ? null : await tokenizer.decode([last], { skipSpecialTokens: false });
    const { messages: before } = parent.request;
    const end = { stop, stops, ...(opensResults !== undefined && { opensResults }) };
    const behind = { messages: before, calls: parent.reply.calls ?? [], end };
    const shown = await show({ messages: added, tools, variables, behind });
    if (shown) {
      const ids = await idsBehind(tokenizer, stop === null ? ['a', '.', '\n'] : [stop], shown.text, most).catch(
        (error: unknown) => {
          throw error instanceof TooManyTokens ? new TooManyTokens(error.tokens, parent.id) : error;
        },
      );
      const root = { branch: null, differsAt: null };
      return { parent: parent.id, ...root, ids, shared: before.length, reasoningDropped, ...shown };
    }
  }
  const [branch, differsAt] = place.parent
    ? ['not-extensible' as const, place.parent.request.messages.length + 1]
    : [place.branch, place.branch === null ? null : place.differsAt];
  const { text, systemAsUser } = (await show({ messages, tools, variables }))!;
  const ids = await tokenizer.encodeRendered(text, most);
  // A rendering that begins with the ids of a call extends that call, by whatever way it came about.
  const begun = begunBy(ids, calls);
  if (!begun) return { parent: null, branch, differsAt, ids, text, ...nothingShared, systemAsUser };
  const rest = ids.slice(begun.length);
  const shown = await tokenizer.decode(rest, { skipSpecialTokens: false });
  return { parent: begun.id, branch: null, differsAt: null, ids: rest, text: shown, ...nothingShared, systemAsUser };
}

/** The call with the most ids among those whose ids, with all before them, the new ones begin with. */
function begunBy(ids: readonly number[], calls: readonly CallTokens[]) {
  const lengths = new Map<string, number>();
  let longest: { readonly id: string; readonly length: number } | undefined;
  for (const { id, parent, contextIds, outputIds } of calls) {
    const from = parent === null ? 0 : lengths.get(parent);
    if (from === undefined) continue;
    const length = from + contextIds.length + outputIds.length;
    if (length >= ids.length || !hasAt(ids, from, contextIds)) continue;
    if (!hasAt(ids, from + contextIds.length, outputIds)) continue;
    lengths.set(id, length);
    if (length > (longest?.length ?? -1)) longest = { id, length };
  }
  return longest;
}

const hasAt = (ids: readonly number[], from: number, part: readonly number[]): boolean =>
  part.every((id, i) => ids[from + i] === id);

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
