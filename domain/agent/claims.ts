// The claim of a request on a call: a new call, one that a rerun agent makes again, or the repetition of one whose reply did not
// arrive. A call is (hash of its request, occurrence). Nothing in a request tells a repetition from an equal call beside it, but
// its connection does, and the client may: a call whose connection is open is never joined, unless the client says that it
// tries again.
// Gap: a reply that was sent whole, and not read, over a connection that ended in order, by a client that says nothing of it.

import { requestHash, type AgentMessage, type AskedRequest } from './conversation.ts';
import { isBeginningOf } from './call-tree.ts';
import { callIdOf } from './reply.ts';

/**
 * unclaimed   the attempt of the agent that runs now has not asked for it
 * open        its connection waits, or is being written to
 * broken      its connection closed before the last byte of a whole reply
 * delivered   it has been sent whole
 * doubtful    it has been sent whole, and then its connection was reset: perhaps not all of it was read
 */
type Delivery = 'unclaimed' | 'open' | 'broken' | 'delivered' | 'doubtful';

interface ClaimedCall {
  readonly id: string;
  readonly hash: string;
  /** 0-based, among the calls of the hash. */
  readonly occurrence: number;
  readonly request: AskedRequest;
  readonly delivery: Delivery;
  /** The reply, once there is one. */
  readonly reply?: AgentMessage;
  /** The client's own name for the call, the same however often it asks. */
  readonly key?: string;
}

/** The words of a client about its request, beside the request. */
export interface RetryHint {
  /** It has asked for the same before. */
  readonly retries: boolean;
  /** The same, each time that it asks for this call. */
  readonly key?: string;
}

export interface Claim {
  readonly call: ClaimedCall;
  /**
   * new        no attempt has made it before
   * rerun      an earlier attempt made it
   * repeated   this attempt made it, and asks again
   */
  readonly is: 'new' | 'rerun' | 'repeated';
}

export interface Claims {
  /** All calls, in the order in which they began. */
  readonly calls: readonly ClaimedCall[];
}

/** The claims at the start of an attempt: every call made so far, and none of them claimed. */
export function claimsOfAttempt(calls: readonly Omit<ClaimedCall, 'delivery'>[]): Claims {
  return { calls: calls.map((call) => ({ ...call, delivery: 'unclaimed' })) };
}

/** `hashOf`: as requestHash, faster. */
export function claimCall(
  claims: Claims,
  request: AskedRequest,
  { retries, key }: RetryHint = { retries: false },
  hashOf: (request: AskedRequest) => string = requestHash,
): { readonly claims: Claims; readonly claim: Claim } {
  const cut = cutCall(claims, request, hashOf);
  const hash = cut?.hash ?? hashOf(request);
  const equal = claims.calls.filter((call) => call.hash === hash);
  const oldest = (delivery: Delivery) => equal.find((call) => call.delivery === delivery);
  const latest = (delivery: Delivery) => equal.findLast((call) => call.delivery === delivery);
  const named = key === undefined ? undefined : equal.find((call) => call.key === key);
  const retried = retries ? () => latest('delivered') ?? oldest('open') : () => undefined;
  const again = cut ?? named ?? oldest('broken') ?? latest('doubtful') ?? retried();
  const claimedBefore = again ?? oldest('unclaimed');
  const namedKey = key === undefined ? {} : { key };
  if (claimedBefore) {
    const call = { ...claimedBefore, ...namedKey, delivery: 'open' as const };
    return { claims: replaced(claims, call), claim: { call, is: again ? 'repeated' : 'rerun' } };
  }
  const occurrence = equal.length;
  const call = { id: callIdOf(hash, occurrence), hash, occurrence, request, ...namedKey, delivery: 'open' as const };
  return { claims: { calls: [...claims.calls, call] }, claim: { call, is: 'new' } };
}

/** The end of a connection. `delivered`: the last byte of a whole reply was written; an error is none. */
export function withConnectionEnded(claims: Claims, id: string, delivered: boolean, reply?: AgentMessage): Claims {
  const call = claims.calls.find((one) => one.id === id);
  if (!call) throw new Error(`there is no call ${id}`);
  return replaced(claims, { ...call, delivery: delivered ? 'delivered' : 'broken', ...(reply && { reply }) });
}

/** The connection over which the reply was sent was reset behind its last byte. */
export function withReplyDoubted(claims: Claims, id: string): Claims {
  const call = claims.calls.find((one) => one.id === id);
  return call?.delivery === 'delivered' ? replaced(claims, { ...call, delivery: 'doubtful' }) : claims;
}

/** Calls whose reply the attempt that ended the rollout was not given: kept, shown, and not trained. */
export function abandonedCalls({ calls }: Claims): readonly ClaimedCall[] {
  return calls.filter(({ delivery }) => delivery !== 'delivered' && delivery !== 'doubtful');
}

/** Calls of an earlier attempt: at the end of an agent that does what it did there is none. */
export function unclaimedCalls({ calls }: Claims): readonly ClaimedCall[] {
  return calls.filter(({ delivery }) => delivery === 'unclaimed');
}

/**
 * The call whose reply was cut, if the request is that call's with the items that had arrived behind it. Codex asks so
 * again, and gets the whole reply.
 */
function cutCall(
  { calls }: Claims,
  request: AskedRequest,
  hashOf: (request: AskedRequest) => string,
): ClaimedCall | undefined {
  const part = request.messages.at(-1);
  if (part?.role !== 'assistant') return undefined;
  const broken = calls.filter(
    ({ delivery, reply }) => (delivery === 'broken' || delivery === 'doubtful') && reply && isBeginningOf(part, reply),
  );
  if (broken.length === 0) return undefined;
  const hash = hashOf({ ...request, messages: request.messages.slice(0, -1) });
  return broken.find((call) => call.hash === hash);
}

function replaced({ calls }: Claims, by: ClaimedCall): Claims {
  return { calls: calls.map((call) => (call.id === by.id ? by : call)) };
}
