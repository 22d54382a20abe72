// Pause, resume and tune: one update to the run's workflow, answered by a worker.

import type { Command } from 'commander';
import { misrouted } from '../../client/temporal/routing.ts';
import { describeWorkflow, progressOf, steer, tuneRun } from '../../client/temporal/runs.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { plural } from '../view/format.ts';
import { locateRun } from '../find/locate.ts';
import { type Io, print, printJson } from '../io.ts';
import type { Tuning } from '../../domain/run/messages.ts';
import { openLink } from '../find/link.ts';
import { knownResult } from '../find/recorded.ts';

export interface SteerFlags {
  readonly out: string;
  readonly json?: boolean;
}

export type SteerRequest = { readonly how: 'pause' | 'resume' } | { readonly how: 'tune'; readonly tuning: Tuning };

export function steerArguments(command: Command, example: string): Command {
  return command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(jsonOption())
    .addHelpText('after', `\nExample:\n  ${example}`);
}

export async function steerRun(io: Io, named: string, flags: SteerFlags, request: SteerRequest): Promise<ExitCode> {
  const place = await locateRun(io, named, flags.out);
  if (await knownResult(place)) {
    throw new UsageError(`Run "${place.run}" is finished.`, {
      reason: 'run-not-open',
      fix: '`everturn list` shows the runs.',
    });
  }
  const link = await openLink(io);
  try {
    await send(link.session, place.run, request).catch((error: unknown) => sayWhy(link.session, error));
    // Each of these updates writes the memo: it is what a worker that is too busy for a query has said last.
    const progress =
      (await progressOf(link.session, place.run)) ?? (await describeWorkflow(link.session, place.run)).memo;
    if (flags.json) printJson(io, progress ?? { run: place.run, state: null });
    else if (progress) {
      const { state, done, total, inFlight, maxConcurrent } = progress;
      const flight = `${plural(inFlight, 'rollout')} in flight, at most ${maxConcurrent} at once`;
      print(io, `Run "${place.run}" is ${state}: ${done} of ${total} done, ${flight}.`);
    } else print(io, `Run "${place.run}" ${askedText(request)}; its counts are not known yet.`);
    return EXIT.ok;
  } finally {
    await link.close();
  }
}

function askedText(request: SteerRequest): string {
  if (request.how === 'tune')
    return `has at most ${plural(request.tuning.maxConcurrent, 'rollout')} in flight from now on`;
  return request.how === 'pause' ? 'is paused' : 'goes on';
}

async function send(session: Session, run: string, request: SteerRequest): Promise<void> {
  if (request.how === 'tune') await tuneRun(session, run, request.tuning);
  else await steer(session, run, request.how);
}

/** A cluster may have workers, none of which gets new work. */
async function sayWhy(session: Session, error: unknown): Promise<never> {
  const noWorker = error instanceof TemporalError && error.reason === 'no-worker';
  const fix = noWorker ? await misrouted(session) : undefined;
  if (fix === undefined) throw error;
  throw new TemporalError((error as TemporalError).message, { reason: 'no-worker', fix });
}
