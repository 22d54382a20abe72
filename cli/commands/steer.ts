// `everturn pause|resume|tune|cancel <run>`: one update to the run's workflow, answered by a worker.

import { existsSync } from 'node:fs';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { isSameFolder } from '../../client/temporal/feed.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import {
  describeWorkflow,
  progressOf,
  requestCancel,
  runElsewhere,
  steer,
  tuneRun,
} from '../../client/temporal/runs.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { notPlayed } from '../../library/await-run.ts';
import { homeOf } from '../../local/service/home.ts';
import { resolveOptions } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import { type Answer, command, required, text, unusable } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withLink } from '../find/link.ts';
import type { Link } from '../../local/service/link.ts';
import { locateRun, commandLine } from '../find/place.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { follow } from '../play/follow.ts';
import { plural } from '../format.ts';
import { openProgressView } from '../view/progress-view.ts';
import { outcomeLine } from '../view/summary.ts';

/** Rollouts in flight continue to their end. */
export const pause = command({
  args: RUN_ARGUMENT,
  flags: OF_RUN,
  help: 'Example:\n  everturn pause my-run',
  run: (io, given) => steered(io, given, (session, run) => steer(session, run, 'pause'), 'is paused'),
});

export const resume = command({
  args: RUN_ARGUMENT,
  flags: OF_RUN,
  help: 'Example:\n  everturn resume my-run',
  run: (io, given) => steered(io, given, (session, run) => steer(session, run, 'resume'), 'goes on'),
});

export const tune = command({
  args: RUN_ARGUMENT,
  flags: { ...OF_RUN, maxConcurrent: required(text('<n>', FIELDS.maxConcurrent.help)) },
  help: 'Example:\n  everturn tune my-run --max-concurrent 32',
  run(io, given) {
    const { maxConcurrent } = resolveOptions({ flags: { maxConcurrent: given.maxConcurrent } }).options;
    const done = `has at most ${plural(maxConcurrent, 'rollout')} in flight from now on`;
    return steered(io, given, (session, run) => tuneRun(session, run, { maxConcurrent }), done);
  },
});

async function steered(
  io: Io,
  { run: named, out }: { readonly run: string; readonly out: string },
  ask: (session: Session, run: string) => Promise<void>,
  done: string,
): Promise<Answer> {
  const place = await locateRun(io, named, out);
  const { run } = place;
  if (await knownResult(place))
    throw unusable(`Run "${run}" has ended.`, '`everturn list` shows the runs.', 'run-not-open');
  return withItsServer(io, place, async ({ session }) => {
    await ask(session, run).catch((error: unknown) => sayWhy(session, error));
    // Each of these updates writes the memo: it is what a worker that is too busy for a query has said last.
    const progress = (await progressOf(session, run)) ?? (await describeWorkflow(session, run)).memo;
    if (!progress) return { json: { run, state: null }, text: `Run "${run}" ${done}; its counts are not known yet.` };
    const { state, done: ended, total, inFlight, maxConcurrent } = progress;
    const flight = `${plural(inFlight, 'rollout')} in flight, at most ${maxConcurrent} at once`;
    return { json: progress, text: `Run "${run}" is ${state}: ${ended} of ${total} done, ${flight}.` };
  });
}

/** A server that does not know the run, or plays another one of its name, is asked nothing, nor started for it. */
function withItsServer<T>(io: Io, { run, out }: RunPlace, use: (link: Link) => Promise<T>): Promise<T> {
  const { folder, database } = homeOf(io.env);
  const local = namesCluster() ? '' : `the local service of ${folder}`;
  if (local !== '' && !existsSync(database)) throw notPlayed(run, 'absent', local);
  return withLink(io, async (link) => {
    const found = await describeWorkflow(link.session, run);
    const other = found.out === null || isSameFolder(found.out, out) ? null : found.out;
    if (other !== null && found.state === 'running') throw runElsewhere(run, other);
    if (other !== null || found.state === 'absent')
      throw notPlayed(run, 'absent', local || `the server at ${link.session.address}`);
    return use(link);
  });
}

/** A cluster may have workers, none of which gets new work. */
async function sayWhy(session: Session, error: unknown): Promise<never> {
  const noWorker = error instanceof TemporalError && error.reason === 'no-worker';
  const fix = noWorker ? await misrouted(session) : undefined;
  if (fix === undefined) throw error;
  throw new TemporalError((error as TemporalError).message, { reason: 'no-worker', fix });
}

/** Rollouts in flight end as cancelled; finished turns stay stored. */
export const cancel = command({
  args: RUN_ARGUMENT,
  flags: OF_RUN,
  help: 'Example:\n  everturn cancel my-run',
  async run(io, { run: named, out }) {
    const place = await locateRun(io, named, out);
    const { run } = place;
    const before = await knownResult(place);
    if (!before) {
      const end = await withItsServer(io, place, async (link) => {
        await askToStop(io, link.session, run);
        return follow(io, link, run, openProgressView(io, false));
      });
      if (end === 'detached') {
        say(io, `The run still ends; \`${commandLine(io, place, 'status')}\` shows its progress.`);
        return EXIT.detached;
      }
    }
    const result = before ?? (await knownResult(place));
    const what = before ? 'had already ended' : 'is cancelled';
    return {
      json: { run, wasEnded: before !== undefined, ...result },
      text: `Run "${run}" ${what}. ${result ? outcomeLine(result) : 'It has no result.'}`,
    };
  },
});

/** Through a worker, in order; if none answers, through the server, which informs the next worker. */
async function askToStop(io: Io, session: Session, run: string): Promise<void> {
  try {
    await steer(session, run, 'stop');
  } catch (error) {
    // If it has just ended, following it shows that.
    if (error instanceof UsageError && error.reason === 'run-not-open') return;
    if (!(error instanceof TemporalError) || error.reason !== 'no-worker') throw error;
    say(io, 'No worker answers; the server will end the run through the next one.');
    await requestCancel(session, run);
  }
}
