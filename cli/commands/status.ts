// `everturn status <run>`: the progress of a run, from the server if it answers, else from the run's folder. Starts
// nothing, unless `--follow` waits for the run's end.

import { setTimeout as sleep } from 'node:timers/promises';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { describeWorkflow, progressOf } from '../../client/temporal/runs.ts';
import { type Workers, workersOf } from '../../client/temporal/workers.ts';
import type { CollectionCounts } from '../../domain/run/progress.ts';
import { countEnded } from '../../domain/run/progress.ts';
import { readFleet, STALE_MS } from '../../records/run/fleet-status.ts';
import type { CollectionProgress, MemoProgress } from '../../domain/run/messages.ts';
import { resolveOptions } from '../../run/config.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { type Answer, command, flag, text, unusable } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { ifUp, withLink } from '../find/link.ts';
import { type Link, unanswered, workflowUrl } from '../../local/service/link.ts';
import { knownResult, locateRun, recordedProgress, runArgument, type RunPlace, shortPath } from '../find/place.ts';
import { BUSY, silenceOf } from '../../run/require-worker.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say, typable } from '../io.ts';
import { showEnding } from '../play/ending.ts';
import { followToEnd } from '../play/follow.ts';
import { STAYS } from '../play/play-run.ts';
import { openEvaluations } from '../../viewer/evaluations.ts';
import { feedStatusOf, statusLines } from '../view/feed.ts';
import { ago, lines, paintFor, plural } from '../format.ts';
import { peopleCounts, peopleLine } from '../view/people.ts';
import { serverTable, slotsText, weightsLines, weightsStatus } from '../view/servers.ts';
import { evaluationLine } from '../view/statistics-text.ts';
import { summaryLines } from '../view/summary.ts';
import { lineageText } from '../view/trajectory-text.ts';
import { awaitedOf } from '../view/trouble.ts';

export type RunStatus = Live & Counted & Awaited<ReturnType<typeof besideOf>>;

interface Counted {
  /** The source: a worker of the run, its memo if none answered at once, its result.json, or a count of its records. */
  readonly source: 'temporal' | 'memo' | 'result' | 'records';
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly maxConcurrent: number | null;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
}

interface Live {
  readonly state: string;
  readonly url: string | null;
  /** The missing worker, with the fix, or the model server that is away. */
  readonly waitingFor: string | null;
  /** Time at which the memo was written, in epoch milliseconds; null for other sources, which are current. */
  readonly toldAt: number | null;
  /** The live workers and their slots; null if that is not known. */
  readonly workers: Workers | null;
}

const NOT_LIVE = { url: null, waitingFor: null, toldAt: null, workers: null };

export const status = command({
  args: RUN_ARGUMENT,
  flags: {
    ...OF_RUN,
    follow: flag('wait for the end with one live line, and end as `everturn run` does; Ctrl-C leaves the run to go on'),
    maxFailed: text(
      '<n>',
      `with --follow: exit with code 3 if more rollouts than this fail (default: ${DEFAULT_OPTIONS.maxFailed})`,
    ),
  },
  help: 'Example:\n  everturn status my-run\n  everturn status my-run --follow',
  async run(io, { run: named, out, follow, maxFailed, json }) {
    if (maxFailed !== undefined && !follow)
      throw unusable('--max-failed is about the end of a run.', 'Give --follow too.');
    const place = await locateRun(io, named, out);
    if (follow) return followed(io, place, maxFailed, json);
    const found = await progressFound(io, place);
    const whole: RunStatus = { ...found, ...(await besideOf(io, place, found)) };
    return { json: whole, text: typable(io, statusText(io, place, whole)) };
  },
});

async function followed(io: Io, place: RunPlace, given: string | undefined, json: boolean): Promise<Answer | ExitCode> {
  const { maxFailed } = resolveOptions({ environment: io.env, flags: { maxFailed: given } }).options;
  const result = await knownResult(place);
  if (result) return showEnding(io, { place, result, maxFailed, isPast: true }, json);
  return withLink(io, async (link) => {
    if (!json) say(io, STAYS);
    return followToEnd(io, link, place, { maxFailed, json, endAlone: true });
  });
}

/** The facts of a run beside its progress. */
async function besideOf(io: Io, place: RunPlace, { source }: Counted) {
  const { run, store } = place;
  const { folder } = store;
  const [servers, feed, evaluations, weights, people, stored] = await Promise.all([
    // Each inference server, as the run's workers have reported it.
    readFleet(folder, source === 'result' ? 0 : Date.now() - STALE_MS),
    feedStatusOf(io, place),
    openEvaluations()(folder),
    weightsStatus(folder),
    peopleCounts(store),
    // A damaged run.json is for `check` to name.
    store.getRun().catch(() => undefined),
  ]);
  const { forkedFrom = null } = stored?.record ?? {};
  return { run, folder, servers, feed, evaluations, weights, people, forkedFrom };
}

async function progressFound(io: Io, place: RunPlace): Promise<Counted & Live> {
  const result = await knownResult(place);
  if (result) {
    const state = result.cancelled ? 'cancelled' : 'ended';
    return { state, ...NOT_LIVE, source: 'result', ...counted(result) };
  }
  const { progress, ...live } = (await ifUp(io, (link) => liveStatus(link, place))) ?? {
    ...{ progress: null, state: 'unfinished', ...NOT_LIVE },
  };
  if (progress) return { ...live, source: 'toldAt' in progress ? 'memo' : 'temporal', ...counted(progress) };
  return { ...live, source: 'records', ...counted(await recordedProgress(place)) };
}

type Known = Pick<Counted, 'total' | 'numTurns' | 'counts'> & Partial<Counted>;

const counted = ({
  total,
  numTurns,
  counts,
  done = countEnded(counts),
  inFlight = 0,
  maxConcurrent = null,
}: Known) => ({
  ...{ total, done, inFlight, maxConcurrent, numTurns, counts },
});

/** Time limits for a worker's answer, after which `status` uses the memo, and for the server's. */
const SOON_MS = 500;
const LATE_MS = 1500;
/** A memo is written every few seconds while rollouts end or begin. */
const FRESH_MS = 60_000;

/** Without `progress`, only the folder has it. */
type LiveStatus = Live & { readonly progress: CollectionProgress | MemoProgress | null };

async function liveStatus(link: Link, { run, out, store }: RunPlace): Promise<LiveStatus> {
  const [soon, late] = [SOON_MS, LATE_MS].map((ms) => sleep(ms, undefined, { ref: false }));
  const { session } = link;
  // All requests at once: a busy server takes its time for each.
  const described = describeWorkflow(session, run, 1);
  const answering = progressOf(session, run).catch(unanswered);
  const awaiting = awaitedOf(session, run, store.folder).catch(unanswered);
  const silent = silenceOf(link);
  const counting = workersOf(session);
  const { state, memo, out: there } = await described;
  if (state !== 'running' || (there !== null && there !== out))
    return { progress: null, state: 'interrupted', ...NOT_LIVE };
  const inTime = <T>(asked: Promise<T>, time = soon) => (memo ? Promise.race([asked, time]) : asked);
  const progress = await inTime(answering);
  const awaited = (await inTime(awaiting, progress ? late : soon)) ?? null;
  const workers = (await inTime(counting)) ?? null;
  const live = { url: workflowUrl(link, run), waitingFor: awaited, toldAt: null, workers };
  if (progress) return { ...live, progress, state: progress.state };
  const cause = (await inTime(silent)) ?? BUSY;
  // Workers that told the counts a moment ago are well: playing comes before answering.
  const isFresh = cause === BUSY && memo !== null && Date.now() - memo.toldAt < FRESH_MS;
  const lastState = memo?.state ?? 'running';
  return {
    ...live,
    state: isFresh ? lastState : `${lastState}, and ${cause.state}`,
    waitingFor: awaited ?? (isFresh ? null : cause.fix),
    toldAt: memo?.toldAt ?? null,
    progress: memo,
  };
}

function statusText(io: Io, place: RunPlace, status: RunStatus): string {
  const paint = paintFor(io.out, io.env);
  const { state, source, inFlight, maxConcurrent } = status;
  const run = runArgument(io, place);
  const then = source === 'memo' ? ' when last reported' : '';
  const flight =
    maxConcurrent !== null
      ? `, ${plural(inFlight, 'rollout')} in flight${then} of at most ${maxConcurrent}`
      : inFlight > 0
        ? `, ${plural(inFlight, 'rollout')} begun and not ended`
        : '';
  const slots = slotsText(maxConcurrent === null ? null : Math.min(maxConcurrent, status.total), status.workers);
  const next =
    state === 'interrupted'
      ? 'No worker plays it: repeat the command that started the run, and it continues.'
      : `\`everturn status ${run} --follow\` follows it${namesCluster() ? '' : ', and starts the local service if needed'}.`;
  return lines(
    `${paint('bold', place.run)}: ${state}${flight}`,
    status.waitingFor && paint('yellow', status.waitingFor),
    slots,
    '',
    summaryLines(status, run, paint),
    peopleLine(status.people),
    status.forkedFrom && `${paint('dim', 'From')}       ${lineageText(status.forkedFrom)}`,
    status.feed && ['', ...statusLines(status.feed, io.now()), ''],
    evaluationLine(status.evaluations, paint),
    status.servers.length > 0 && ['', serverTable(status.servers, paint), ''],
    weightsLines(status.weights, paint),
    `${paint('dim', 'Folder')}     ${shortPath(io, status.folder)}`,
    status.url && `${paint('dim', 'Temporal')}   ${status.url}`,
    status.toldAt !== null && `Reported by its workers ${ago(io.now() - status.toldAt)}. ${next}`,
    source === 'records' && `Counted from the records in its folder. ${next}`,
  ).join('\n');
}
