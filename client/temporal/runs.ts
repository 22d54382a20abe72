// Starts, follows and steers runs. A run's workflow id is its name, so starting is idempotent: a second start attaches.
// A lasting failure is a TemporalError.

import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { calling, isServerFailure, type Session, TRIES } from './connection.ts';
import { openRollouts } from './open-rollouts.ts';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { startOptions } from './start-options.ts';
import { steeringPriority } from '../../domain/names/queues.ts';
import type {
  CollectionInput,
  CollectionProgress,
  CollectionResult,
  MemoProgress,
  Tuning,
  WorkflowState,
} from '../../domain/run/messages.ts';
import { untilSeen, wasUnseen } from './unseen.ts';

type Steering = 'pause' | 'resume' | 'stop';

const QUERY_MS = 3000;
const CALL_MS = 10_000;
const STEER_MS = 15_000;

/**
 * Starts the run's collection, or attaches to it if it is open: false then, for all but one of those that start it in the same
 * moment. `summary` is its title in the UI. Refuses one of another folder, which a client elsewhere may have started.
 */
export async function startCollection(session: Session, input: CollectionInput, summary: string): Promise<boolean> {
  const { client } = session;
  const begin = () =>
    client.workflow.start('collection', {
      ...startOptions({ workflowId: input.run, input, summary }),
      workflowIdConflictPolicy: 'FAIL',
      priority: steeringPriority(input.run),
    });
  const attach = (error: unknown): false => {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  };
  const isNew = await calling(`start run "${input.run}"`, () => begin().then(() => true, attach));
  const { out } = await describeWorkflow(session, input.run);
  if (out !== null && out !== input.out) throw runElsewhere(input.run, out);
  return isNew;
}

export function runElsewhere(run: string, out: string): UsageError {
  return new UsageError(`A run named "${run}" is running in ${out}.`, {
    reason: 'run-elsewhere',
    fix: `Give this one another --name, or --out ${out} to attach to that one.`,
  });
}

export interface WorkflowFacts {
  readonly state: WorkflowState;
  /** The folder of the run; null if its starter did not name one. */
  readonly out: string | null;
  /** The progress in a collection's memo; null if there is none. */
  readonly memo: MemoProgress | null;
}

/** Whether the run's workflow is open, or how it closed. `tries`: 1 to learn at once that the server is away. */
export async function describeWorkflow(
  { client }: Pick<Session, 'client'>,
  workflowId: string,
  tries = TRIES,
): Promise<WorkflowFacts> {
  try {
    const { status, memo } = await calling(
      `describe "${workflowId}"`,
      () => client.withDeadline(Date.now() + CALL_MS, () => client.workflow.getHandle(workflowId).describe()),
      tries,
    );
    return { state: stateOf(status.name), out: outOf(memo), memo: progressIn(memo) };
  } catch (error) {
    if (causeOf(error) instanceof WorkflowNotFoundError) return { state: 'absent', out: null, memo: null };
    throw error;
  }
}

function outOf(memo: Record<string, unknown> | undefined): string | null {
  const out = memo?.['out'];
  return typeof out === 'string' ? out : null;
}

/** Any client may start a workflow with a memo of this name: a value of another form counts as none. */
function progressIn(memo: Record<string, unknown> | undefined): MemoProgress | null {
  const progress = memo?.['progress'] as Partial<MemoProgress> | null | undefined;
  const { toldAt, total, done, inFlight, state, counts } = progress ?? {};
  const isProgress =
    [toldAt, total, done, inFlight].every((n) => typeof n === 'number') &&
    typeof state === 'string' &&
    typeof (counts?.steered ?? 0) === 'number' &&
    [counts?.judgedAt, counts?.rightAt, counts?.rightBy, counts?.failures].every(Array.isArray) &&
    [counts?.outcomes, counts?.reasons, counts?.verdicts ?? {}].every((o) => typeof o === 'object' && o !== null);
  return isProgress ? (progress as MemoProgress) : null;
}

function stateOf(status: string): WorkflowState {
  switch (status) {
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
}

/** Ids that are queried one by one in one look, at most. */
const FEW = 100;

/**
 * A child whose parent was terminated in the moment of its start may have no first task, and never gets one from the server
 * (1.31): seen in 5 of 3,000 rollouts over hundreds of terminated parents. Any signal makes one; no workflow handles this one.
 */
const WAKE = 'wake';

/**
 * The closed rollouts of a run, with how they closed, and those so old that the server deleted them; not always all.
 * The list of open ones can lag behind: ids missing from it are queried one by one, stale entries are caught at the next
 * poll.
 */
export async function closedRollouts(
  client: Client,
  run: string,
  workflowIds: readonly string[],
): Promise<Map<string, 'cancelled' | 'absent' | 'other'>> {
  const open = workflowIds.length > FEW ? await openRollouts(client, run) : new Set();
  const asked = workflowIds.filter((id) => !open.has(id)).slice(0, FEW);
  const states = await Promise.all(
    asked.map(async (id) => {
      try {
        const handle = client.workflow.getHandle(id);
        const { status, historyLength } = await handle.describe();
        const state = stateOf(status.name);
        if (state === 'running' && historyLength === 1) await handle.signal(WAKE);
        return state;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'absent';
        throw error;
      }
    }),
  );
  const closed = new Map<string, 'cancelled' | 'absent' | 'other'>();
  asked.forEach((id, i) => {
    const state = states[i]!;
    if (state !== 'running') closed.set(id, state === 'cancelled' || state === 'absent' ? state : 'other');
  });
  return closed;
}

/** Answered by a worker of the run, or of an update of its weights. Undefined if none answers in time. */
export async function progressOf<T = CollectionProgress>(
  { client }: Session,
  workflowId: string,
  runId?: string,
): Promise<T | undefined> {
  try {
    return await client.withDeadline(Date.now() + QUERY_MS, () =>
      client.workflow.getHandle(workflowId, runId).query<T>('progress'),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || !isServerFailure(error)) throw error;
    return undefined;
  }
}

/** Requests the run's end without waiting for a worker: the run ends once one is up. */
export async function requestCancel({ client }: Session, run: string): Promise<void> {
  await calling(`cancel run "${run}"`, () => client.workflow.getHandle(run).cancel());
}

/** Waits for a worker's reply; a TemporalError with reason `no-worker` if there is none. */
export async function steer({ client }: Session, run: string, how: Steering): Promise<void> {
  await updating(client, run, how, () => client.workflow.getHandle(run).executeUpdate<void, []>(how));
}

export async function tuneRun({ client }: Session, run: string, tuning: Tuning): Promise<void> {
  await updating(client, run, 'tune', () =>
    client.workflow.getHandle(run).executeUpdate<void, [Tuning]>('tune', { args: [tuning] }),
  );
}

/** The result of the run's collection; throws its workflow's failure. */
export async function awaitResult({ client }: Session, run: string): Promise<CollectionResult> {
  return client.workflow.getHandle(run).result() as Promise<CollectionResult>;
}

export interface RunSummary {
  readonly run: string;
  readonly state: WorkflowState;
  /** The folder of the run, if known. */
  readonly out: string | null;
  readonly memo: MemoProgress | null;
  readonly startedAt: string;
  readonly closedAt: string | null;
}

/** Every run that the server still has, newest first. */
export async function listRuns({ client }: Session): Promise<RunSummary[]> {
  return calling('list the runs', () => listed(client));
}

async function listed(client: Client): Promise<RunSummary[]> {
  const runs = new Map<string, RunSummary>();
  for await (const found of client.workflow.list({ query: 'WorkflowType = "collection"' })) {
    if (runs.has(found.workflowId)) continue;
    runs.set(found.workflowId, {
      run: found.workflowId,
      state: stateOf(found.status.name),
      out: outOf(found.memo),
      memo: progressIn(found.memo),
      startedAt: found.startTime.toISOString(),
      closedAt: found.closeTime?.toISOString() ?? null,
    });
  }
  return [...runs.values()];
}

/** A refusal is a UsageError, no answer a TemporalError. */
async function updating(client: Client, run: string, name: string, update: () => Promise<void>): Promise<void> {
  try {
    await client.withDeadline(Date.now() + STEER_MS, () => untilSeen(update));
  } catch (cause) {
    if (cause instanceof WorkflowUpdateFailedError && !wasUnseen(cause)) {
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
    if (cause instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      // The cause would only repeat that the deadline has passed.
      throw new TemporalError(`No worker answered within ${STEER_MS / 1000} s.`, {
        reason: 'no-worker',
        fix: 'Start one with `everturn worker`; the request may take effect then, and repeating it is harmless.',
      });
    }
    throw new TemporalError(`Temporal could not ${name} run "${run}".`, {
      reason: 'temporal-call',
      cause,
    });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof TemporalError ? error.cause : error;
}
