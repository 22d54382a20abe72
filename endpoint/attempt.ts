// One attempt of an agent and its endpoint: the calls, the reward that is posted, and the end, whatever plays the attempt.

import { randomBytes } from 'node:crypto';
import {
  joinLastWords,
  type LastWords,
  parseCallReward,
  parseLastWords,
  type ProgramRecord,
} from '../domain/agent/index.ts';
import { AgentError } from '../domain/errors/errors.ts';
import { short } from '../domain/text/foreign-text.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { AgentAttempt, AgentEnded } from './agents.ts';
import { type AgentEndpoint, createEndpoint } from './endpoint.ts';

/** The end as the agent itself makes it. */
export type OwnEnd = Pick<AgentEnded, 'code' | 'said' | 'tail' | 'cut'>;

export interface AttemptEndpoint extends Pick<AgentEndpoint, 'answer' | 'close'> {
  /** Rejects as `own` does, or with the error of a call. A call that the agent did not wait for is a turn all the same. */
  ended(own: Promise<OwnEnd>): Promise<AgentEnded>;
}

export const newKey = (): string => `everturn-${randomBytes(24).toString('hex')}`;

export function attemptEndpoint(attempt: AgentAttempt, key: string): AttemptEndpoint {
  let posted: LastWords | undefined;
  const callRewards = new Map<string, number>();
  let cut: AgentEnded['cut'];
  let broken: (error: unknown) => void = () => undefined;
  const failing = new Promise<never>((_, reject) => (broken = reject));
  failing.catch(() => undefined);
  const endpoint = createEndpoint({
    key,
    model: attempt.model,
    recorded: attempt.recorded,
    count: attempt.count,
    maxCalls: attempt.program.maxCalls,
    contextLength: attempt.contextLength,
    sideModels: attempt.program.sideModels ?? [],
    ...(attempt.side && { side: attempt.side }),
    structured: attempt.program.structured ?? 'prompt',
    onCut: (by) => (cut = by),
    async answer(...call) {
      try {
        const reply = await attempt.answer(...call);
        // A program that went on to other calls has not ended by this one.
        if ('refused' in reply) cut = reply.refused === 'context-length' ? reply.refused : cut;
        else if (cut === 'context-length') cut = undefined;
        return reply;
      } catch (error) {
        broken(error);
        throw error;
      }
    },
    onReward(value, calls) {
      const ofCall = parseCallReward(value);
      if (!ofCall) {
        const read = parseLastWords(value);
        if ('problem' in read) return { problem: `the reward ${read.problem}` };
        posted = joinLastWords(posted, read.said);
        return { took: posted as JsonObject };
      }
      if ('problem' in ofCall) return { problem: `the reward ${ofCall.problem}` };
      const call = ofCall.call === 'last' ? calls.last() : calls.named(ofCall.call);
      if (call === null) return { problem: 'the reward is of the last call, and no call has its reply' };
      if (call === undefined)
        return { problem: `the reward is of ${JSON.stringify(short(ofCall.call, 40))}, which is the id of no reply` };
      callRewards.set(call, ofCall.reward);
      return { took: { call, reward: ofCall.reward } };
    },
  });
  return {
    answer: endpoint.answer,
    close: endpoint.close,
    async ended(own) {
      const { code, said, tail, cut: late } = await Promise.race([failing, own]);
      await Promise.race([failing, endpoint.settled()]);
      cut = late ?? cut;
      return {
        code,
        tail,
        said: joinLastWords(posted, said),
        ...(callRewards.size > 0 && { callRewards: Object.fromEntries(callRewards) }),
        ...(cut !== undefined && { cut }),
        last: endpoint.last(),
        abandoned: endpoint.abandoned(),
        unmade: endpoint.unmade(),
      };
    },
  };
}

export const timeoutError = (who: string, { timeoutSeconds }: ProgramRecord): AgentError =>
  new AgentError(`${who} did not end in ${timeoutSeconds} s.`, {
    reason: 'agent-timeout',
    fix: '`--agent-timeout` gives it more seconds.',
  });
