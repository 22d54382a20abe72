// Calls the verbs of a run's feed. A feed that has ended, or was never started, is started: its state follows from the
// run's folder. The feed of another folder's run of the same name is refused; that of an earlier run in this folder is
// ended first. A refusal is a UsageError with the feed's own reason; a server or worker that is away is a TemporalError.

import { realpathSync } from 'node:fs';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import type { FeedInput, FeedProgress, Verb } from '../../domain/feed/messages.ts';
import { feedWorkflowId } from '../../domain/names/ids.ts';
import { type Reason, REASONS } from '../../domain/errors/reasons.ts';
import { calling, ifAnswered, type Session } from './connection.ts';
import { startOptions } from './start-options.ts';
import { untilSeen, wasUnseen } from './unseen.ts';

const CALL_MS = 15_000;

export interface FeedPlace extends Pick<FeedInput, 'run' | 'out'> {
  /** The run's `createdAt`: an open feed of another one is of a run that was removed, and made again. */
  readonly since?: number | undefined;
}

/** Starts the run's feed, or does nothing if it is open. */
export async function startFeed(session: Session, place: FeedPlace): Promise<void> {
  await mustBeOfRun(session, place);
  await calling(`start the feed of run "${place.run}"`, () => session.client.workflow.start('feed', options(place)));
}

const options = ({ run, out, since }: FeedPlace) =>
  startOptions({
    workflowId: feedWorkflowId(run),
    input: { run, out },
    summary: `feed of ${run}`,
    memo: since === undefined ? {} : { since },
  });

/** An open feed of this name must be this run's: one that is not would hand out the groups of another. */
async function mustBeOfRun({ client }: Session, place: FeedPlace): Promise<void> {
  const handle = feedOf(client, place);
  const found = await client
    .withDeadline(Date.now() + CALL_MS, () => handle.describe())
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw translated(place.run, 'answer', error);
    });
  if (found?.status.name !== 'RUNNING') return;
  const kind = ofRun(found.memo, place);
  if (kind === 'elsewhere') {
    throw new UsageError(`The feed of another run named "${place.run}" is open, of ${String(found.memo?.['out'])}.`, {
      reason: 'run-elsewhere',
      fix: `Terminate the workflow "${feedWorkflowId(place.run)}" if that run's trainer has ended (nothing is lost), or give this run another name.`,
    });
  }
  if (kind !== 'earlier') return;
  await handle.terminate('The run was removed, and made again.').catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw translated(place.run, 'end', error);
  });
}

/** Links resolved. */
export function isSameFolder(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** A feed that another client started has no memo: it is taken for this run's. */
function ofRun(memo: Record<string, unknown> | undefined, { out, since }: FeedPlace): 'own' | 'elsewhere' | 'earlier' {
  const [its, made] = [memo?.['out'], memo?.['since']];
  if (typeof its === 'string' && !isSameFolder(its, out)) return 'elsewhere';
  return typeof made === 'number' && since !== undefined && made !== since ? 'earlier' : 'own';
}

/** `waitMs`: as long as the verb itself may wait. */
export async function callFeed<T>(
  session: Session,
  place: FeedPlace,
  verb: Verb,
  given: object,
  waitMs = 0,
): Promise<T> {
  const { client } = session;
  await mustBeOfRun(session, place);
  try {
    return await client.withDeadline(Date.now() + CALL_MS + waitMs, () =>
      untilSeen(() =>
        client.workflow.executeUpdateWithStart<() => Promise<unknown>, T, [object]>(verb, {
          args: [given],
          startWorkflowOperation: new WithStartWorkflowOperation<() => Promise<unknown>>(
            'feed',
            options(place) as never,
          ),
        }),
      ),
    );
  } catch (error) {
    throw translated(place.run, verb, error);
  }
}

/** The entries that the feed of this folder counts; undefined if none answers. `since`: epoch ms of the run's creation. */
export async function entriesOfFeed(session: Session, place: FeedPlace, since: number): Promise<number | undefined> {
  const { client } = session;
  const found = await ifAnswered(() =>
    client.withDeadline(Date.now() + QUERY_MS, () => feedOf(client, place).describe()),
  );
  // One without a memo says of no folder that it is its own.
  if (typeof found?.memo?.['out'] !== 'string') return undefined;
  if (found.memo['since'] === undefined && found.startTime.getTime() < since) return undefined;
  return (await feedProgressOf(session, { ...place, since }))?.entries;
}

/** Null while it opens; undefined if there is none of this run, or nobody answers. */
export function feedProgressOf(
  { client }: { readonly client: Client },
  place: FeedPlace,
): Promise<FeedProgress | null | undefined> {
  const handle = feedOf(client, place);
  return ifAnswered(() =>
    client.withDeadline(Date.now() + QUERY_MS, async () => {
      if (ofRun((await handle.describe()).memo, place) !== 'own') return undefined;
      return handle.query<FeedProgress | null>('progress');
    }),
  );
}
const feedOf = (client: Client, { run }: FeedPlace) => client.workflow.getHandle(feedWorkflowId(run));
const QUERY_MS = 3000;

function translated(run: string, verb: string, error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError && !wasUnseen(error)) {
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
