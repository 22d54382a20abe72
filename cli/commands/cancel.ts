// `everturn cancel <run>`: ends a run. Rollouts in flight end as cancelled; finished turns stay stored.

import type { Command } from 'commander';
import { requestCancel, steer } from '../../client/temporal/runs.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { follow } from '../play/follow.ts';
import { locateRun } from '../find/locate.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { openLink } from '../find/link.ts';
import { programName, runArgument } from '../find/place.ts';
import { openProgressView } from '../view/progress-view.ts';
import { knownResult } from '../find/recorded.ts';
import { steerArguments, type SteerFlags } from '../play/steer.ts';
import { outcomeLine } from '../view/summary.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  steerArguments(command, 'everturn cancel my-run').action(async (named: string, flags: SteerFlags) =>
    exit(await cancel(io, named, flags)),
  );
}

async function cancel(io: Io, named: string, flags: SteerFlags): Promise<ExitCode> {
  const place = await locateRun(io, named, flags.out);
  let result = await knownResult(place);
  const wasFinished = result !== undefined;
  if (!result) {
    const link = await openLink(io);
    try {
      await askToStop(io, link.session, place.run);
      const view = openProgressView(io, false);
      const end = await follow(io, link, place.run, view);
      if (end === 'detached') {
        say(io, `The run still ends; \`${programName(io)} status ${runArgument(io, place)}\` shows its progress.`);
        return EXIT.detached;
      }
      result = await knownResult(place);
    } finally {
      await link.close();
    }
  }
  if (flags.json) printJson(io, { run: place.run, wasFinished, ...result });
  else {
    const what = wasFinished ? 'was already finished' : 'is cancelled';
    print(io, `Run "${place.run}" ${what}. ${result ? outcomeLine(result) : 'It has no result.'}`);
  }
  return EXIT.ok;
}

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
