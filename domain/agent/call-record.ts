// A call of an agent's program as its turn's record has it, and the record that is written before the model is asked. The
// request of a call is that of its parent with further messages, or whole: no conversation is stored twice.

import * as f from '../schema/fields.ts';
import { TOOL_SCHEMAS } from '../tools/tool.ts';
import { BRANCH_REASONS } from './call-tree.ts';
import type { Asks } from './reply-form.ts';
import type { AgentMessage, AgentRequest, AskedRequest, RecordedRequest } from './conversation.ts';

/** Present in the record of each turn of a rollout that an agent's program plays. */
export const ASKED_CALL = f.objectOf({
  /** 18 hexadecimal digits, from hash and occurrence. */
  call: f.NAME,
  /** SHA-256 of all that the reply depends on (conversation.ts). */
  hash: f.HASH,
  /** 0-based, among the calls of that hash. */
  occurrence: f.COUNT,
  /** The path behind `/v1` that was asked. */
  dialect: f.NAME,
  /** The turn whose tokens the context extends; null for a root. */
  parent: f.orNull(f.PLACE),
  /** The reason why it extends none; null for the first call, and for one that extends another. */
  branch: f.orNull(f.oneOf(...BRANCH_REASONS)),
  /** The 0-based first message that made it a branch. */
  differsAt: f.orNull(f.COUNT),
  /** The parent's messages that it begins with: all of them, or none. */
  shared: f.COUNT,
  /** The messages behind them, as the program sent them. */
  messages: f.listOf(f.OBJECT) as unknown as f.Test<readonly AgentMessage[]>,
  /** Absent: with `shared` messages those of the parent, else none. */
  tools: f.maybe(TOOL_SCHEMAS),
  limits: f.OBJECT as unknown as f.Test<AgentRequest['limits']>,
  /** The first message is not of the conversation: the next request brings its own. */
  instructed: f.maybe(f.oneOf(true)),
  /** The form that the request asks its reply to have (reply-form.ts). */
  asks: f.maybe(f.OBJECT as unknown as f.Test<Asks>),
  /** The request taken otherwise than it asks, and the parts of its context that its echo lacks: a sentence each. */
  flags: f.maybe(f.listOf(f.TEXT)),
  /** The model that it asked for: the run's answers, whatever it is. */
  model: f.maybe(f.TEXT),
  /** The program's own name for such calls. */
  tag: f.maybe(f.NAME),
  /** The program said that it is not trained. */
  train: f.maybe(f.oneOf(false)),
});
export type AskedCall = f.TypeOf<typeof ASKED_CALL>;

/** The reply that the program gets, where it is not the turn's answer as it stands. */
export const GIVEN_REPLY = f.objectOf({
  text: f.TEXT,
  reasoning: f.maybe(f.TEXT),
  /** `arguments`: JSON text of an object. */
  calls: f.maybe(f.listOf(f.objectOf({ name: f.NAME, arguments: f.TEXT }))),
  /** The program's own stop text that ended it. */
  stopped: f.maybe(f.TEXT),
});
export type GivenReply = f.TypeOf<typeof GIVEN_REPLY>;

/** Written once before the model is asked; the turn's record replaces it. */
export const ASKED = {
  turn: f.PLACE,
  asked: ASKED_CALL,
  /** Tokens new in the context, behind the parent's; all of them for a root. */
  contextIds: f.TOKEN_IDS,
  contextText: f.TEXT,
  /** Hash of the parent's record; of the rollout's for a root. */
  previous: f.HASH,
};
export type AskedRecord = f.ObjectOf<typeof ASKED>;

/** The request of a call. `parent`: that of the call which it goes on from. */
export function wholeRequest(asked: AskedCall, parent: AskedRequest | undefined): RecordedRequest {
  const { shared, messages, tools = [], limits, instructed, asks } = asked;
  const ownParts = { limits, ...(instructed && { instructed }), ...(asks && { asks }) };
  if (shared === 0) return { messages, tools, ...ownParts };
  if (parent?.messages.length !== shared)
    throw new Error(`call ${asked.call} shares ${shared} messages with its parent`);
  return { messages: [...parent.messages, ...messages], tools: parent.tools, ...ownParts };
}
