// `everturn list`: the runs in a folder, and others that the server plays now. Starts nothing.

import type { Command } from 'commander';
import { listRuns, progressOf, type RunSummary } from '../../client/temporal/runs.ts';
import { samplesPerQuery } from '../../domain/rollout/group.ts';
import { counting, ended } from '../../domain/run/progress.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { ago, count, percent } from '../view/format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { join, resolvePlace } from '../../records/place.ts';
import { type Link, openLinkIfUp } from '../find/link.ts';
import { paintFor, type Tint } from '../view/paint.ts';
import { programName, shortPath, placeOf, type RunPlace, runNames } from '../find/place.ts';
import { knownResult, recordedProgress } from '../find/recorded.ts';
import { table } from '../view/table.ts';

interface Flags {
  readonly out: string;
  readonly json?: boolean;
}

export interface ListedRun {
  readonly run: string;
  /**
   * `running`, `paused`, …, `finished`, `cancelled`; `interrupted`: begun, without a running workflow; `unfinished`: not
   * ended, and no server says more; `broken`: run.json is not readable.
   */
  readonly state: string;
  /** Null if unknown. */
  readonly done: number | null;
  readonly total: number | null;
  readonly right: number | null;
  /** Ended rollouts that count for `right`: all but those with a person's message. */
  readonly counted: number | null;
  readonly model: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Null if the server does not name the run's folder. */
  readonly folder: string | null;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .addOption(outOption())
    .addOption(jsonOption('one run a line as JSON on stdout'))
    .addHelpText('after', '\nExample:\n  everturn list')
    .action(async (flags: Flags) => exit(await list(io, flags)));
}

async function list(io: Io, flags: Flags): Promise<ExitCode> {
  const out = resolvePlace(io.cwd, flags.out);
  const link = await openLinkIfUp(io);
  try {
    const onServer = link ? await listRuns(link.session) : [];
    const known = await Promise.all((await runNames(out)).map((run) => fromFolder(link, out, run, onServer)));
    const elsewhere = onServer.filter(
      (s) => s.state === 'running' && !known.some((k) => k.run === s.run && isHere(s, out)),
    );
    const runs = [...known, ...(await Promise.all(elsewhere.map((s) => fromServer(link!, s))))];
    runs.sort((a, b) => b.createdAt - a.createdAt);
    if (flags.json) for (const run of runs) printJson(io, run);
    else if (runs.length === 0)
      say(io, `No runs in ${shortPath(io, out)} yet. Start with \`${programName(io)} demo\`.`);
    else print(io, listText(io, runs));
    return EXIT.ok;
  } finally {
    await link?.close();
  }
}

function tally({ counts, total }: Pick<CollectionProgress, 'counts' | 'total'>) {
  // Rewards without a verdict say nothing of right and wrong.
  const known = counts.judgedAt.some((judged) => judged > 0);
  const done = ended(counts);
  return { done, counted: counting(done, counts), right: known ? (counts.rightBy.at(-1) ?? 0) : null, total };
}

async function looseCounts(
  place: RunPlace,
): Promise<Pick<ListedRun, 'state' | 'done' | 'counted' | 'right' | 'total'>> {
  const progress = await recordedProgress(place);
  return { state: progress.unfinished > 0 ? 'unfinished' : 'finished', ...tally(progress) };
}

async function fromFolder(
  link: Link | undefined,
  out: string,
  run: string,
  onServer: readonly RunSummary[],
): Promise<ListedRun> {
  const place = placeOf(out, run);
  const record = await place.store.getRun().then(
    (stored) => stored?.record,
    () => undefined,
  );
  const base = {
    run,
    model: record?.settings.model ?? null,
    createdAt: record?.createdAt ?? 0,
    folder: place.store.folder,
  };
  // Rollouts that a client started directly: their final number is unknown.
  if (record && !record.dataset) return { ...base, ...(await looseCounts(place)) };
  const unknown = {
    ...base,
    done: null,
    right: null,
    counted: null,
    total: record?.dataset ? record.dataset.accepted * samplesPerQuery(record) : null,
  };
  if (!record) return { ...unknown, state: 'broken' };
  const result = await knownResult(place).catch(() => undefined);
  if (result) return { ...base, state: result.cancelled ? 'cancelled' : 'finished', ...tally(result) };
  const there = onServer.find((s) => s.run === run && isHere(s, out));
  const progress = link && there?.state === 'running' ? await progressIn(link, there) : undefined;
  if (!progress) {
    const state = !link ? 'unfinished' : there?.state === 'running' ? 'running' : 'interrupted';
    return { ...unknown, state };
  }
  return { ...base, state: progress.state, ...tally(progress) };
}

async function progressIn({ session }: Link, { run, memo }: RunSummary): Promise<CollectionProgress | null> {
  const answered = await progressOf(session, run).catch(() => undefined);
  return answered ?? memo;
}

async function fromServer(link: Link, summary: RunSummary): Promise<ListedRun> {
  const { run, out, startedAt, state } = summary;
  const progress = await progressIn(link, summary);
  return {
    run,
    state: progress?.state ?? state,
    ...(progress ? tally(progress) : { done: null, right: null, counted: null, total: null }),
    model: null,
    createdAt: Date.parse(startedAt),
    folder: out && join(out, run),
  };
}

/** A workflow without a folder in its memo may be this one. */
function isHere({ out: there }: RunSummary, out: string): boolean {
  return there === null || there === out;
}

const TINTS: Readonly<Record<string, Tint>> = {
  running: 'cyan',
  finished: 'green',
  cancelled: 'yellow',
  interrupted: 'yellow',
  broken: 'red',
};

function listText(io: Io, runs: readonly ListedRun[]): string {
  const rows = runs.map((r) => [
    r.run,
    r.state,
    `${r.done === null ? '?' : count(r.done)}/${r.total === null ? '?' : count(r.total)}`,
    r.right === null || !r.counted ? '–' : percent(r.right, r.counted, 0),
    r.createdAt ? ago(io.now() - r.createdAt) : '–',
    r.folder === null ? '–' : shortPath(io, r.folder),
  ]);
  const columns = [
    { title: 'run' },
    { title: 'state' },
    { title: 'done', align: 'right' },
    { title: 'right at any turn', align: 'right' },
    { title: 'begun' },
    { title: 'folder' },
  ] as const;
  return table(columns, rows, paintFor(io.out, io.env), (row, column) =>
    column === 1 ? TINTS[runs[row]!.state] : undefined,
  );
}
