// The task queues that a worker serves: workflows with light activities, generation, environments of the user's own, agents, and,
// with a proven sandbox, code.
// One that ends ends all. After `stop` each finishes what it has begun, within `drainMs`; then its activities are
// cancelled, and retried by another worker.

import { availableParallelism } from 'node:os';
import {
  GracefulShutdownPeriodExpiredError,
  IllegalStateError,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import {
  AGENT_QUEUE,
  CODE_QUEUE,
  ENVIRONMENT_QUEUE,
  functionQueue,
  GENERATE_QUEUE,
  SESSION_QUEUE,
  TASK_QUEUE,
} from '../../domain/names/queues.ts';
import { deploymentOptions, type DeploymentVersion } from './deployment.ts';
import type { WorkerConnection } from './worker-connection.ts';
import { workerIdentity } from './workers.ts';

interface QueueOptions {
  /** All by name: `generate` has a queue of its own; so have, beside the common one, those that may be slow. */
  readonly activities: Record<'generate' | 'begin' | 'evaluate' | 'endEnvironment' | 'callTool' | 'runAgent', object>;
  readonly workflowBundle: string;
  /** Concurrent generations. */
  readonly slots: number;
  readonly judgesCode: boolean;
  /** Hands out sessions to agents that run elsewhere. */
  readonly servesSessions: boolean;
  readonly drainMs: number;
  /** Undefined: all workers share all work. */
  readonly version?: DeploymentVersion | undefined;
}

interface Queues {
  /** Resolves when all are drained; rejects if one failed. */
  readonly done: Promise<void>;
  stop(): void;
  /** Null while all take work; else why not. */
  problem(): string | null;
}

/** Seldom enough to be cheap, often enough that a busy machine misses no 10 s deadline. */
const HEARTBEAT = '3 seconds';
/** Calls of all environments together: one that hangs holds up its own calls, and no other's. */
const ENVIRONMENT_CALLS = 256;
/** Programs of agents, each a process of its own, that mostly wait for the model. */
const AGENTS = 64;
/** Sessions are no more than a few variables, and many of them wait for an agent. */
const SESSIONS = 1000;
/**
 * Calls of runs, feeds and updates of weights mostly wait, a day if need be: a few more cost nothing, and a hundred
 * that wait must not hold up the next run.
 */
const RUN_CALLS = 1000;
/** The time from the end of draining to the forced end. */
const FORCE_MS = 8_000;

export async function openQueues(
  { createWorker, untilAnswered }: Pick<WorkerConnection, 'createWorker' | 'untilAnswered'>,
  { activities, workflowBundle, slots, judgesCode, servesSessions, drainMs, version }: QueueOptions,
): Promise<Queues> {
  const { generate, ...light } = activities;
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    identity: workerIdentity(slots),
    shutdownGraceTime: drainMs,
    shutdownForceTime: drainMs + FORCE_MS,
    ...(version && { workerDeploymentOptions: deploymentOptions(version) }),
  };
  const queue = (options: WorkerOptions) => untilAnswered(() => createWorker({ ...common, ...options }));
  const workers = await Promise.all([
    queue({
      taskQueue: TASK_QUEUE,
      workflowBundle: { codePath: workflowBundle },
      activities: light,
      maxConcurrentActivityTaskExecutions: RUN_CALLS,
      // After this time another worker takes over the runs of a dead one.
      stickyQueueScheduleToStartTimeout: '3 seconds',
      maxCachedWorkflows: cachedWorkflows(slots),
    }),
    queue({
      taskQueue: GENERATE_QUEUE,
      activities: { generate },
      maxConcurrentActivityTaskExecutions: slots,
      maxHeartbeatThrottleInterval: HEARTBEAT,
    }),
    queue({
      taskQueue: ENVIRONMENT_QUEUE,
      activities: {
        begin: light.begin,
        evaluate: light.evaluate,
        endEnvironment: light.endEnvironment,
        callTool: light.callTool,
      },
      maxConcurrentActivityTaskExecutions: ENVIRONMENT_CALLS,
      maxHeartbeatThrottleInterval: HEARTBEAT,
    }),
    queue({
      taskQueue: AGENT_QUEUE,
      activities: { runAgent: light.runAgent },
      maxConcurrentActivityTaskExecutions: AGENTS,
      maxHeartbeatThrottleInterval: HEARTBEAT,
    }),
    ...(servesSessions
      ? [
          queue({
            taskQueue: SESSION_QUEUE,
            activities: { runAgent: light.runAgent },
            maxConcurrentActivityTaskExecutions: SESSIONS,
            maxHeartbeatThrottleInterval: HEARTBEAT,
          }),
        ]
      : []),
    ...(judgesCode
      ? [
          queue({
            taskQueue: CODE_QUEUE,
            activities: { evaluate: light.evaluate, callTool: light.callTool },
            maxConcurrentActivityTaskExecutions: availableParallelism(),
            maxHeartbeatThrottleInterval: HEARTBEAT,
          }),
        ]
      : []),
  ]);
  const served = workers.map(serve);
  const stop = () => served.forEach((one) => one.stop());
  return {
    done: Promise.all(served.map((one) => one.done.finally(stop))).then(() => undefined),
    stop,
    problem() {
      const states = new Set(workers.map((worker) => worker.getState()).filter((state) => state !== 'RUNNING'));
      return states.size === 0 ? null : `its queues are ${[...states].join(', ')}`;
    },
  };
}

/** A program's calls of one rollout come one after the other; those of several side by side. */
const PROGRAM_CALLS = 256;

/** The queue of a program that answers for functions of its own. It ends within seconds: what was in flight is asked again. */
export async function openProgramQueue(
  { createWorker, untilAnswered }: WorkerConnection,
  run: string,
  { activities, identity }: { readonly activities: object; readonly identity: string },
): Promise<Pick<Queues, 'done' | 'stop'>> {
  const worker = await untilAnswered(() =>
    createWorker({
      identity,
      taskQueue: functionQueue(run),
      activities,
      maxConcurrentActivityTaskExecutions: PROGRAM_CALLS,
      maxHeartbeatThrottleInterval: HEARTBEAT,
      shutdownGraceTime: 0,
      shutdownForceTime: FORCE_MS,
    }),
  );
  return serve(worker);
}

/**
 * One that was asked to stop and is ended by force has ended too: another worker tries again what it had in hand. The SDK
 * then throws the first of the two errors or, with results on their way, the second.
 */
function serve(worker: Worker): Pick<Queues, 'done' | 'stop'> {
  let asked = false;
  const done = worker.run().catch((error: unknown) => {
    const forced = error instanceof GracefulShutdownPeriodExpiredError || error instanceof IllegalStateError;
    if (!(asked && forced)) throw error;
  });
  const stop = () => {
    asked = true;
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return { done, stop };
}

/**
 * Workflows in the cache are not replayed when their answer arrives. With more in flight than the cache holds, the
 * evicted one is always the next one needed. The rest is for collections.
 */
function cachedWorkflows(slots: number): number {
  return Math.max(1000, slots + 100);
}
