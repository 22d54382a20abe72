// Calls the verbs of a run's feed. A feed that has ended, or was never started, is started: its state follows from the
// run's folder. A refusal is a UsageError with the feed's own reason; a server or worker that is away is a TemporalError.

import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { TemporalError, UsageError } from '../domain/errors.ts';
import type { FeedInput, FeedProgress, Verb } from '../domain/feed-messages.ts';
import { feedWorkflowId } from '../domain/ids.ts';
import { type Reason, REASONS } from '../domain/reasons.ts';
import { calling, isServerFailure, type Session } from './connection.ts';
import { startOptions } from './start-options.ts';

const CALL_MS = 15_000;

type Place = Pick<FeedInput, 'run' | 'out'>;

/** Starts the run's feed, or does nothing if it is open. */
export async function startFeed({ client }: Session, place: Place): Promise<void> {
  await calling(`start the feed of run "${place.run}"`, () => client.workflow.start('feed', options(place)));
}

const options = ({ run, out }: Place) =>
  startOptions({ workflowId: feedWorkflowId(run), input: { run, out }, summary: `feed of ${run}` });

/** `waitMs`: as long as the verb itself may wait. */
export async function callFeed<T>(
  { client }: Session,
  place: Place,
  verb: Verb,
  given: object,
  waitMs = 0,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + CALL_MS + waitMs, () =>
      client.workflow.executeUpdateWithStart<() => Promise<unknown>, T, [object]>(verb, {
        args: [given],
        startWorkflowOperation: new WithStartWorkflowOperation<() => Promise<unknown>>('feed', options(place) as never),
      }),
    );
  } catch (error) {
    throw translated(place.run, verb, error);
  }
}

/** The entries that the feed of this folder counts; undefined if none answers. `since`: epoch ms of the run's creation. */
export async function entriesOfFeed(session: Session, { run, out }: Place, since: number): Promise<number | undefined> {
  const { client } = session;
  const handle = client.workflow.getHandle(feedWorkflowId(run));
  try {
    const { memo, startTime } = await client.withDeadline(Date.now() + QUERY_MS, () => handle.describe());
    // Another folder's, or that of an earlier run of this name.
    if (memo?.['out'] !== out || startTime.getTime() < since) return undefined;
    return (await feedProgressOf(session, run))?.entries;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError) && !isServerFailure(error)) throw error;
    return undefined;
  }
}

/** Null while it opens; undefined if there is none, or nobody answers. */
export async function feedProgressOf(
  { client }: { readonly client: Client },
  run: string,
): Promise<FeedProgress | null | undefined> {
  try {
    return await client.withDeadline(Date.now() + QUERY_MS, () =>
      client.workflow.getHandle(feedWorkflowId(run)).query<FeedProgress | null>('progress'),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError) && !isServerFailure(error)) throw error;
    return undefined;
  }
}
const QUERY_MS = 3000;

function translated(run: string, verb: string, error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError) {
    const { cause } = error;
    const type = cause instanceof ApplicationFailure ? cause.type : undefined;
    const reason = (REASONS.usage as readonly string[]).includes(type ?? '') ? (type as Reason<'usage'>) : 'refused';
    const message = cause?.message ?? error.message;
    // The message ends with the advice, for clients that read nothing else.
    const fix = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (typeof fix !== 'string' || !message.endsWith(fix)) return new UsageError(message, { reason, cause: error });
    return new UsageError(message.slice(0, message.length - fix.length).trimEnd(), { reason, fix, cause: error });
  }
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
    return new TemporalError(`The feed of run "${run}" did not answer \`${verb}\` in time.`, {
      reason: 'no-worker',
      fix: 'Start a worker with `everturn worker`; the request may take effect then, and repeating it is harmless.',
      retryable: true,
    });
  }
  return new TemporalError(`Temporal could not ask the feed of run "${run}" to ${verb}.`, {
    reason: 'temporal-call',
    retryable: true,
    cause: error,
  });
}
