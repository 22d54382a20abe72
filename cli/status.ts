// `everturn status <run>`: how far a run is, from the server where it answers, else from the run's folder.
// Starts nothing.

import type { Command } from 'commander';
import { describeWorkflow, progressOf, takesActivities } from '../client.ts';
import type { CollectionCounts } from '../domain/progress.ts';
import { ended } from '../domain/progress.ts';
import { TASK_QUEUE } from '../domain/queues.ts';
import { readFleet, type ServerReport, STALE_MS } from '../storage/fleet-status.ts';
import type { CollectionProgress } from '../workflows/messages.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { jsonOption, outOption } from './flags.ts';
import { plural } from './format.ts';
import { locateRun } from './locate.ts';
import { type Io, print, printJson } from './io.ts';
import { openLinkIfUp, workflowUrl } from './link.ts';
import { paintFor } from './paint.ts';
import { commandWord, pathWord, type RunPlace, runWord } from './place.ts';
import { knownResult, recordedProgress } from './recorded.ts';
import { serverTable } from './servers.ts';
import { accuracyTable, outcomeLine, reasonLines } from './summary.ts';
import { awaitedOf } from './trouble.ts';

interface Flags {
  readonly out: string;
  readonly json?: boolean;
}

export interface RunStatus {
  readonly run: string;
  readonly folder: string;
  /** Who said so: a worker of the run, its result.json, or a count of its records. */
  readonly source: 'temporal' | 'result' | 'records';
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly maxConcurrent: number | null;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
  readonly url: string | null;
  /** Where inference servers answer: each of them, as the run's workers see it. */
  readonly servers: readonly ServerReport[];
  /** Who is not there: a worker, with what to do about it, or the model server. */
  readonly waitingFor: string | null;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  everturn status my-run')
    .action(async (named: string, flags: Flags) => {
      const place = await locateRun(io, named, flags.out);
      const found = await statusOf(io, place);
      const since = found.source === 'result' ? 0 : Date.now() - STALE_MS;
      const status: RunStatus = { ...found, servers: await readFleet(place.store.folder, since) };
      if (flags.json) printJson(io, status);
      else print(io, statusText(io, place, status));
      exit(EXIT.ok);
    });
}

async function statusOf(io: Io, place: RunPlace): Promise<Omit<RunStatus, 'servers'>> {
  const { run, store } = place;
  const base = { run, folder: store.folder };
  const result = await knownResult(place);
  if (result) {
    const { total, numTurns, counts, cancelled } = result;
    const state = cancelled ? 'cancelled' : 'finished';
    const idle = { inFlight: 0, maxConcurrent: null, url: null, waitingFor: null };
    return { ...base, source: 'result', state, total, done: ended(counts), numTurns, counts, ...idle };
  }
  const live = await liveStatus(io, place);
  if (live?.progress) {
    const { state, total, done, inFlight, maxConcurrent, numTurns, counts } = live.progress;
    const { url, waitingFor } = live;
    const flight = { inFlight, maxConcurrent, url, waitingFor };
    return { ...base, source: 'temporal', state, total, done, numTurns, counts, ...flight };
  }
  const { total, numTurns, counts, unfinished } = await recordedProgress(place);
  return {
    ...base,
    source: 'records',
    state: live?.state ?? 'unfinished',
    total,
    done: ended(counts),
    inFlight: unfinished,
    maxConcurrent: null,
    numTurns,
    counts,
    url: null,
    waitingFor: WAITING[live?.state ?? ''] ?? null,
  };
}

const UNANSWERED = 'running, and no worker answers';
const UNANSWERED_YET = 'running, and its workers have not answered yet';
const WAITING: Readonly<Record<string, string>> = {
  [UNANSWERED]: "Start `everturn worker` on any machine that reaches the run's folder. Nothing is lost meanwhile.",
  [UNANSWERED_YET]: 'They are busy, or have gone a moment ago. Nothing is lost meanwhile.',
};

type LiveStatus =
  | { readonly progress: CollectionProgress; readonly url: string | null; readonly waitingFor: string | null }
  | { readonly progress: null; readonly state: string };

async function liveStatus(io: Io, { run, out, store }: RunPlace): Promise<LiveStatus | undefined> {
  const link = await openLinkIfUp(io);
  if (!link) return undefined;
  try {
    // All at once: a busy server takes its time for each.
    const [facts, progress, waitingFor] = await Promise.all([
      describeWorkflow(link.session, run, 1),
      progressOf(link.session, run).catch(() => undefined),
      awaitedOf(link.session, run, store.folder),
    ]);
    const isHere = facts.out === null || facts.out === out;
    if (facts.state !== 'running' || !isHere) return { progress: null, state: 'interrupted' };
    if (!progress) {
      const lately = await takesActivities(link.session, TASK_QUEUE);
      return { progress: null, state: lately ? UNANSWERED_YET : UNANSWERED };
    }
    return { progress, url: workflowUrl(link, run), waitingFor: waitingFor ?? null };
  } catch {
    return undefined;
  } finally {
    await link.close();
  }
}

export function statusText(io: Io, place: RunPlace, status: RunStatus): string {
  const paint = paintFor(io.out, io.env);
  const { state, source, inFlight, maxConcurrent, counts, total } = status;
  const me = commandWord(io);
  const flight =
    source === 'temporal'
      ? `, ${plural(inFlight, 'rollout')} in flight of at most ${maxConcurrent}`
      : inFlight > 0
        ? `, ${plural(inFlight, 'rollout')} begun and not ended`
        : '';
  const next =
    state === 'interrupted'
      ? 'Nobody plays it: repeat the command that began it, and the rest is played.'
      : `\`${me} watch ${runWord(io, place)}\` follows it, and starts the local service where that is needed.`;
  return [
    `${paint('bold', place.run)}: ${state}${flight}`,
    ...(status.waitingFor ? [paint('yellow', status.waitingFor)] : []),
    ...(counts.judgedAt.length > 0 ? ['', accuracyTable({ counts, total }, paint)] : []),
    '',
    outcomeLine({ counts, total }),
    ...reasonLines({ counts }, paint),
    ...(status.servers.length > 0 ? ['', serverTable(status.servers, paint), ''] : []),
    `${paint('dim', 'Folder')}     ${pathWord(io, status.folder)}`,
    ...(status.url ? [`${paint('dim', 'Temporal')}   ${status.url}`] : []),
    ...(source === 'records' ? [`Counted from the records in its folder. ${next}`] : []),
  ].join('\n');
}
