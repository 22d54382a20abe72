// Waits for news of a run that is being played: its folder is looked at again and again, and the server is asked only after a
// while without news. A run that nobody plays is an error, never an endless wait.

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { namesCluster } from '../client/temporal/cluster-settings.ts';
import type { Session } from '../client/temporal/connection.ts';
import { InternalError, TemporalError } from '../domain/errors/errors.ts';
import type { WorkflowState } from '../domain/run/messages.ts';
import { orAborted } from '../local/machine/aborted-wait.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import { askServer } from './ask-server.ts';
import type { RunPlace } from '../run/place.ts';
import { isOnDisk } from '../records/place.ts';

/** Between two looks at a folder; each is some requests in a bucket. */
const LOOK_MS = 500;
const LOOK_IN_BUCKET_MS = 5_000;
/** Time without news after which the server is asked, again and again. */
const ASK_MS = 10_000;
/** A server that does not answer is waited for. */
export const GIVE_UP_MS = 15 * 60_000;

export interface WaitOptions {
  /** Ends the wait, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called while nothing happens, with what is waited for, each once: the program that answers for the run's functions, a
   * worker, a model server, a disk.
   */
  readonly onWait?: ((why: string) => void) | undefined;
}

export interface Waiting {
  /** Resolves when it is time to look again. Rejects if nobody plays the run, or with the signal's reason. */
  next(hadNews: boolean): Promise<void>;
}

export function openWaiting(
  { run, store }: RunPlace,
  { env, signal, onWait }: WaitOptions & { readonly env: Environment },
): Waiting {
  const lookMs = isOnDisk(store.folder) ? LOOK_MS : LOOK_IN_BUCKET_MS;
  // Many runs may be waited for with one signal.
  if (signal) setMaxListeners(0, signal);
  let answeredMs = Date.now();
  // At once: most often a run is either going on or not.
  let askMs = 0;
  /** A run that has just ended has its result at the next look. */
  let closed: Error | undefined;
  let told: string | undefined;

  async function tellCause(session: Session, tell: (why: string) => void): Promise<void> {
    const [{ awaitedOf }, { unanswered }] = await Promise.all([
      import('./trouble.ts'),
      import('../local/service/link.ts'),
    ]);
    const why = await awaitedOf(session, run, store.folder).catch(unanswered);
    if (why !== undefined && why !== told) tell(why);
    told = why;
  }

  async function ask(): Promise<void> {
    const state = await askServer(env, async ({ session }) => {
      const { describeWorkflow } = await import('../client/temporal/runs.ts');
      const { state: known } = await describeWorkflow(session, run, 1);
      if (onWait && known === 'running') await tellCause(session, onWait);
      return known;
    });
    const now = Date.now();
    if (state === 'running') answeredMs = now;
    else if (state !== undefined) closed = notPlayed(run, state);
    else if (!namesCluster()) closed = serviceDown(run);
    else if (now - answeredMs > GIVE_UP_MS) closed = serverAway(`run "${run}"`);
    askMs = now + ASK_MS;
  }

  return {
    async next(hadNews) {
      signal?.throwIfAborted();
      if (closed && !hadNews) throw closed;
      closed = undefined;
      if (hadNews) askMs = Math.max(askMs, Date.now() + ASK_MS);
      else if (Date.now() >= askMs) await orAborted(signal, ask());
      await sleep(lookMs, undefined, { signal }).catch(() => {});
      signal?.throwIfAborted();
    },
  };
}

const AGAIN = 'The command that started the run plays the rest: finished turns stay stored.';

/** Of a run whose workflow is not open, and which has no result. `server`: the one that was asked. */
export function notPlayed(
  run: string,
  state: Exclude<WorkflowState, 'running'>,
  server = 'the server',
  cause?: unknown,
): Error {
  const workflow = `The workflow of run "${run}"`;
  if (state === 'failed')
    return new InternalError(`${workflow} failed.`, { reason: 'workflow-failed', fix: AGAIN, cause });
  if (state !== 'absent')
    return new TemporalError(`${workflow} was ${state}.`, { reason: `workflow-${state}`, fix: AGAIN });
  return new TemporalError(`${workflow} is not known to ${server}.`, {
    reason: 'workflow-absent',
    fix: `${AGAIN} If another server plays it, name that as where it was started: EVERTURN_HOME, or TEMPORAL_ADDRESS.`,
  });
}

function serviceDown(run: string): TemporalError {
  return new TemporalError(`Nobody plays run "${run}": it has not ended, and the local service is down.`, {
    reason: 'service-ended',
    fix: '`everturn up` starts it again, and the run continues.',
    retryable: true,
  });
}

export function serverAway(followed: string, cause?: unknown): TemporalError {
  return new TemporalError(
    `Temporal did not answer for ${GIVE_UP_MS / 60_000} minutes while ${followed} was followed.`,
    {
      reason: 'temporal-away',
      fix: 'Nothing is lost: follow it again once it answers.',
      retryable: true,
      cause,
    },
  );
}
