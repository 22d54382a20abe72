// A reply of the model to an agent's call, as it is recorded and sent in every dialect, and the ids in it. Ids are made from
// the call's own: the same call has the same ids whenever it is sent, and an echo names the call that it is of.

import type { Json } from '../text/json.ts';
import { strictJson } from '../text/json-text.ts';
import type { AgentMessage } from './conversation.ts';

export interface AgentReply {
  /** The call's id: 18 hexadecimal digits. */
  readonly call: string;
  readonly text: string;
  /** Empty if the model gave none. */
  readonly reasoning: string;
  /** `arguments`: JSON text of an object. */
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** `length`: cut at the limit. */
  readonly finish: 'stop' | 'length';
  /** The client's own stop text that ended it; null if none did. */
  readonly stopped: string | null;
  readonly model: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** Tokens; `cached` are of `input`, `reasoning` of `output`. */
  readonly usage: Readonly<Record<'input' | 'cached' | 'output' | 'reasoning', number>>;
}

const ID_DIGITS = 18;
const OURS = /^(?:[a-z]+[_-])?([0-9a-f]{18})[0-9a-f]{2}$/;

/** `hash`: of the request; `occurrence`: 0-based, among the calls of that hash. */
export function callIdOf(hash: string, occurrence: number): string {
  const counted = occurrence.toString(16).padStart(4, '0');
  return `${hash.slice(0, ID_DIGITS - counted.length)}${counted}`;
}

/** The id of one item of a reply. `place`: 0-based, among its items of that kind. */
export function itemId(prefix: string, call: string, place = 0): string {
  return `${prefix}_${call}${place.toString(16).padStart(2, '0')}`;
}

/** The call that an item's id, a signature or a response's id is of; undefined if it is none of ours. */
export function callNamedBy(id: string): string | undefined {
  return OURS.exec(id)?.[1];
}

/** The 0-based place in an item's id. */
export const placeInId = (id: string): number => Number.parseInt(id.slice(-2), 16);

/** Calls of ours that an assistant's message names. */
export function callsNamedIn({ ids = [], calls = [] }: AgentMessage): readonly string[] {
  return [...ids, ...calls.map(({ id }) => id)].flatMap((id) => callNamedBy(id) ?? []);
}

/** The reply as the message that a client sends back. `prefix`: of the dialect's ids of calls. */
export function replyMessage(reply: AgentReply, prefix = 'call'): AgentMessage {
  return {
    role: 'assistant',
    text: reply.text,
    ...(reply.reasoning !== '' && { reasoning: reply.reasoning }),
    ...(reply.calls.length > 0 && {
      calls: reply.calls.map((call, i) => ({
        id: itemId(prefix, reply.call, i),
        name: call.name,
        arguments: jsonOrText(call.arguments),
      })),
    }),
    ids: [itemId('resp', reply.call)],
  };
}

/** JSON text as its value; another text as it is, and JSON that readers take differently: with a key twice, or nested too deep. */
export function jsonOrText(text: string): Json {
  try {
    return strictJson(text) as Json;
  } catch {
    return text;
  }
}
