// The runs in a folder, and others that the server plays now, if one answers. Starts nothing.

import { listRuns, progressOf, type RunSummary } from '../client/temporal/runs.ts';
import type { CollectionProgress } from '../domain/run/messages.ts';
import { countEnded } from '../domain/run/progress.ts';
import { samplesPerQuery } from '../domain/samples/group.ts';
import type { Link } from '../local/service/link.ts';
import { join, resolvePlace } from '../records/place.ts';
import { knownResult, recordedProgress, runNames, runPlace } from '../run/place.ts';
import { hasVerdicts, rightSoFar } from '../domain/statistics/headline.ts';
import { askServer } from './ask-server.ts';
import type { Around } from './check.ts';

interface Row {
  readonly run: string;
  /**
   * `running`, `paused`, …, `ended`, `cancelled`; `interrupted`: begun, without a running workflow; `unfinished`: not
   * ended, and no server says more; `broken`: run.json is not readable.
   */
  readonly state: string;
  readonly model: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Null if the server does not name the run's folder. */
  readonly folder: string | null;
}

export type ListedRun = ReturnType<typeof listedRun>;

/** Null where nothing is known. `counted`: ended rollouts that count for `right`, all but those with a person's message. */
function listedRun(row: Row, known?: Pick<CollectionProgress, 'counts' | 'total'> | null, most: number | null = null) {
  if (!known) return { ...row, done: null, total: most, right: null, counted: null };
  const { counts, total } = known;
  const done = countEnded(counts);
  const soFar = rightSoFar(counts, done);
  return {
    ...row,
    done,
    total,
    right: hasVerdicts(counts) ? soFar.rightBy : null,
    counted: soFar.of,
  };
}

/** The newest first. */
export async function runsOf(under: string, { cwd, env, onProgress }: Around): Promise<ListedRun[]> {
  const out = resolvePlace(cwd, under);
  const runs = (await askServer(env, (link) => listed(out, link), onProgress)) ?? (await listed(out, undefined));
  return runs.sort((a, b) => b.createdAt - a.createdAt);
}

async function listed(out: string, link: Link | undefined): Promise<ListedRun[]> {
  const onServer = link ? await listRuns(link.session) : [];
  const known = await Promise.all((await runNames(out)).map((run) => fromFolder(link, out, run, onServer)));
  const isKnown = (s: RunSummary) => known.some(({ run }) => run === s.run && isHere(s, out));
  const elsewhere = onServer.filter((s) => s.state === 'running' && !isKnown(s));
  return [...known, ...(await Promise.all(elsewhere.map((s) => fromServer(link!, s))))];
}

async function fromFolder(
  link: Link | undefined,
  out: string,
  run: string,
  onServer: readonly RunSummary[],
): Promise<ListedRun> {
  const place = runPlace(out, run);
  const record = (await place.store.get('run').catch(() => undefined))?.record;
  const { createdAt = 0, dataset } = record ?? {};
  const base = { run, model: record?.settings.model ?? null, createdAt, folder: place.store.folder };
  if (!record) return listedRun({ ...base, state: 'broken' });
  if (!dataset) {
    // Rollouts that a client started directly: their final number is unknown.
    const progress = await recordedProgress(place);
    return listedRun({ ...base, state: progress.inFlight > 0 ? 'unfinished' : 'ended' }, progress);
  }
  const result = await knownResult(place).catch(() => undefined);
  if (result) return listedRun({ ...base, state: result.cancelled ? 'cancelled' : 'ended' }, result);
  const there = onServer.find((s) => s.run === run && isHere(s, out));
  const isRunning = there?.state === 'running';
  const progress = link && isRunning ? await progressIn(link, there) : undefined;
  const state = progress?.state ?? (!link ? 'unfinished' : isRunning ? 'running' : 'interrupted');
  return listedRun({ ...base, state }, progress, dataset.accepted * samplesPerQuery(record));
}

async function progressIn({ session }: Link, { run, memo }: RunSummary): Promise<CollectionProgress | null> {
  return (await progressOf(session, run).catch(() => undefined)) ?? memo;
}

async function fromServer(link: Link, summary: RunSummary): Promise<ListedRun> {
  const { run, out, startedAt, state } = summary;
  const progress = await progressIn(link, summary);
  const row = { run, model: null, createdAt: Date.parse(startedAt), folder: out && join(out, run) };
  return listedRun({ ...row, state: progress?.state ?? state }, progress);
}

/** A workflow without a folder in its memo may be this one. */
const isHere = ({ out: there }: RunSummary, out: string): boolean => there === null || there === out;
