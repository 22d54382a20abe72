// How far a run has come: from a worker of the run, its memo, its result, or a count of its records.

import { setTimeout as sleep } from 'node:timers/promises';
import { describeWorkflow, progressOf } from '../client/temporal/runs.ts';
import { workersOf } from '../client/temporal/workers.ts';
import type { CollectionProgress, MemoProgress } from '../domain/run/messages.ts';
import { countEnded } from '../domain/run/progress.ts';
import type { OnProgress } from '../local/machine/progress.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import { type Link, unanswered, workflowUrl } from '../local/service/link.ts';
import { knownResult, recordedProgress, type RunPlace } from '../run/place.ts';
import { BUSY, silenceOf } from '../run/require-worker.ts';
import { askServer } from './ask-server.ts';
import type { RunProgress } from './run-handle.ts';
import { awaitedOf } from './trouble.ts';

const NOT_LIVE = { url: null, waitingFor: null, toldAt: null, workers: null };

/** From the server if it answers, else from the run's folder. Starts nothing. */
export async function progressOfRun(place: RunPlace, env: Environment, onProgress?: OnProgress): Promise<RunProgress> {
  const result = await knownResult(place);
  if (result) {
    const state = result.cancelled ? 'cancelled' : 'ended';
    return { state, ...NOT_LIVE, source: 'result', ...counted(result) };
  }
  const { progress, ...live } = (await askServer(env, (link) => liveStatus(link, place), onProgress)) ?? {
    ...{ progress: null, state: 'unfinished', ...NOT_LIVE },
  };
  if (progress) return { ...live, source: 'toldAt' in progress ? 'memo' : 'temporal', ...counted(progress) };
  return { ...live, source: 'records', ...counted(await recordedProgress(place)) };
}

type Known = Pick<RunProgress, 'total' | 'numTurns' | 'counts'> & Partial<RunProgress>;

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
type LiveStatus = Pick<RunProgress, 'state' | keyof typeof NOT_LIVE> & {
  readonly progress: CollectionProgress | MemoProgress | null;
};

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
