// The module `everturn/agent`: an agent as a function. It runs as a workflow of its own, which Temporal replays after a crash:
// finished calls are not asked again, and code between them must be deterministic, as in any workflow.

import { ApplicationFailure, proxyActivities, TemporalFailure } from '@temporalio/workflow';
import {
  type AgentMessage,
  type AgentReply,
  type AgentRequest,
  callIdOf,
  callTag,
  type FunctionCall,
  type FunctionInput,
  type FunctionOutput,
  replyForm,
  replyMessage,
  requestHash,
  withReplyForm,
} from '../domain/agent/index.ts';
import type { Message, Question, Reply, Task } from './agent-task.ts';
import { mustBeReward, wholeQuestion } from './question.ts';

export type { Message, Question, Reply, Task } from './agent-task.ts';
export { type FakeReply, type FakeTask, fakeTask } from './fake-task.ts';

/** The answer that is judged, or a reward; nothing: the text of the last reply is judged. */
export type Said =
  | string
  | { readonly answer?: string | number; readonly reward?: number; readonly rewards?: Readonly<Record<string, number>> }
  | void;

interface Asking {
  askModel(call: FunctionCall): Promise<AgentReply>;
}

const RETRY = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;

/** `export default agent(async ({ row, ask }) => …)`. An error that the function throws fails its rollout. */
export function agent(play: (task: Task) => Promise<Said>): (input: FunctionInput) => Promise<FunctionOutput> {
  return async ({ row, seed, key, maxCalls, structured = 'prompt' }) => {
    const { askModel } = proxyActivities<Asking>({
      startToCloseTimeout: '2 hours',
      scheduleToCloseTimeout: '24 hours',
      heartbeatTimeout: '10 seconds',
      retry: RETRY,
    });
    const counts = new Map<string, number>();
    const calls: string[] = [];
    const asking: Promise<unknown>[] = [];
    const callRewards: Record<string, number> = {};
    let last: string | null = null;

    const ask: Task['ask'] = async (question) => {
      const request = withReplyForm(requestOf(question), structured);
      if (calls.length >= maxCalls)
        throw ApplicationFailure.nonRetryable(`The rollout may make ${maxCalls} calls.`, 'max-calls');
      const hash = requestHash(request);
      const occurrence = counts.get(hash) ?? 0;
      counts.set(hash, occurrence + 1);
      const id = callIdOf(hash, occurrence);
      calls.push(id);
      const asked = askModel({ id, hash, occurrence, request });
      asking.push(asked.catch(() => undefined));
      const reply = await asked;
      last = id;
      return replyTo(reply);
    };
    const reward: Task['reward'] = ({ id }, value) => {
      mustBeReward(id, value, (one) => calls.includes(one));
      callRewards[id] = value;
    };
    try {
      const returned = (await play({ row, seed, key, ask, reward })) ?? {};
      // A call that it did not wait for is a turn all the same.
      await Promise.all(asking);
      const said = typeof returned === 'string' ? { answer: returned } : returned;
      return { said, last, calls, ...(Object.keys(callRewards).length > 0 && { callRewards }) };
    } catch (error) {
      if (error instanceof TemporalFailure) throw error;
      const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
      const ownFrames = stack.split('\n').filter((line, i) => i === 0 || line.includes('agent:///'));
      throw ApplicationFailure.nonRetryable(message, 'agent-exited', ownFrames.join('\n'));
    }
  };
}

function requestOf(question: string | readonly Message[] | Question): AgentRequest {
  const asked = wholeQuestion(question);
  const { messages, maxTokens, stop, form, call, train } = asked;
  const tag = callTag(asked.tag);
  const tools = (asked.tools ?? []).map(({ name, description, parameters }) => ({ name, description, parameters }));
  const label = { ...(tag !== undefined && { tag }), ...(train === false && { train }) };
  const limits = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(stop && stop.length > 0 && { stop }),
    ...(call === false && { toolChoice: 'none' as const }),
  };
  const asks = {
    ...(form && {
      form: { field: 'form', ...replyForm(form === true ? 'json' : 'schema', form === true ? {} : form) },
    }),
    ...(call && { call }),
  };
  return { messages: messages.map(sent), tools, limits, stream: false, flags: [], label, asks };
}

const sent = ({ role, content, calls, callId }: Message): AgentMessage => ({
  role,
  text: content.toWellFormed(),
  ...(calls && calls.length > 0 && { calls }),
  ...(callId !== undefined && { callId }),
});

function replyTo(reply: AgentReply): Reply {
  const { call: id, text, reasoning, finish, usage } = reply;
  const { calls = [] } = replyMessage(reply);
  const message: Message = { role: 'assistant', content: text, ...(calls.length > 0 && { calls }) };
  return { id, text, reasoning, calls, finish, usage, message };
}
