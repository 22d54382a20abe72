// For whoever launches and steers: connect, start a run, follow it, steer it. A run's workflow id is its
// name, so that starting twice attaches. Calls to a restarting or overloaded server are repeated for a
// while; what stays wrong comes as a TemporalError.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { TemporalError, UsageError } from './domain/errors.ts';
import { TASK_QUEUE } from './domain/queues.ts';
import type {
  CollectionInput,
  CollectionProgress,
  CollectionResult,
  RolloutProgress,
  Tuning,
} from './workflows/messages.ts';

export interface Address {
  readonly address: string;
  readonly namespace: string;
}

export interface Session extends Address {
  readonly client: Client;
  close(): Promise<void>;
}

export type Steering = 'pause' | 'resume' | 'stop';

export type WorkflowState = 'running' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed-out' | 'absent';

const RUN = defineSearchAttributeKey('EverturnRun', SearchAttributeType.KEYWORD);
const SUMMARY_CHARS = 180;

/** Connects to `address`, or to the cluster that TEMPORAL_* or temporal.toml names. */
export async function connect(address?: Address): Promise<Session> {
  const config = loadClientConnectConfig();
  const options = address ? { address: address.address } : (config.connectionOptions ?? {});
  const namespace = address?.namespace ?? config.namespace ?? 'default';
  const where = options.address ?? 'localhost:7233';
  try {
    const connection = await Connection.connect({ ...options, connectTimeout: '5 seconds' });
    const client = new Client({ connection, namespace });
    return { client, address: where, namespace, close: () => connection.close() };
  } catch (cause) {
    throw new TemporalError(`The Temporal server at ${where} cannot be reached.`, {
      reason: 'temporal-unreachable',
      fix: 'Is it running, and is TEMPORAL_ADDRESS right? Without TEMPORAL_ADDRESS, Everturn runs its own.',
      retryable: true,
      cause,
    });
  }
}

/** True when the environment or temporal.toml names a cluster: then Everturn starts none of its own. */
export function namesCluster(): boolean {
  return loadClientConnectConfig().connectionOptions?.address !== undefined;
}

/** Starts the run's collection, or attaches to it where it is open. `summary` is its title in the UI. */
export async function startCollection({ client }: Session, input: CollectionInput, summary: string): Promise<void> {
  await calling(`start run "${input.run}"`, () =>
    client.workflow.start('collection', {
      workflowId: input.run,
      taskQueue: TASK_QUEUE,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: summary.slice(0, SUMMARY_CHARS),
      typedSearchAttributes: [{ key: RUN, value: input.run }],
    }),
  );
}

/** Whether the run's workflow is open, and how it closed if not. */
export async function workflowState({ client }: Session, workflowId: string): Promise<WorkflowState> {
  try {
    const { status } = await calling(`describe "${workflowId}"`, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    switch (status.name) {
      case 'RUNNING':
      case 'CONTINUED_AS_NEW':
      case 'PAUSED':
        return 'running';
      case 'COMPLETED':
        return 'completed';
      case 'CANCELLED':
        return 'cancelled';
      case 'TERMINATED':
        return 'terminated';
      case 'TIMED_OUT':
        return 'timed-out';
      default:
        return 'failed';
    }
  } catch (error) {
    if (causeOf(error) instanceof WorkflowNotFoundError) return 'absent';
    throw error;
  }
}

/** Answered by a worker: needs one that is up. Undefined when none answers in time. */
export async function progressOf({ client }: Session, run: string): Promise<CollectionProgress | undefined> {
  return asked<CollectionProgress>(client, run);
}

export async function rolloutProgressOf({ client }: Session, workflowId: string): Promise<RolloutProgress | undefined> {
  return asked<RolloutProgress>(client, workflowId);
}

async function asked<T>(client: Client, workflowId: string): Promise<T | undefined> {
  try {
    return await client.withDeadline(Date.now() + QUERY_MS, () =>
      client.workflow.getHandle(workflowId).query<T>('progress'),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw error;
    return undefined;
  }
}
const QUERY_MS = 3000;

export async function steer({ client }: Session, run: string, how: Steering): Promise<void> {
  await updating(run, how, () => client.workflow.getHandle(run).executeUpdate<void, []>(how));
}

export async function tuneRun({ client }: Session, run: string, tuning: Tuning): Promise<void> {
  await updating(run, 'tune', () =>
    client.workflow.getHandle(run).executeUpdate<void, [Tuning]>('tune', { args: [tuning] }),
  );
}

/** The result of the run's collection; throws what the workflow failed of. */
export async function resultOf({ client }: Session, run: string): Promise<CollectionResult> {
  return client.workflow.getHandle(run).result() as Promise<CollectionResult>;
}

export interface RunSummary {
  readonly run: string;
  readonly status: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
}

/** Every run that the server still knows, newest first. */
export async function listRuns({ client }: Session): Promise<RunSummary[]> {
  const runs = new Map<string, RunSummary>();
  for await (const found of client.workflow.list({ query: 'WorkflowType = "collection"' })) {
    if (runs.has(found.workflowId)) continue;
    runs.set(found.workflowId, {
      run: found.workflowId,
      status: found.status.name.toLowerCase(),
      startedAt: found.startTime.toISOString(),
      closedAt: found.closeTime?.toISOString() ?? null,
    });
  }
  return [...runs.values()];
}

async function updating(run: string, name: string, update: () => Promise<void>): Promise<void> {
  try {
    await calling(`${name} run "${run}"`, update);
  } catch (error) {
    const cause = causeOf(error);
    if (cause instanceof WorkflowUpdateFailedError) {
      throw new UsageError(`Run "${run}" refused to ${name}: ${cause.cause?.message ?? cause.message}.`, {
        reason: 'refused',
        cause,
      });
    }
    if (cause instanceof WorkflowNotFoundError) {
      throw new UsageError(`Run "${run}" is not running.`, {
        reason: 'run-not-open',
        fix: '`everturn list` shows the runs.',
        cause,
      });
    }
    throw error;
  }
}

/** One call to the server, repeated while it is away; the workflow id makes repeating harmless. */
async function calling<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await patiently(call);
  } catch (cause) {
    throw new TemporalError(`Temporal could not ${what}.`, { reason: 'temporal-call', cause });
  }
}

const TRIES = 10;
const MAX_PAUSE_MS = 3000;

async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await call();
    } catch (error) {
      if (n >= TRIES || !isPassing(error)) throw error;
      await sleep(Math.min(200 * 2 ** (n - 1), MAX_PAUSE_MS));
    }
  }
}

function isPassing(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && [1, 4, 8, 10, 14].includes(cause.code);
}

function causeOf(error: unknown): unknown {
  return error instanceof TemporalError ? error.cause : error;
}
