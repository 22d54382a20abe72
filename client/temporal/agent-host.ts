// Plays functions of agents: for each code a worker of its own, as long as rollouts use it, and for each rollout a workflow. A
// process that dies leaves the workflow as it stands; the next that plays the rollout goes on with it.

import { Context } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, type TemporalFailure, TimeoutFailure } from '@temporalio/common';
import type { Worker } from '@temporalio/worker';
import type { AgentReply, FunctionCall, FunctionInput, FunctionOutput } from '../../domain/agent/index.ts';
import { explain } from '../../domain/errors/errors.ts';
import type { WorkerConnection } from './worker-connection.ts';

interface PlayedFunction {
  readonly workflowId: string;
  readonly taskQueue: string;
  /** A file with its code. */
  readonly code: string;
  readonly input: FunctionInput;
  readonly timeoutSeconds: number;
  readonly title: string;
  /** The same call has the same reply each time. A refusal is an error of the call, after which the function may go on. */
  readonly answer: (call: FunctionCall) => Promise<AgentReply | { readonly refused: string; readonly message: string }>;
  /** The function is ended, unless this worker only hands it on. */
  readonly signal: AbortSignal;
}

/** The end of a function by an error: its own, or a time limit. */
interface FunctionFailed {
  readonly failed: string;
  /** The type of the error: `max-calls`, `context-length`, `timeout`, or its own. */
  readonly type: string;
}

interface AgentHost {
  play(of: PlayedFunction): Promise<FunctionOutput | FunctionFailed>;
  close(): Promise<void>;
}

/** Calls in flight of one code. */
const CALLS = 512;
const IDLE_MS = 60_000;
const BEAT_MS = 3_000;

interface Hosted {
  readonly worker: Worker;
  readonly ended: Promise<void>;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

export function openAgentHost({
  session,
  createWorker,
}: Pick<WorkerConnection, 'session' | 'createWorker'>): AgentHost {
  const hosted = new Map<string, Promise<Hosted>>();
  const playing = new Map<string, PlayedFunction>();
  const { client } = session;

  async function askModel(call: FunctionCall): Promise<AgentReply> {
    const { workflowExecution } = Context.current().info;
    const played = playing.get(workflowExecution!.workflowId);
    if (!played) throw ApplicationFailure.retryable('Its rollout is not played by this worker now.', 'agent-away');
    const beating = setInterval(() => Context.current().heartbeat(), BEAT_MS);
    try {
      const reply = await Promise.race([played.answer(call), Context.current().cancelled]);
      if (!('refused' in reply)) return reply;
      throw ApplicationFailure.nonRetryable(`The request ${reply.message}.`, reply.refused);
    } finally {
      clearInterval(beating);
    }
  }

  async function started(taskQueue: string, code: string): Promise<Hosted> {
    const worker = await createWorker({
      ...{ taskQueue, workflowBundle: { codePath: code }, activities: { askModel } },
      maxConcurrentActivityTaskExecutions: CALLS,
      stickyQueueScheduleToStartTimeout: '3 seconds',
    });
    const ended = worker.run().finally(() => hosted.delete(taskQueue));
    return { worker, ended, users: 0, idle: undefined };
  }

  async function withWorker<T>(taskQueue: string, code: string, use: () => Promise<T>): Promise<T> {
    const starting = hosted.get(taskQueue) ?? started(taskQueue, code);
    hosted.set(taskQueue, starting);
    starting.catch(() => hosted.delete(taskQueue));
    const one = await starting;
    clearTimeout(one.idle);
    one.users++;
    try {
      const broken = one.ended.then((): never => {
        throw new Error('The worker of the agent has ended.');
      });
      return await Promise.race([use(), broken]);
    } finally {
      one.users--;
      const end = () => one.users === 0 && one.worker.getState() === 'RUNNING' && one.worker.shutdown();
      one.idle = setTimeout(end, IDLE_MS).unref();
    }
  }

  return {
    async play(of) {
      playing.set(of.workflowId, of);
      try {
        return await withWorker(of.taskQueue, of.code, () => resultOf(client, of));
      } finally {
        playing.delete(of.workflowId);
      }
    },
    async close() {
      const all = await Promise.allSettled([...hosted.values()]);
      for (const one of all)
        if (one.status === 'fulfilled') {
          clearTimeout(one.value.idle);
          if (one.value.worker.getState() === 'RUNNING') one.value.worker.shutdown();
          await one.value.ended.catch(() => undefined);
        }
    },
  };
}

/** Starts the workflow of a function, or finds the one that another worker started, and waits for its end. */
async function resultOf(client: Client, played: PlayedFunction): Promise<FunctionOutput | FunctionFailed> {
  const { workflowId, taskQueue, input, timeoutSeconds, title, signal } = played;
  const options = { workflowId, taskQueue, args: [input], staticSummary: title } as const;
  const limits = { workflowExecutionTimeout: `${timeoutSeconds} seconds` } as const;
  await client.workflow
    .start('agent', { ...options, ...limits, workflowIdReusePolicy: 'REJECT_DUPLICATE' })
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  const handle = client.workflow.getHandle(workflowId);
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => {
      // Another worker goes on with it.
      const isHandedOn = String((signal.reason as Error | undefined)?.message).includes('WORKER_SHUTDOWN');
      if (!isHandedOn) handle.terminate('Its rollout has ended.').catch(() => undefined);
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return (await Promise.race([handle.result(), aborted])) as FunctionOutput;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return failureOf(error);
    throw error;
  }
}

function failureOf({ cause }: WorkflowFailedError): FunctionFailed {
  if (cause instanceof TimeoutFailure) return { failed: 'its time was up', type: 'timeout' };
  let deepest = cause as TemporalFailure | undefined;
  while (deepest?.cause instanceof Error) deepest = deepest.cause as TemporalFailure;
  const { type, details } = (deepest ?? {}) as ApplicationFailure;
  const stack = typeof details?.[0] === 'string' ? details[0] : '';
  return { failed: stack === '' ? explain(deepest ?? cause) : stack, type: type ?? 'error' };
}
