// The calls of an agent as a tree. A call whose request repeats an earlier one with its reply, and adds to them, extends that
// call's own tokens; any other begins a new root, with the reason. An echo that was changed is never taken for the reply.

import { formAlone, messageForms, sameTools, type AgentMessage, type AskedRequest } from './conversation.ts';
import { callsNamedIn } from './reply.ts';

/** Reasons why a call extends no other. */
export const BRANCH_REASONS = [
  'new-conversation', // it shares no message with an earlier call but the system's: a sub-agent, a side call, another question
  'system-changed',
  'compacted', // fewer messages than the call had that it goes on from
  'tools-changed',
  'edited', // a message before the last reply, or the reply itself, is another one
  'foreign-reply', // its last reply is none of ours
  'not-extensible', // the chat template cannot show the new messages behind a reply
] as const;
export type BranchReason = (typeof BRANCH_REASONS)[number];

/** A call that has its reply. */
export interface AnsweredCall {
  readonly id: string;
  readonly request: AskedRequest;
  /** The reply as it was sent. */
  readonly reply: AgentMessage;
}

type Placement<C extends AnsweredCall = AnsweredCall> =
  | {
      readonly parent: C;
      /** The messages behind the parent's reply. */
      readonly added: readonly AgentMessage[];
      /** The echo lacks the reply's reasoning, which stays in the tokens. */
      readonly reasoningDropped: boolean;
    }
  | {
      readonly parent: null;
      /** Null for the first call, and for one that asks the same again. */
      readonly branch: BranchReason | null;
      /** The 0-based first message that differs from the nearest call's. */
      readonly differsAt: number;
    };

/** `calls`: in the order in which they began. */
export function placeInTree<C extends AnsweredCall>(request: AskedRequest, calls: readonly C[]): Placement<C> {
  const { messages } = request;
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  if (last < 0) return beginning(request, calls);
  const echo = messages[last]!;
  const named = new Set(callsNamedIn(echo));
  // A reply without ids in its echo is known by its content; of several equal ones the first counts.
  const equal = calls.filter(({ reply }) => isEcho(echo, reply));
  const ours = [...equal.filter(({ id }) => named.has(id)), ...equal];
  const parent = ours.find(
    (call) =>
      call.request.messages.length === last && sharedWith(call, request) === last && sameTools(call.request, request),
  );
  if (parent) {
    const reasoningDropped = parent.reply.reasoning !== undefined && !echo.reasoning;
    return { parent, added: messages.slice(last + 1), reasoningDropped };
  }
  const nearest = calls.find(({ id }) => named.has(id)) ?? ours[0];
  if (nearest) return branched(request, nearest, last);
  return { parent: null, branch: 'foreign-reply', differsAt: last };
}

/** Equal text and calls; the reasoning is equal or left out. */
export function isEcho(echo: AgentMessage, reply: AgentMessage): boolean {
  return (!echo.reasoning || echo.reasoning === reply.reasoning) && formAlone(echo) === formAlone(reply);
}

/** Messages at the beginning that both requests have. */
function sharedWith(call: AnsweredCall, { messages }: AskedRequest): number {
  const other = messageForms(messages);
  let shared = 0;
  for (const form of messageForms(call.request.messages)) {
    if (other.next().value !== form) break;
    shared++;
  }
  return shared;
}

/** `length`: of the part of the request that should be the nearest call's. */
function branched(request: AskedRequest, nearest: AnsweredCall, length: number): Placement<never> {
  const differsAt = sharedWith(nearest, request);
  const branch =
    systemOf(nearest.request) !== systemOf(request)
      ? 'system-changed'
      : length < nearest.request.messages.length
        ? 'compacted'
        : sameTools(nearest.request, request)
          ? 'edited'
          : 'tools-changed';
  return { parent: null, branch, differsAt };
}

/** A request without any reply. */
function beginning(request: AskedRequest, calls: readonly AnsweredCall[]): Placement<never> {
  const { messages } = request;
  let [nearest, most]: [AnsweredCall | undefined, number] = [undefined, -1];
  for (const call of calls) {
    const shared = sharedWith(call, request);
    if (shared >= most) [nearest, most] = [call, shared];
  }
  if (!nearest) return { parent: null, branch: null, differsAt: 0 };
  const isAgain =
    most === messages.length && most === nearest.request.messages.length && sameTools(nearest.request, request);
  if (isAgain) return { parent: null, branch: null, differsAt: most };
  if (messages.slice(0, most).every(({ role }) => role === 'system')) {
    return { parent: null, branch: 'new-conversation', differsAt: most };
  }
  return branched(request, nearest, messages.length);
}

/** The system messages before all others. */
function systemOf({ messages }: AskedRequest): string {
  const end = messages.findIndex(({ role }) => role !== 'system');
  return JSON.stringify([...messageForms(messages.slice(0, end < 0 ? messages.length : end))]);
}

/** The message has what the reply begins with: its first items, as a client keeps them that saw the reply cut. */
export function isBeginningOf(part: AgentMessage, reply: AgentMessage): boolean {
  const [some, all] = [part.calls ?? [], reply.calls ?? []];
  return (
    part.role === 'assistant' &&
    (!part.reasoning || part.reasoning === reply.reasoning) &&
    (part.text === reply.text || (part.text === '' && some.length === 0)) &&
    some.length <= all.length &&
    formAlone({ ...part, text: '' }) === formAlone({ ...reply, text: '', calls: all.slice(0, some.length) })
  );
}
