// Follows a run on the terminal and shows how it ended, or how to attach again after Ctrl-C.

import { resultOf, type WorkflowState } from '../../client/temporal/runs.ts';
import { InternalError, TemporalError } from '../../domain/errors/errors.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { follow } from './follow.ts';
import { printJson, say, type Io } from '../io.ts';
import { type Link, workflowUrl } from '../find/link.ts';
import { programName, type RunPlace, runArgument } from '../find/place.ts';
import { openProgressView } from '../view/progress-view.ts';
import { openWatchView } from '../view/watch-view.ts';
import { knownResult } from '../find/recorded.ts';
import { showEnding } from './ending.ts';
import { viewerBeside } from './viewer-beside.ts';

export interface FollowOptions {
  readonly maxFailed: number;
  readonly json: boolean;
  /** Draws on the whole terminal, where there is one. */
  readonly screen?: boolean;
  /** On a terminal, the viewer is started beside the local service, and its address is printed. */
  readonly viewer?: boolean;
}

export async function followToEnd(io: Io, link: Link, place: RunPlace, options: FollowOptions): Promise<ExitCode> {
  const view = options.screen && fillsScreen(io) ? openWatchView(io, place) : openProgressView(io, options.json);
  let startedAt: number | null = null;
  const remember = (progress: CollectionProgress) => {
    startedAt ??= progress.startedAt || null;
    view.progress(progress);
  };
  const end = await follow(io, link, place.run, { ...view, progress: remember }, place.store.folder);
  if (end === 'detached') return detached(io, place, options.json);
  const tookMs = startedAt === null ? null : io.now() - startedAt;
  const result =
    (await knownResult(place)) ?? (end === 'completed' ? await resultOf(link.session, place.run) : undefined);
  if (!result) throw await closedEarly(io, link, place, end);
  const url = workflowUrl(link, place.run);
  const wanted = options.viewer === true && link.local && io.out.isTTY === true && !options.json;
  const viewer = wanted ? await viewerBeside(io.env, place) : null;
  const { maxFailed, json } = options;
  return showEnding(io, { place, result, maxFailed, url, local: link.local, viewer, tookMs }, json);
}

/** A terminal that can be drawn on. */
export function fillsScreen(io: Io): boolean {
  return io.err.isTTY === true && io.out.isTTY === true && io.env['TERM'] !== 'dumb';
}

function detached(io: Io, place: RunPlace, json: boolean): ExitCode {
  const me = programName(io);
  const run = runArgument(io, place);
  say(io, `Detached. The run continues; \`${me} watch ${run}\` attaches again, \`${me} cancel ${run}\` ends it.`);
  if (json) printJson(io, { event: 'detached', run: place.run, folder: place.store.folder });
  return EXIT.detached;
}

async function closedEarly(io: Io, link: Link, place: RunPlace, end: WorkflowState): Promise<Error> {
  const name = `The workflow of run "${place.run}"`;
  const again = 'Finished turns stay stored: the command that started the run plays the rest.';
  if (end === 'absent') {
    return new TemporalError(`${name} is not known to the server at ${link.session.address}.`, {
      reason: 'workflow-absent',
      fix: again,
    });
  }
  if (end !== 'failed') return new TemporalError(`${name} was ${end}.`, { reason: `workflow-${end}`, fix: again });
  const cause = await resultOf(link.session, place.run).then(
    () => undefined,
    (error: unknown) => error,
  );
  return new InternalError(`${name} failed.`, { reason: 'workflow-failed', fix: again, cause });
}
