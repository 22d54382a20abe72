// The calls of one attempt of an agent: each request is the call of an earlier attempt, a repetition, or a new one. A call that
// repeats one whose connection broke waits for the same reply.

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  abandonedCalls,
  type AgentReply,
  type AgentRequest,
  type AskedRequest,
  type Claim,
  claimCall,
  claimsOfAttempt,
  messageForms,
  requestText,
  type RetryHint,
  unclaimedCalls,
  withConnectionEnded,
  withKnownMessages,
  withReplyDoubted,
} from '../domain/agent/index.ts';
import type { AnswerCall, RecordedReply, RefusedCall } from './agents.ts';
import { RefusedRequest, type RecordedCalls } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/index.ts';

interface AttemptCalls {
  /** The call of this id, if it has its reply. */
  readonly recordedCall: RecordedCalls;
  /** Its whole reply. */
  replyOf(id: string): AgentReply | undefined;
  /** The request, with what it repeats of the latest ones kept once. */
  known(request: AgentRequest): AgentRequest;
  /** `made`: calls of this attempt so far, with this one. */
  claim(request: AgentRequest, again: RetryHint): Promise<{ readonly claim: Claim; readonly made: number }>;
  /** The recorded reply, or that of the model. Throws RefusedRequest if the call is refused. */
  replyTo(claim: Claim, request: AgentRequest, dialect: string): Promise<AgentReply>;
  has(id: string): boolean;
  /** Equal calls before it whose replies called no tool. */
  inVain(claim: Claim): number;
  /** The connection that asked last for a call has closed. */
  end(id: string, isDelivered: boolean): void;
  /** A reply that was taken for delivered may not have been read. */
  doubt(id: string): void;
  /** Resolves when every call that was begun has its reply. */
  settled(): Promise<void>;
  abandoned(): readonly string[];
  unmade(): readonly string[];
}

/** Conversations that an agent has at once, for which what they repeat is kept once. */
const SIDE_BY_SIDE = 16;

export function openAttemptCalls(recorded: readonly RecordedReply[], answer: AnswerCall): AttemptCalls {
  const byId = new Map(recorded.map((one) => [one.reply.call, one]));
  const pending = new Map<string, Promise<AgentReply | RefusedCall>>();
  const latest: AskedRequest[] = recorded.slice(-SIDE_BY_SIDE).map(({ request }) => request);
  let claims = claimsOfAttempt(
    recorded.map(({ hash, request, reply, occurrence, dialect }) => ({
      id: reply.call,
      hash,
      occurrence,
      request,
      reply: messageIn(dialect, reply),
    })),
  );
  return {
    recordedCall(id) {
      const one = byId.get(id);
      return one && { request: one.request, reply: messageIn(one.dialect, one.reply) };
    },
    replyOf: (id) => byId.get(id)?.reply,
    known(request) {
      const known = withKnownMessages(request, latest);
      latest.unshift(known);
      latest.length = Math.min(latest.length, SIDE_BY_SIDE);
      return known;
    },
    async claim(request, again) {
      const hash = await hashBetween(request);
      const next = claimCall(claims, request, again, (one) => (one === request ? hash : hashOf(one)));
      claims = next.claims;
      const made = claims.calls.filter(({ delivery }) => delivery !== 'unclaimed').length;
      return { claim: next.claim, made };
    },
    async replyTo(taken, request, dialect) {
      const { id, hash, occurrence } = taken.call;
      const earlier = byId.get(id);
      if (earlier) return earlier.reply;
      const begun = pending.get(id) ?? answer(taken, request, dialect);
      pending.set(id, begun);
      try {
        const reply = await begun;
        if ('refused' in reply) throw new RefusedRequest(reply.refused, '', reply.message);
        byId.set(id, { hash, occurrence, request, dialect, reply });
        return reply;
      } finally {
        pending.delete(id);
      }
    },
    has: (id) => byId.has(id),
    inVain: ({ call: { hash, occurrence } }) =>
      [...byId.values()].filter(
        (one) => one.hash === hash && one.occurrence < occurrence && one.reply.calls.length === 0,
      ).length,
    end(id, isDelivered) {
      const one = byId.get(id);
      claims = withConnectionEnded(claims, id, isDelivered, one && messageIn(one.dialect, one.reply));
    },
    doubt(id) {
      claims = withReplyDoubted(claims, id);
    },
    async settled() {
      await Promise.allSettled(pending.values());
    },
    abandoned: () => abandonedCalls(claims).flatMap(({ id }) => (byId.has(id) ? [id] : [])),
    unmade: () => unclaimedCalls(claims).map(({ id }) => id),
  };
}

const hashOf = (request: AskedRequest): string => createHash('sha256').update(requestText(request)).digest('hex');

/** Other work of the loop comes between its steps. */
async function hashBetween(request: AskedRequest): Promise<string> {
  await nextTurn();
  // They are kept with the messages.
  for (const _ of messageForms(request.messages));
  await nextTurn();
  const text = requestText(request);
  await nextTurn();
  return createHash('sha256').update(text).digest('hex');
}

const messageIn = (path: string, reply: AgentReply) => DIALECTS.find((one) => one.path === path)!.message(reply);
