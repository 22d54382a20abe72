// One attempt of an agent that is a function: the calls of its workflow are answered as those of a program, without an endpoint.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  agentFunctionQueue,
  type AgentReply,
  type Cut,
  CUTS,
  type FunctionCall,
  type FunctionInput,
  type FunctionOutput,
  idempotencyKey,
  parseLastWords,
  programTitle,
} from '../domain/agent/index.ts';
import { AgentError } from '../domain/errors/errors.ts';
import { bundledCodeFile } from '../environments/processes/bundle.ts';
import type { AgentAttempt, AgentEnded, RefusedCall } from './agents.ts';
import { timeoutError } from './attempt.ts';

/** Runs workflows of functions, each by the code in a file. */
export interface FunctionHost {
  play(of: {
    readonly workflowId: string;
    readonly taskQueue: string;
    readonly code: string;
    readonly input: FunctionInput;
    readonly timeoutSeconds: number;
    readonly title: string;
    readonly answer: (call: FunctionCall) => Promise<AgentReply | RefusedCall>;
    readonly signal: AbortSignal;
  }): Promise<FunctionOutput | { readonly failed: string; readonly type: string }>;
}

export async function playFunction(attempt: AgentAttempt, runFolder: string, host: FunctionHost): Promise<AgentEnded> {
  const { id, record, program, row, seed, signal } = attempt;
  const recorded = attempt.recorded.map(({ reply }) => reply);
  const replies = new Map(recorded.map((reply) => [reply.call, reply]));
  const pending = new Map<string, ReturnType<AgentAttempt['answer']>>();
  let cut: Cut | undefined;
  const failing = new AbortController();
  const { structured } = program;
  const title = programTitle(program);
  const code = join(runFolder, bundledCodeFile(program.fingerprint));
  const found = createHash('sha256')
    .update(await readFile(code))
    .digest('hex');
  if (found !== program.fingerprint) {
    const problem = `The code of the agent ${title} has the hash ${found}.`;
    throw new AgentError(problem, { reason: 'agent-changed', fix: 'Bring its file in the run back.', retryable: true });
  }

  async function answer(call: FunctionCall): Promise<AgentReply | RefusedCall> {
    const known = replies.get(call.id);
    if (known) return known;
    const { request } = call;
    const claimed = { call: { ...call, delivery: 'open' }, is: 'new' } as const;
    const begun = pending.get(call.id) ?? attempt.answer(claimed, request, '/chat/completions');
    pending.set(call.id, begun);
    try {
      const reply = await begun;
      if (!('refused' in reply)) replies.set(call.id, reply);
      else if (reply.refused === 'context-length') cut = reply.refused;
      return reply;
    } catch (error) {
      if (error instanceof AgentError) failing.abort(error);
      throw error;
    } finally {
      pending.delete(call.id);
    }
  }

  const ended = await host.play({
    workflowId: `${idempotencyKey(id)}/agent-${record.slice(0, 12)}`,
    taskQueue: agentFunctionQueue(program.fingerprint),
    ...{ code, title, answer },
    input: { ...{ row, seed, key: idempotencyKey(id), maxCalls: program.maxCalls }, ...(structured && { structured }) },
    timeoutSeconds: program.timeoutSeconds,
    signal: AbortSignal.any([signal, failing.signal]),
  });
  if ('failed' in ended) {
    if (ended.type === 'timeout') throw timeoutError(`The agent ${title}`, program);
    // An error of its own is its end, whatever was refused before.
    const refused = CUTS.find((one) => one === ended.type);
    return { code: 1, said: {}, tail: ended.failed, ...(refused && { cut: refused }), last: null, abandoned: [] };
  }
  const { said, last, calls, callRewards } = ended;
  const read = Object.keys(said as object).length === 0 ? { said: {} } : parseLastWords(said);
  if ('problem' in read)
    throw new AgentError(`The value of the agent ${title} ${read.problem}.`, { reason: 'agent-broken' });
  const abandoned = recorded.flatMap(({ call }) => (calls.includes(call) ? [] : [call]));
  return {
    code: 0,
    tail: '',
    said: read.said,
    ...(callRewards && { callRewards }),
    ...(cut && { cut }),
    last,
    abandoned,
  };
}
