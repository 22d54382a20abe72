// Follows a run until its workflow closes, while server, worker or connection may come and go: shows the cause of a
// wait, and restarts the local service if it has ended.

import { explain } from '../../domain/errors/errors.ts';
import { printProgress } from '../../local/machine/progress.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { progressOf, awaitResult } from '../../client/temporal/runs.ts';
import { type Io, printJson, say } from '../io.ts';
import { type Link, workflowUrl } from '../../local/service/link.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { silenceOf } from '../../run/require-worker.ts';
import { type ProgressView, openProgressView } from '../view/progress-view.ts';
import { notPlayed } from '../../library/await-run.ts';
import { type Closed, type Looks, untilClosed } from '../../library/await-workflow.ts';
import { localDiskTrouble, troubleOf } from '../../library/trouble.ts';
import type { Answer } from '../command.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { commandLine } from '../../library/command-line.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { showEnding } from './ending.ts';
import { viewerBeside } from './viewer-beside.ts';

const POLL_MS = 500;
/** A restart of server or worker usually takes less, and is then not shown. */
const PATIENCE_MS = 4_000;
/** Time without progress after which the cause is searched for. */
const STILL_MS = 15_000;
/** Time without progress after which the disk is tried, which takes no server; and the pause between tries. */
const DISK_MS = 5_000;

/** How the run's workflow closed; `detached` if the user left before. `folder`: its disk is tried while nothing moves. */
export async function follow(
  io: Io,
  link: Link,
  run: string,
  view: ProgressView,
  folder: string | null = null,
  everyMs = POLL_MS,
): Promise<Closed | 'detached'> {
  const leaving = { signal: io.interrupted(), now: io.now };
  const looks = { ...looksAt(io, link, run, view, folder), everyMs };
  return untilClosed(leaving, link, run, looks).finally(() => view.end());
}

function looksAt(io: Io, link: Link, run: string, view: ProgressView, folder: string | null): Omit<Looks, 'everyMs'> {
  const leave = io.interrupted();
  let movedMs = io.now();
  let seen = '';
  let toldAt = 0;
  let why: string | null = null;
  let [diskMs, disk]: [number, string | null] = [io.now(), null];
  const diskSince = async (sinceMs: number): Promise<string | null> => {
    if (folder === null || io.now() - Math.max(sinceMs, diskMs) < DISK_MS) return disk;
    disk = (await localDiskTrouble(folder)) ?? null;
    diskMs = io.now();
    return disk;
  };
  const printBuild = printProgress(io.err);
  return {
    onStep(step) {
      if (step.kind === 'build') printBuild(step);
      else if (step.kind === 'step') view.note(step.text);
    },
    async look(memo) {
      // A worker that is too busy to answer the query still writes the memo.
      const news = memo && memo.toldAt > toldAt ? memo : undefined;
      const progress = (await progressOf(link.session, run)) ?? news;
      toldAt = Math.max(toldAt, memo?.toldAt ?? 0);
      if (!progress || leave.aborted) return false;
      const counted = JSON.stringify([progress.done, progress.state, progress.counts.turns]);
      if (counted !== seen || progress.state === 'paused') {
        [seen, movedMs, why, disk] = [counted, io.now(), null, null];
      } else if (io.now() - movedMs > STILL_MS) {
        movedMs = io.now();
        why = (await troubleOf(link.session, run, folder)) ?? null;
      } else why = (await diskSince(movedMs)) ?? why;
      view.note(why);
      view.progress(progress);
      return true;
    },
    async onSilence(sinceMs, error) {
      if (io.now() - sinceMs <= PATIENCE_MS) return;
      const away = error === undefined ? null : `Temporal does not answer (${oneCause(error)}); waiting for it.`;
      view.note((await diskSince(sinceMs)) ?? away ?? (await noAnswer(link)));
    },
  };
}

async function noAnswer(link: Link): Promise<string> {
  const { state, fix } = await silenceOf(link);
  return `${state.charAt(0).toUpperCase()}${state.slice(1)}. ${fix}`;
}

function oneCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return explain(cause).split('\n')[0]!.slice(0, 160);
}

export interface FollowOptions {
  readonly maxFailed: number;
  readonly json: boolean;
  /** With `json` the end alone is printed on stdout: progress stays on stderr. */
  readonly endAlone?: boolean;
  /** On a terminal, the viewer is started beside the local service, and its address is printed. */
  readonly viewer?: boolean;
}

export async function followToEnd(
  io: Io,
  link: Link,
  place: RunPlace,
  options: FollowOptions,
): Promise<Answer | ExitCode> {
  const view = openProgressView(io, options.json && !options.endAlone);
  let startedAt: number | null = null;
  const remember = (progress: CollectionProgress) => {
    startedAt ??= progress.startedAt || null;
    view.progress(progress);
  };
  const end = await follow(io, link, place.run, { ...view, progress: remember }, place.store.folder);
  if (end === 'detached') return detached(io, place, options);
  const tookMs = startedAt === null ? null : io.now() - startedAt;
  const result =
    (await knownResult(place)) ?? (end === 'completed' ? await awaitResult(link.session, place.run) : undefined);
  if (!result) {
    const cause =
      end === 'failed' ? await awaitResult(link.session, place.run).catch((error: unknown) => error) : undefined;
    throw notPlayed(place.run, end, `the server at ${link.session.address}`, cause);
  }
  const url = workflowUrl(link, place.run);
  const wanted = options.viewer === true && link.local && io.out.isTTY === true && !options.json;
  const viewer = wanted ? await viewerBeside(io.env, place.out, [place.run]) : null;
  const { maxFailed, json } = options;
  return showEnding(io, { place, result, maxFailed, url, local: link.local, viewer, tookMs }, json);
}

/** The command that follows the run to the same exit code. */
export function followLine(io: Io, place: RunPlace, { maxFailed }: Pick<FollowOptions, 'maxFailed'>): string {
  const most = maxFailed === DEFAULT_OPTIONS.maxFailed ? [] : ['--max-failed', String(maxFailed)];
  return commandLine(io, place, 'status', '--follow', ...most);
}

function detached(io: Io, place: RunPlace, options: FollowOptions): ExitCode {
  const [again, end] = [followLine(io, place, options), commandLine(io, place, 'cancel')];
  say(io, `Detached. The run continues; \`${again}\` attaches again, \`${end}\` ends it.`);
  if (options.json) printJson(io, { event: 'detached', run: place.run, folder: place.store.folder });
  return EXIT.detached;
}
