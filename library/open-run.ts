// Opens a run by its name or its folder: for programs, and for commands, which get its store with it.

import type { Writable } from 'node:stream';
import { UsageError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { isRunName } from '../domain/names/ids.ts';
import type { Tuning } from '../domain/run/messages.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import { nothingSeen } from '../records/ended/ended.ts';
import { resolvePlace } from '../records/place.ts';
import { mustHoldAll } from '../records/run/present.ts';
import type { Breach } from '../records/store.ts';
import { askServer } from './ask-server.ts';
import { openWaiting, type WaitOptions } from './await-run.ts';
import type { Around, CheckOptions } from './check.ts';
import type { ExportOptions } from './export-plan.ts';
import type { ExtendOptions, ForkOptions } from './fork.ts';
import type { Method } from './options.ts';
import { openRollout, type Rollout } from './rollout.ts';
import type {
  ExportResult,
  ForkedRun,
  RolloutsOptions,
  Row,
  RowsOptions,
  Run,
  RunProgress,
  TargetOptions,
} from './run-handle.ts';
import type { Caller } from '../run/caller.ts';
import type { WeightsOptions } from './update-weights.ts';
import { told, toldMethods } from './told.ts';
import { DEFAULT_OUT, placeNamed, runPlace, type RunPlace } from '../run/place.ts';
import type { StatsByFieldOptions, FieldStatistics, Statistics, StatsOptions } from './statistics.ts';

export interface OpenOptions {
  /** The folder that holds runs, or `s3://bucket/prefix`. Default `runs`, in `cwd`. */
  readonly out?: string | undefined;
  /** Everturn's home, where a local service has its state. Default: EVERTURN_HOME, or that of this user. */
  readonly home?: string | undefined;
  /** The variables that are read in place of this process's; those of Temporal (`TEMPORAL_*`) are always its own. */
  readonly env?: Environment | undefined;
  /** The folder of relative paths. Default: this process's. */
  readonly cwd?: string | undefined;
  /** Ends the waits of `rollouts()` and `result()` that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the run `named`: by its name in `out`, by its folder, or by its place in a bucket (`s3://bucket/prefix/name`). Rejects
 * with a UsageError of reason `no-such-run` where there is none.
 */
export function openRun(named: string, options: OpenOptions = {}): Promise<Run> {
  return told(openGiven(named, options));
}

async function openGiven(named: string, options: OpenOptions): Promise<Run> {
  if (typeof named !== 'string')
    throw unusable('openRun() has no name of a run.', 'Give its name, its folder or its place in a bucket.');
  await mustTake('openRun', options);
  return withoutPlace(await openPlace(named, options));
}

const withoutPlace = ({ out: _out, store: _store, ...run }: OpenedRun): Run => toldMethods(run);

export type OpenedRun = Run & RunPlace;

type PlaceOptions = OpenOptions & Pick<Around, 'onProgress'>;

function aroundOf({ home, env = process.env, cwd = process.cwd(), signal, onProgress }: PlaceOptions) {
  return { cwd, env: home === undefined ? env : { ...env, EVERTURN_HOME: home }, signal, onProgress };
}

/** The same with its place, for commands. */
export async function openPlace(named: string, options: PlaceOptions): Promise<OpenedRun> {
  const around = aroundOf(options);
  return runAt(await placeNamed(named, { cwd: around.cwd, out: options.out ?? DEFAULT_OUT }), around);
}

/** The same of a run that was started elsewhere, or whose folder was removed, if the server plays it. */
export async function locatePlace(named: string, options: PlaceOptions): Promise<OpenedRun> {
  try {
    return await openPlace(named, options);
  } catch (error) {
    if (!(error instanceof UsageError) || error.reason !== 'no-such-run' || !isRunName(named)) throw error;
    const around = aroundOf(options);
    const { describeWorkflow } = await import('../client/temporal/runs.ts');
    const facts = await askServer(around.env, ({ session }) => describeWorkflow(session, named, 1), around.onProgress);
    if (facts?.state !== 'running') throw error;
    return runAt(runPlace(facts.out ?? resolvePlace(around.cwd, options.out ?? DEFAULT_OUT), named), around);
  }
}

/** Most programs and commands use one part of the library: each is loaded with its first use. */
export const mustTake = async (method: Method, options: unknown) =>
  (await import('./options.ts')).mustTake(method, options);

type Opening = Around & { readonly signal: AbortSignal | undefined };

function runAt(place: RunPlace, around: Opening): OpenedRun {
  const { run, store } = place;
  const { cwd, env, signal, onProgress } = around;

  async function* rollouts(options: RolloutsOptions = {}): AsyncGenerator<Rollout> {
    await mustTake('rollouts', options);
    const { follow = true, signal: own = signal, onWait } = options;
    const waiting = openWaiting(place, { env, signal: own, onWait });
    const seen = nothingSeen();
    for (;;) {
      // Read first: the result is written behind the last end.
      const isLast = !follow || (await store.get('result')) !== undefined;
      let hadNews = false;
      for await (const row of store.listRows({ seen })) {
        own?.throwIfAborted();
        hadNews = true;
        yield openRollout(store, run, row);
      }
      if (isLast) return mustHoldAll(store);
      await waiting.next(hadNews);
    }
  }

  async function status(options = {}): Promise<RunProgress> {
    await mustTake('status', options);
    const { progressOfRun } = await import('./progress.ts');
    return progressOfRun(place, env, onProgress);
  }

  async function result(options: WaitOptions = {}): Promise<RunProgress> {
    await mustTake('result', options);
    const waiting = openWaiting(place, { env, signal: options.signal ?? signal, onWait: options.onWait });
    while (!(await store.get('result'))) await waiting.next(false);
    return status();
  }

  async function exported(
    format: string,
    to: string | Writable,
    options: ExportOptions & TargetOptions = {},
  ): Promise<ExportResult> {
    await mustTake('export', options);
    if (typeof to !== 'string' && typeof (to as { write?: unknown } | null)?.write !== 'function')
      throw unusable('export() has no file to write.', 'Its second argument is the name of a file, or a stream.');
    const { plannedExport } = await import('./export-plan.ts');
    const { overwrite = false, onSkip = () => {} } = options;
    const file = typeof to === 'string' ? resolvePlace(cwd, to) : null;
    const { summary } = await plannedExport(format, options)(store, { to: file ?? to, overwrite, onSkip });
    return { ...summary, format, file: summary.empty ? null : file };
  }

  function stats(options?: StatsOptions): Promise<Statistics>;
  function stats(options: StatsByFieldOptions): Promise<FieldStatistics>;
  async function stats(options: StatsOptions & Partial<StatsByFieldOptions> = {}) {
    await mustTake('stats', options);
    const { by, rows } = options;
    if (by === undefined && rows !== undefined)
      throw unusable('--rows names the data set for --by.', 'Give --by <field> too.');
    const { statisticsByField, statisticsOf } = await import('./statistics.ts');
    if (by === undefined) return statisticsOf(place, options);
    return (await statisticsByField(cwd, place, { ...options, by })).found;
  }

  return {
    ...place,
    folder: store.folder,
    rollouts,
    async *rows(options: RowsOptions = {}): AsyncGenerator<Row> {
      await mustTake('rows', options);
      const { runRows } = await import('./run-rows.ts');
      yield* runRows(store, options);
    },
    stats,
    export: exported,
    async check(options: CheckOptions = {}) {
      await mustTake('check', options);
      const { checkPlace } = await import('./check.ts');
      const { inOptionNames } = await import('./option-names.ts');
      const onBreach = ({ path, problem }: Breach) => options.onBreach?.({ path, problem: inOptionNames(problem) });
      return (await checkPlace(place, around, { ...options, onBreach })).result;
    },
    status,
    result,
    ...actsOn(place, around),
  };
}

type Asked = Pick<WeightsOptions, 'onEvent' | 'signal'>;

type Acts = Pick<Run, 'judge' | 'pause' | 'resume' | 'tune' | 'cancel' | 'fork' | 'extend' | 'updateWeights'>;

/** What adds to a run, changes it, or goes on from it. */
function actsOn(place: RunPlace, around: Opening): Acts {
  const { cwd, env } = around;
  const callerOf = ({ onEvent = () => {}, signal = around.signal }: Asked): Caller => ({
    ...{ cwd, env, now: Date.now, onEvent, signal },
  });

  const steered =
    (how: 'pause' | 'resume' | 'tune' | 'cancel') =>
    async (options: object = {}): Promise<void> => {
      await mustTake(how, options);
      const { steerRun, stopRun } = await import('./steer.ts');
      if (how === 'cancel') await stopRun(place, around);
      else await steerRun(place, around, how === 'tune' ? (options as Tuning) : how);
    };

  async function continued(method: Method, options: (ForkOptions | ExtendOptions) & Asked): Promise<ForkedRun> {
    await mustTake(method, options);
    const { startFork } = await import('./fork.ts');
    const { place: made, found } = await startFork(place, callerOf(options), options);
    return { ...withoutPlace(runAt(made, around)), found };
  }

  return {
    async judge(options = {}) {
      await mustTake('judge', options);
      const { judgeRun } = await import('./judge-run.ts');
      return judgeRun(place, callerOf(options), options);
    },
    pause: steered('pause'),
    resume: steered('resume'),
    tune: steered('tune'),
    cancel: steered('cancel'),
    fork: (options) => continued('fork', options),
    extend: (options) => continued('extend', options),
    async updateWeights(options) {
      await mustTake('updateWeights', options);
      const { updateWeightsOf } = await import('./update-weights.ts');
      const caller = callerOf(options);
      const done = await updateWeightsOf(place, caller, options);
      if (!done) throw caller.signal!.reason;
      return done;
    },
  };
}
