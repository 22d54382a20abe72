// `everturn status <run>`: the progress of a run, from the server if it answers, else from the run's folder.
// Starts nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { isServerFailure } from '../../client/temporal/connection.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import { describeWorkflow, progressOf, takesActivities } from '../../client/temporal/runs.ts';
import { type Workers, workersOf } from '../../client/temporal/workers.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import type { CollectionCounts } from '../../domain/run/progress.ts';
import type { ForkedFrom } from '../../domain/rollout/lineage.ts';
import { ended } from '../../domain/run/progress.ts';
import { TASK_QUEUE } from '../../domain/run/queues.ts';
import { readFleet, type ServerReport, STALE_MS } from '../../records/fleet-status.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { ago, plural } from '../view/format.ts';
import { locateRun } from '../find/locate.ts';
import { type Io, print, printJson } from '../io.ts';
import { openLinkIfUp, workflowUrl } from '../find/link.ts';
import { paintFor } from '../view/paint.ts';
import { programName, shortPath, type RunPlace, runArgument } from '../find/place.ts';
import { knownResult, recordedProgress } from '../find/recorded.ts';
import { groupLine, groupStates } from '../view/feed-groups.ts';
import { feedLines, feedStatusOf, type FeedStatus } from '../view/feed-status.ts';
import { type PeopleCounts, peopleCounts, peopleLine } from '../view/people.ts';
import { slotsText } from '../view/slots.ts';
import { serverTable } from '../view/servers.ts';
import { type SilentBlocks, silentBlocksLine, silentBlocksOf } from '../view/silent-blocks.ts';
import { outcomeLine, reasonLines, steeredLines, turnTables, wrongReasonsLine } from '../view/summary.ts';
import { lineageText } from '../view/trajectory-text.ts';
import { awaitedOf } from '../view/trouble.ts';
import { type WeightsStatus, weightsLines, weightsStatus } from '../view/weights.ts';

interface Flags {
  readonly out: string;
  readonly json?: boolean;
  readonly groups?: boolean;
}

export interface RunStatus {
  readonly run: string;
  readonly folder: string;
  /** The source: a worker of the run, its memo if none answered at once, its result.json, or a count of its records. */
  readonly source: 'temporal' | 'memo' | 'result' | 'records';
  /** Time at which the memo was written, in epoch milliseconds; null for other sources, which are current. */
  readonly toldAt: number | null;
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly maxConcurrent: number | null;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
  readonly url: string | null;
  /** Each inference server, if there are any, as reported by the run's workers. */
  readonly servers: readonly ServerReport[];
  /** Null for a run that no trainer lives on. */
  readonly feed: FeedStatus | null;
  /** The last update of its weights; null if there was none. */
  readonly weights: WeightsStatus | null;
  /** Counts of people's acts on its rollouts; null without any. */
  readonly people: PeopleCounts | null;
  /** Of a fork: the rollout that it goes on from; else null. */
  readonly forkedFrom: ForkedFrom | null;
  /** The missing worker, with the fix, or the model server that is away. */
  readonly waitingFor: string | null;
  /** The live workers and their slots; null if that is not known. */
  readonly workers: Workers | null;
  /** Blocks of a large run whose counts are old; null without any. */
  readonly silentBlocks: SilentBlocks | null;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(new Option('--groups', 'of a run that a trainer lives on: each group, and where it is'))
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  everturn status my-run')
    .action(async (named: string, flags: Flags) => {
      const place = await locateRun(io, named, flags.out);
      const found = await statusOf(io, place);
      const since = found.source === 'result' ? 0 : Date.now() - STALE_MS;
      const [servers, feed, weights, people] = await Promise.all([
        readFleet(place.store.folder, since),
        feedStatusOf(io, place),
        weightsStatus(place.store.folder),
        peopleCounts(place.store),
      ]);
      // A damaged run.json is for `check` to name.
      const forkedFrom = (await place.store.getRun().catch(() => undefined))?.record.forkedFrom ?? null;
      const status: RunStatus = { ...found, servers, feed, weights, people, forkedFrom };
      if (flags.json) printJson(io, status);
      else print(io, statusText(io, place, status));
      if (flags.groups) await printGroups(io, place, status, flags.json === true);
      exit(EXIT.ok);
    });
}

async function printGroups(io: Io, { store }: RunPlace, { feed }: RunStatus, json: boolean): Promise<void> {
  for await (const group of groupStates(store, feed?.open?.leases ?? [])) {
    if (json) printJson(io, group);
    else print(io, oneLine(groupLine(group, io.now())));
  }
}

async function statusOf(
  io: Io,
  place: RunPlace,
): Promise<Omit<RunStatus, 'servers' | 'feed' | 'weights' | 'people' | 'forkedFrom'>> {
  const { run, store } = place;
  const base = { run, folder: store.folder };
  const result = await knownResult(place);
  if (result) {
    const { total, numTurns, counts, cancelled } = result;
    const state = cancelled ? 'cancelled' : 'finished';
    const idle = { inFlight: 0, maxConcurrent: null, url: null, waitingFor: null, toldAt: null, workers: null };
    return {
      ...base,
      source: 'result',
      silentBlocks: null,
      state,
      total,
      done: ended(counts),
      numTurns,
      counts,
      ...idle,
    };
  }
  const live = await liveStatus(io, place);
  if (live?.progress) {
    const { progress, ...said } = live;
    const { total, done, inFlight, maxConcurrent, numTurns, counts } = progress;
    const silentBlocks = silentBlocksOf(progress.heardAt, io.now());
    return { ...base, ...said, total, done, numTurns, counts, inFlight, maxConcurrent, silentBlocks };
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
    waitingFor: live?.waitingFor ?? null,
    toldAt: null,
    workers: live?.workers ?? null,
    silentBlocks: null,
  };
}

/** Time limits for a worker's answer, after which `status` uses the memo, and for the server's. */
const SOON_MS = 500;
const LATE_MS = 1500;
/** A memo is written every few seconds while rollouts end or begin. */
const FRESH_MS = 60_000;

const ABSENT = {
  state: 'no worker answers',
  fix: "Start `everturn worker` on any machine that reaches the run's folder. Nothing is lost meanwhile.",
};
const MISROUTED = 'no worker gets its work';
const BUSY = {
  state: 'its workers have not answered yet',
  fix: 'They are busy, or ended a moment ago. Nothing is lost meanwhile.',
};

type LiveStatus = Pick<RunStatus, 'state' | 'url' | 'waitingFor' | 'toldAt' | 'workers'> &
  (
    | { readonly progress: CollectionProgress; readonly source: 'temporal' | 'memo' }
    /** Only the folder has its progress. */
    | { readonly progress: null }
  );

async function liveStatus(io: Io, { run, out, store }: RunPlace): Promise<LiveStatus | undefined> {
  const [soon, late] = [SOON_MS, LATE_MS].map((ms) => sleep(ms, undefined, { ref: false }));
  const link = await openLinkIfUp(io);
  if (!link) return undefined;
  try {
    // All requests at once: a busy server takes its time for each.
    const described = describeWorkflow(link.session, run, 1);
    const answering = progressOf(link.session, run).catch(unanswered);
    const awaiting = awaitedOf(link.session, run, store.folder).catch(unanswered);
    const polling = takesActivities(link.session, TASK_QUEUE);
    const counting = workersOf(link.session);
    const routing = misrouted(link.session).catch(unanswered);
    const { state, memo, out: there } = await described;
    if (state !== 'running' || (there !== null && there !== out)) {
      return { progress: null, state: 'interrupted', url: null, waitingFor: null, toldAt: null, workers: null };
    }
    const url = workflowUrl(link, run);
    const inTime = <T>(asked: Promise<T>, time = soon) => (memo ? Promise.race([asked, time]) : asked);
    const progress = await inTime(answering);
    const waitingFor = (await inTime(awaiting, progress ? late : soon)) ?? null;
    const workers = (await inTime(counting)) ?? null;
    if (progress)
      return { progress, source: 'temporal', state: progress.state, url, waitingFor, toldAt: null, workers };
    const elsewhere = await inTime(routing);
    const known = (await inTime(polling)) === false ? ABSENT : BUSY;
    const cause = elsewhere === undefined ? known : { state: MISROUTED, fix: elsewhere };
    // Workers that told the counts a moment ago are well: playing comes before answering.
    const isFresh = cause === BUSY && memo !== null && Date.now() - memo.toldAt < FRESH_MS;
    const lastState = memo?.state ?? 'running';
    const said = {
      state: isFresh ? lastState : `${lastState}, and ${cause.state}`,
      url,
      waitingFor: waitingFor ?? (isFresh ? null : cause.fix),
      workers,
    };
    return memo
      ? { progress: memo, source: 'memo', toldAt: memo.toldAt, ...said }
      : { progress: null, toldAt: null, ...said };
  } catch (error) {
    return unanswered(error);
  } finally {
    await link.close();
  }
}

function statusText(io: Io, place: RunPlace, status: RunStatus): string {
  const paint = paintFor(io.out, io.env);
  const { state, source, inFlight, maxConcurrent, counts, total } = status;
  const me = programName(io);
  const then = source === 'memo' ? ' when last reported' : '';
  const flight =
    maxConcurrent !== null
      ? `, ${plural(inFlight, 'rollout')} in flight${then} of at most ${maxConcurrent}`
      : inFlight > 0
        ? `, ${plural(inFlight, 'rollout')} begun and not ended`
        : '';
  const slots = slotsText(maxConcurrent === null ? null : Math.min(maxConcurrent, total), status.workers);
  const next =
    state === 'interrupted'
      ? 'No worker plays it: repeat the command that started the run, and it continues.'
      : `\`${me} watch ${runArgument(io, place)}\` follows it${namesCluster() ? '' : ', and starts the local service if needed'}.`;
  return [
    `${paint('bold', place.run)}: ${state}${flight}`,
    ...(status.waitingFor ? [paint('yellow', status.waitingFor)] : []),
    ...(slots === undefined ? [] : [slots]),
    ...silentBlocksLine(status.silentBlocks, paint),
    '',
    ...turnTables({ counts, total }, paint),
    outcomeLine({ counts, total }),
    ...steeredLines({ counts }, `${me} stats ${runArgument(io, place)}`),
    ...reasonLines({ counts }, paint),
    ...wrongReasonsLine({ counts }, `${me} judge --run ${runArgument(io, place)}`),
    ...peopleLine(status.people),
    ...(status.forkedFrom ? [`${paint('dim', 'From')}       ${lineageText(status.forkedFrom)}`] : []),
    ...(status.feed ? ['', ...feedLines(status.feed, io.now()), ''] : []),
    ...(status.servers.length > 0 ? ['', serverTable(status.servers, paint), ''] : []),
    ...weightsLines(status.weights, paint),
    `${paint('dim', 'Folder')}     ${shortPath(io, status.folder)}`,
    ...(status.url ? [`${paint('dim', 'Temporal')}   ${status.url}`] : []),
    ...(status.toldAt === null ? [] : [`Reported by its workers ${ago(io.now() - status.toldAt)}. ${next}`]),
    ...(source === 'records' ? [`Counted from the records in its folder. ${next}`] : []),
  ].join('\n');
}

function unanswered(error: unknown): undefined {
  if (!isServerFailure(error)) throw error;
}
