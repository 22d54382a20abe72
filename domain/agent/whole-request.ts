// The request of a recorded call, whole: its record holds only what it adds to that of its parent. Pure.

import type { AskedCall } from './call-record.ts';
import type { AskedRequest, RecordedRequest } from './conversation.ts';

/** The request of a call. `parent`: that of the call which it goes on from. */
export function wholeRequest(asked: AskedCall, parent: AskedRequest | undefined): RecordedRequest {
  const { shared, messages, tools = [], limits, instructed } = asked;
  const ownParts = { limits, ...(instructed && { instructed }) };
  if (shared === 0) return { messages, tools, ...ownParts };
  if (parent?.messages.length !== shared)
    throw new Error(`call ${asked.call} shares ${shared} messages with its parent`);
  return { messages: [...parent.messages, ...messages], tools: parent.tools, ...ownParts };
}

/** The request of a call behind the recorded calls on its path, from the root to its parent. */
export function requestBehind(call: AskedCall, path: readonly AskedCall[]): RecordedRequest {
  return wholeRequest(
    call,
    path.reduce<AskedRequest | undefined>((parent, one) => wholeRequest(one, parent), undefined),
  );
}
