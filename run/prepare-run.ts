// From what a caller wants to a run that can be started: its parts are described, its rows read, its record planned, and its model
// asked. Whatever cannot be played is refused here, before anything is started or written.

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { unusable } from '../domain/errors/unusable.ts';
import { isRunName, RUN_NAME_RULE } from '../domain/names/ids.ts';
import type { SolutionReader } from '../domain/query/solution-reader.ts';
import { evaluationName } from '../domain/run/evaluation.ts';
import { nameOfRows, stemOfRuns } from '../domain/run/run-name.ts';
import { plural } from '../domain/text/plural.ts';
import { createMathJudge } from '../environments/math-environment.ts';
import { createSolutionReader } from '../environments/solution-reader.ts';
import { type Benchmark, findBenchmark, findRows, type FoundRows } from '../formats/benchmarks/find-rows.ts';
import { isHubPlace } from '../formats/hub/place.ts';
import { mustTakeRun } from '../records/places/writable.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { resolvePlace } from '../records/place.ts';
import { mustLoadCodeFrom } from '../records/run/code.ts';
import { allQueries } from '../records/run/queries.ts';
import { againIfAllFailed } from './again.ts';
import type { Caller } from './caller.ts';
import type { ResolvedOptions } from './config.ts';
import { createRun, mustBeSameRun } from './create-run.ts';
import { mustNameJudge } from './environments.ts';
import { createFirstEvaluation } from './evaluations.ts';
import { mustTrain, trainedOnToo } from './held-out.ts';
import { checkModel, mustHonour, patiently } from './model.ts';
import { type DescribedParts, describeParts } from './parts.ts';
import { type RunPlace, runPlace } from './place.ts';
import { planRun } from './plan.ts';
import { readRows, type Rows } from './rows.ts';
import { wordingOf } from './wording.ts';
import { namesIn } from '../records/places/files.ts';

export interface RunWish {
  /** A file, as the caller names it, `hf:…`, or a benchmark. */
  readonly dataset: string;
  /** The folder of runs, or `s3://bucket/prefix`. */
  readonly out: string;
  /** Undefined: derived from data and settings, so that the same wish finds the same run. */
  readonly name: string | undefined;
  /** A data set with a bad row is refused. */
  readonly strict: boolean;
  readonly resolved: ResolvedOptions;
}

/** A run that can be started, once its model has answered. */
export interface PlannedRun {
  readonly place: RunPlace;
  /**
   * As it is wished, with its code as the caller named it: workers of this user trust that, and no claim of a folder. A run that
   * is there has a record of its own, with the same values.
   */
  readonly record: RunRecord;
  /** False for a new run, and for one that is played again. */
  readonly isThere: boolean;
  /** In Temporal's UI. */
  readonly title: string;
  readonly maxConcurrent?: number;
  /** It has rows that ask for programs, which a model then writes. */
  readonly hasCodeRows: boolean;
  /** The roles of the messages with which its conversations begin. */
  readonly openings: Rows['openings'];
  /** Tries what a model has to answer for: a rubric. */
  readonly tryOut?: DescribedParts['tryOut'];
  /** Makes the run's folder, unless it is there. `attached`: its workflow is open. */
  make(record: RunRecord, attached: boolean): Promise<unknown>;
}

export interface PreparedRun extends PlannedRun {
  readonly rows: Rows;
  readonly parts: DescribedParts;
  /** Lets go of the rows that were read; `make` does so, too. */
  close(): void;
}

/** Takes seconds to read. */
const LARGE_BYTES = 100_000_000;
const takesSeconds = (named: string, cwd: string): boolean =>
  isHubPlace(named) || (statSync(resolve(cwd, named), { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES;

export async function prepareRun(wish: RunWish, caller: Caller): Promise<PreparedRun> {
  const { cwd, onEvent } = caller;
  if (wish.name !== undefined) mustBeRunName(wish.name);
  mustTrain(wish.resolved);
  const benchmark = findBenchmark(wish.dataset, cwd);
  const parts = await describeParts(wish.resolved, caller, benchmark, wish.dataset);
  mustNameJudge(benchmark, parts.settings.environments);
  const out = resolvePlace(cwd, wish.out);
  if (parts.codes.length > 0) mustLoadCodeFrom(out);
  const held = parts.options.eval;
  if (held !== null) mustNameJudge(findBenchmark(held, cwd), parts.settings.environments);
  const found = await foundRows(wish.dataset, caller);
  const foundHeld = held === null ? undefined : await foundRows(held, caller);
  const plan = openPlan(wish, { found, foundHeld }, parts, caller);

  // The solutions of a run that is there were read when it was made.
  const unread = (await mayBeThere(out, wish.name, nameOfRows(found.source))) ? await plan() : undefined;
  const recorded = unread && (await runPlace(out, unread.record.run).store.get('run'))?.record;
  const again = recorded && (await againIfAllFailed(runPlace(out, recorded.run), recorded, caller));
  const isThere = recorded !== undefined && !again;
  const planned = unread && isThere ? unread : await withJudge(plan);
  // Those of a run that is there are its own.
  unread?.close();
  const { record, heldOut } = planned;
  // A place of its own: the one before has read records that may be set aside.
  const place = runPlace(out, record.run);
  if (!isThere) mustHonour(record.settings, caller);
  if (recorded) mustBeSameRun(place.store.folder, recorded, record);
  const rows = isThere
    ? { ...planned.rows, dataset: recorded.dataset!, queries: () => allQueries(place.store) }
    : planned.rows;
  onEvent({ type: 'rows', isHeldOut: false, dataset: wish.dataset, rows });
  if (heldOut) onEvent({ type: 'rows', isHeldOut: true, dataset: held!, rows: heldOut });
  const shared = heldOut && !isThere ? await trainedOnToo(heldOut, rows) : [];
  if (shared.length > 0) onEvent({ type: 'trained-on', queries: shared });
  // Its longest names are names of runs too.
  if (heldOut && !isThere) mustBeRunName(evaluationName(record.run, 999_999, 999_999));
  const { numTurns, model } = record.settings;
  return {
    ...{ place, record, isThere, rows, parts, tryOut: parts.tryOut, close: planned.close },
    title: `${wish.dataset}: ${plural(rows.dataset.accepted, 'query', 'queries')}, ${numTurns} turns, ${model}`,
    maxConcurrent: parts.options.maxConcurrent,
    hasCodeRows: [rows, heldOut].some((some) => (some?.byTask.code ?? 0) > 0),
    openings: [...rows.openings, ...(heldOut?.openings ?? [])],
    async make(made, attached) {
      // Another command may have made it since.
      if (attached && !isThere && !(await place.store.get('run'))) throw withoutFolder(place);
      if (!attached) await again?.();
      if (heldOut && !isThere) await createFirstEvaluation(made, heldOut, place.out, parts.codes);
      await createRun(place.store, made, rows.queries(), parts.codes);
      planned.close();
    },
  };
}

/** Another run under its name would be played by a workflow that counts the first one's rollouts. */
const withoutFolder = ({ run, store }: RunPlace): Error =>
  unusable(
    `A run named "${run}" is running, and its folder ${store.folder} is gone.`,
    `Move the folder back; or end that run with \`everturn cancel ${run}\`, and repeat the command.`,
    'run-elsewhere',
  );

/** Reads the rows, and plans the run with them. */
function openPlan(
  { name, strict }: RunWish,
  { found, foundHeld }: { readonly found: FoundRows; readonly foundHeld: FoundRows | undefined },
  parts: DescribedParts,
  { cwd, now, signal }: Caller,
) {
  const { limit, shuffleSeed } = parts.options;
  const { environments, program } = parts.settings;
  const [wording, heldWording] = [found, foundHeld].map((one) => wordingOf(parts.options, cwd, one?.wording));
  const selection = { strict, signal, ...(environments && { environments }), ...(program && { program }) };
  return async (reader?: SolutionReader) => {
    // Those of a run that is there were counted when it was made.
    const size = reader && found.size;
    const rows = await readRows({ dataset: found.source, limit, shuffleSeed, wording, size, ...selection }, reader);
    const all = { limit: null, shuffleSeed: null, wording: heldWording, ...selection };
    const heldOut = foundHeld && (await readRows({ dataset: foundHeld.source, ...all }, reader));
    const input = { ...parts, name, wording, dataset: rows.dataset, heldOut: heldOut?.dataset, now: now() };
    const close = () => [rows, heldOut].forEach((some) => some?.close());
    return { rows, heldOut, record: planRun(input), close };
  };
}

/** Says what takes seconds, and what a benchmark's page says of its rows. */
async function foundRows(named: string, caller: Caller): Promise<FoundRows> {
  const benchmark = findBenchmark(named, caller.cwd);
  if (benchmark) caller.onEvent({ type: 'benchmark', ...saidOf(benchmark) });
  if (takesSeconds(benchmark?.place ?? named, caller.cwd)) caller.onEvent({ type: 'reading', dataset: named });
  return findRows(benchmark, named, caller);
}

const saidOf = ({ name, page: { title, notes = [], verified = false } }: Benchmark) => ({
  name,
  title,
  notes,
  verified,
});

/** For a reader of solutions. */
export async function withJudge<T>(use: (reader: SolutionReader) => Promise<T>): Promise<T> {
  const judge = createMathJudge({ children: availableParallelism() });
  try {
    return await use(createSolutionReader(judge));
  } finally {
    judge.close();
  }
}

/** A run has this name, or a name that is derived for this data set. */
async function mayBeThere(out: string, name: string | undefined, dataset: string): Promise<boolean> {
  if (name !== undefined) return runPlace(out, name).store.exists();
  const stem = stemOfRuns(dataset);
  // What is wrong with the folder is said where the run is made.
  return (await namesIn(out).catch(() => [])).some((one) => one.startsWith(stem));
}

/** Asks the model of a new run, and completes its record. Throws, too, where the run's folder cannot be made. */
export async function completeRunRecord<R extends PlannedRun>(planned: R, caller: Caller): Promise<R> {
  const { place, record, isThere, openings, tryOut } = planned;
  if (isThere) return planned;
  await mustTakeRun(place.store.folder);
  await tryOut?.((attempt) => patiently(caller, attempt));
  const { tools, logprobs, model } = await checkModel(record.settings, openings, caller, record.train !== undefined);
  const { tools: _, ...settings } = record.settings;
  return { ...planned, record: { ...record, settings: { ...settings, ...(tools && { tools }) }, logprobs, model } };
}

/** The name of a new run. */
export function mustBeRunName(name: string): void {
  if (isRunName(name)) return;
  throw unusable(`--name ${JSON.stringify(name)} cannot name a run.`, RUN_NAME_RULE, 'run-name');
}
