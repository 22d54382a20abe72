// Steers a run that is played: one update to its workflow, answered by a worker. A server that does not know the run, or plays
// another one of its name, is asked nothing; nor is a local service started for it that has never played anything.

import { existsSync } from 'node:fs';
import { namesCluster } from '../client/temporal/cluster-settings.ts';
import { isSameFolder } from '../client/temporal/feed.ts';
import { misrouted } from '../client/temporal/routing.ts';
import { describeWorkflow, progressOf, requestCancel, runElsewhere, steer, tuneRun } from '../client/temporal/runs.ts';
import type { Session } from '../client/temporal/connection.ts';
import { TemporalError, UsageError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { CollectionProgress, MemoProgress, Tuning } from '../domain/run/messages.ts';
import { homeOf } from '../local/service/home.ts';
import { withLink } from '../local/service/link.ts';
import { knownResult, type RunPlace } from '../run/place.ts';
import { notPlayed } from './await-run.ts';
import type { Around } from './check.ts';

/** The run's progress then; null where it is not known yet. */
export async function steerRun(
  place: RunPlace,
  around: Around,
  how: 'pause' | 'resume' | Tuning,
): Promise<CollectionProgress | MemoProgress | null> {
  const { run } = place;
  if (await knownResult(place))
    throw unusable(`Run "${run}" has ended.`, '`everturn list` shows the runs.', 'run-not-open');
  return withItsServer(place, around, async (session) => {
    const asked = typeof how === 'string' ? steer(session, run, how) : tuneRun(session, run, how);
    await asked.catch((error: unknown) => sayWhy(session, error));
    // Each of these updates writes the memo: it is what a worker that is too busy for a query has said last.
    return (await progressOf(session, run)) ?? (await describeWorkflow(session, run)).memo;
  });
}

/**
 * Asks for the run's end: through a worker, in order; if none answers, through the server, which informs the next worker. A run that
 * has ended stays as it is.
 */
export async function stopRun(place: RunPlace, around: Around): Promise<'ended' | 'asked' | 'no-worker'> {
  const { run } = place;
  if (await knownResult(place)) return 'ended';
  return withItsServer(place, around, async (session) => {
    try {
      await steer(session, run, 'stop');
    } catch (error) {
      // If it has just ended, waiting for its end shows that.
      if (error instanceof UsageError && error.reason === 'run-not-open') return 'asked';
      if (!(error instanceof TemporalError) || error.reason !== 'no-worker') throw error;
      await requestCancel(session, run);
      return 'no-worker';
    }
    return 'asked';
  });
}

async function withItsServer<T>(
  { run, out }: RunPlace,
  { env, onProgress = () => {} }: Around,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const { folder, database } = homeOf(env);
  const local = namesCluster() ? '' : `the local service of ${folder}`;
  if (local !== '' && !existsSync(database)) throw notPlayed(run, 'absent', local);
  return withLink({ env, onProgress }, async ({ session }) => {
    const found = await describeWorkflow(session, run);
    const other = found.out === null || isSameFolder(found.out, out) ? null : found.out;
    if (other !== null && found.state === 'running') throw runElsewhere(run, other);
    if (other !== null || found.state === 'absent')
      throw notPlayed(run, 'absent', local || `the server at ${session.address}`);
    return use(session);
  });
}

/** A cluster may have workers, none of which gets new work. */
async function sayWhy(session: Session, error: unknown): Promise<never> {
  const noWorker = error instanceof TemporalError && error.reason === 'no-worker';
  const fix = noWorker ? await misrouted(session) : undefined;
  if (fix === undefined) throw error;
  throw new TemporalError((error as TemporalError).message, { reason: 'no-worker', fix });
}
