// The module `everturn/agent`: an agent as a function. It runs as a workflow of its own, which Temporal replays after a crash:
// finished calls are not asked again, and code between them must be deterministic, as in any workflow.

import { ApplicationFailure, proxyActivities, TemporalFailure } from '@temporalio/workflow';
import { type AgentMessage, type AgentRequest, requestHash } from '../domain/agent/conversation.ts';
import type { FunctionCall, FunctionInput, FunctionOutput } from '../domain/agent/program.ts';
import { type AgentReply, callIdOf, replyMessage } from '../domain/agent/reply.ts';
import type { Json, JsonObject } from '../domain/text/json.ts';
import type { ToolSchema } from '../domain/tools/tool.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** The calls of tools in a message of the assistant. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: Json }[];
  /** The id of the call, in a message with its result. */
  readonly callId?: string;
}

export interface Question {
  readonly messages: readonly Message[];
  /** The model may call them; the function runs what it called. */
  readonly tools?: readonly ToolSchema[];
  /** The smaller of this and the run's limit counts. */
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
}

export interface Reply {
  readonly text: string;
  /** Empty if the model gave none. */
  readonly reasoning: string;
  readonly calls: NonNullable<Message['calls']>;
  /** `length`: cut at the limit. */
  readonly finish: 'stop' | 'length';
  /** The reply as a message: sent back in front of the next one, it lets the next context extend this one's own tokens. */
  readonly message: Message;
}

export interface Task {
  /** The row of the data set. */
  readonly row: JsonObject;
  /** The same for each replay. */
  readonly seed: number;
  /** The idempotency key of side effects: the same for every attempt of this rollout, and for no other one. */
  readonly key: string;
  /**
   * One call of the model, which becomes a turn; a text is one message of the user. Several may be asked at once. Rejects if the
   * context has no room for it, and beyond `--max-calls`.
   */
  ask(question: string | readonly Message[] | Question): Promise<Reply>;
}

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
  return async ({ row, seed, key, maxCalls }) => {
    const { askModel } = proxyActivities<Asking>({
      startToCloseTimeout: '2 hours',
      scheduleToCloseTimeout: '24 hours',
      heartbeatTimeout: '10 seconds',
      retry: RETRY,
    });
    const counts = new Map<string, number>();
    const calls: string[] = [];
    const asking: Promise<unknown>[] = [];
    let last: string | null = null;

    const ask: Task['ask'] = async (question) => {
      if (calls.length >= maxCalls)
        throw ApplicationFailure.nonRetryable(`The rollout may make ${maxCalls} calls.`, 'max-calls');
      const request = requestOf(question);
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
    try {
      const returned = (await play({ row, seed, key, ask })) ?? {};
      // A call that it did not wait for is a turn all the same.
      await Promise.all(asking);
      return { said: typeof returned === 'string' ? { answer: returned } : returned, last, calls };
    } catch (error) {
      if (error instanceof TemporalFailure) throw error;
      const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
      const ownFrames = stack.split('\n').filter((line, i) => i === 0 || line.includes('agent:///'));
      throw ApplicationFailure.nonRetryable(message, 'agent-exited', ownFrames.join('\n'));
    }
  };
}

function requestOf(question: string | readonly Message[] | Question): AgentRequest {
  const asked: Question =
    typeof question === 'string'
      ? { messages: [{ role: 'user', content: question }] }
      : 'messages' in question
        ? question
        : { messages: question };
  const { messages, tools = [], maxTokens, stop } = asked;
  const limits = { ...(maxTokens !== undefined && { maxTokens }), ...(stop && { stop }) };
  return { messages: messages.map(sent), tools, limits, stream: false, flags: [] };
}

const sent = ({ role, content, calls, callId }: Message): AgentMessage => ({
  role,
  text: content,
  ...(calls && calls.length > 0 && { calls }),
  ...(callId !== undefined && { callId }),
});

function replyTo(reply: AgentReply): Reply {
  const { text, reasoning, finish } = reply;
  const { calls = [] } = replyMessage(reply);
  const message: Message = { role: 'assistant', content: text, ...(calls.length > 0 && { calls }) };
  return { text, reasoning, calls, finish, message };
}
