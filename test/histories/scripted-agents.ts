// Programs of agents without a process: the same claims and records as those of a real one.

import { abandonedCalls, claim, claimsOfAttempt } from '../../domain/agent/claims.ts';
import { requestHash } from '../../domain/agent/conversation.ts';
import type { ProgramRecord } from '../../domain/agent/program.ts';
import { replyMessage } from '../../domain/agent/reply.ts';
import type { Said } from '../../domain/agent/last-words.ts';
import type { AgentAttempt, Agents } from '../../endpoint/agents.ts';

export type AgentScript = (ask: (text: string) => Promise<string>, attempt: AgentAttempt) => Promise<Said>;

export const PROGRAM: ProgramRecord = { spec: ['agent'], fingerprint: 'c'.repeat(64), timeoutSeconds: 60, maxCalls: 9 };

export function scriptedAgents(of: (query: string) => AgentScript | undefined): Agents {
  return {
    mayPlay: async () => undefined,
    async play(attempt) {
      let claims = claimsOfAttempt(
        attempt.recorded.map(({ request, reply, occurrence }) => ({
          ...{ id: reply.call, hash: requestHash(request), occurrence, request, reply: replyMessage(reply) },
        })),
      );
      let last: string | null = null;
      const known = new Map(attempt.recorded.map(({ reply }) => [reply.call, reply]));
      const ask = async (text: string): Promise<string> => {
        const messages = [{ role: 'user' as const, text }];
        const request = { messages, tools: [], limits: {}, stream: false, flags: [] };
        const next = claim(claims, request);
        claims = next.claims;
        const { id } = next.claim.call;
        const reply = known.get(id) ?? (await attempt.answer(next.claim, request, '/chat/completions'));
        if ('refused' in reply) throw new Error(reply.message);
        last = id;
        return reply.text;
      };
      const said = await of(attempt.id.query)!(ask, attempt);
      return { code: 0, said, tail: '', last, abandoned: abandonedCalls(claims).map(({ id }) => id) };
    },
  };
}
