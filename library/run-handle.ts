// A run as a program reads it, while it is played or later: from its folder, on a disk or in a bucket. Nothing is printed, and
// nothing of the run is changed. Memory: that of one rollout, and some bytes for each that has ended.

import type { Writable } from 'node:stream';
import type { CollectionCounts } from '../domain/run/progress.ts';
import type { NeutralRow } from '../domain/samples/neutral-row.ts';
import type { RowTexts } from '../formats/exports/rows.ts';
import type { ExportSummary } from '../records/export/export-run.ts';
import type { SkippedRollout } from '../records/export/selection.ts';
import type { Begun } from '../run/place.ts';
import type { WaitOptions } from './await-run.ts';
import type { CheckOptions, CheckResult } from './check.ts';
import type { ExportOptions, SampleOptions } from './export-plan.ts';
import type { ExtendOptions, ForkOptions } from './fork.ts';
import type { JudgedRun, JudgeRunOptions } from './judge-run.ts';
import type { Rollout } from './rollout.ts';
import type { StatsByFieldOptions, FieldStatistics, Statistics, StatsOptions } from './statistics.ts';
import type { WeightsOptions, WeightUpdate } from './update-weights.ts';

/**
 * A run. Each method reads again what is stored now. All reject with an `EverturnError`, whose `reason` is stable: a
 * `UsageError` for an option that cannot be meant, a `StoreError` for records that are damaged, missing or of another version, a
 * `TemporalError` where a run is waited for that nobody plays.
 */
export interface Run {
  /** Its name, which is that of its folder. */
  readonly run: string;
  /** Absolute, or `s3://…`. */
  readonly folder: string;

  /**
   * The rollouts that have ended, in the order in which they ended (those that had ended in a bucket before the call: in no
   * order), then each that ends, up to the run's end. Every attempt is one: a later one of the same query and sample counts in its place.
   */
  rollouts(options?: RolloutsOptions): AsyncGenerator<Rollout>;
  /**
   * The trajectories of complete rollouts as token-aligned rows, in data set order, then sample order: those of
   * `everturn export --format rows`. Of a run that goes on, those that are stored now.
   */
  rows(options?: RowsOptions): AsyncGenerator<Row>;
  /** Every number of the run with n, interval and definition, as `everturn stats --json` prints it. */
  stats(options?: StatsOptions): Promise<Statistics>;
  /** The same apart for each value of a field of the data set's rows. */
  stats(options: StatsByFieldOptions): Promise<FieldStatistics>;
  /**
   * Writes the run in a trainer's format, as `everturn export` does. `to`: a file's path, relative to `cwd`, which appears whole
   * or not at all; or a stream. Of `logs`, a folder's path. A file that is there is an error (`file-exists`) without `overwrite`.
   */
  export(format: string, to: string | Writable, options?: ExportOptions & TargetOptions): Promise<ExportResult>;
  /** Proves the records, as `everturn check --json` does: resolves with the number of breaches, and each goes to `onBreach`. */
  check(options?: CheckOptions): Promise<CheckResult>;
  /** Judges its turns again, into a file of verdicts beside its own, which stay: what changed, as `everturn judge --run --json` prints it. */
  judge(options?: JudgeRunOptions): Promise<JudgedRun>;
  /** How far it has come now. Waits for nothing. */
  status(): Promise<RunProgress>;
  /** Waits for the run's end: its status then. A run that was cancelled has ended, too (`state`). */
  result(options?: WaitOptions): Promise<RunProgress>;
  /** Begins no further rollout; those in flight are played to their end. Reason `run-not-open`: it has ended. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Rollouts in flight at once, from now on. */
  tune(options: { readonly maxConcurrent: number }): Promise<void>;
  /** Asks for the run's end, which `result()` waits for: rollouts in flight end as cancelled, and finished turns stay stored. */
  cancel(): Promise<void>;
  /**
   * A new run that plays one rollout again from a turn on, with copies of the turns before it; it goes on by itself. The same call
   * finds the same fork.
   */
  fork(options: ForkOptions): Promise<ForkedRun>;
  /** The same behind the last turn of a rollout that played all of its turns. */
  extend(options: ExtendOptions): Promise<ForkedRun>;
  /**
   * Loads new weights into every server of the run, or its embedded model, and waits for that. A server that refused, or is away, is
   * no error: `whole` is false then, and `servers` says why. Called again, it finishes what was left.
   */
  updateWeights(options: WeightsOptions): Promise<WeightUpdate>;
}

export type ForkedRun = Run & Pick<Begun, 'found'>;

export interface RolloutsOptions extends WaitOptions {
  /** False: only those that have ended by now. Default true. */
  readonly follow?: boolean | undefined;
}

export interface SkipOptions {
  /** Called for each rollout that is left out, with the reason. */
  readonly onSkip?: ((rollout: SkippedRollout) => void) | undefined;
}

/** Without `onSkip`, a rollout with damaged records is an error: rows are never silently fewer. */
export interface RowsOptions extends SampleOptions, SkipOptions {}

/** The fields of texts are there with `texts: true`. */
export type Row = NeutralRow & Partial<RowTexts>;

export interface TargetOptions extends SkipOptions {
  /** Replaces a file that is there. Default false. */
  readonly overwrite?: boolean | undefined;
}

export interface ExportResult extends ExportSummary {
  readonly format: string;
  /** Null: nothing was exported, and no file made; or a stream was written to. */
  readonly file: string | null;
}

/** Fields of `everturn status --json`. */
export interface RunProgress {
  /** The source: a worker of the run, its memo if none answered at once, its result.json, or a count of its records. */
  readonly source: 'temporal' | 'memo' | 'result' | 'records';
  /** `ended`, `cancelled`, `running`, `paused`, …; `interrupted` or `unfinished`: nobody plays it. */
  readonly state: string;
  /** Rollouts of the run. */
  readonly total: number;
  /** Those that ended, the last attempt of each. */
  readonly done: number;
  readonly inFlight: number;
  /** Null where no worker says it. */
  readonly maxConcurrent: number | null;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
  /** Its page in Temporal's UI; null if it is not known. */
  readonly url: string | null;
  /** The missing worker, with the fix, or the model server that is away; null if nothing is waited for. */
  readonly waitingFor: string | null;
  /** Time at which the memo was written, in epoch milliseconds; null for other sources, which are current. */
  readonly toldAt: number | null;
  /** The live workers and their generations at once; null if that is not known. */
  readonly workers: { readonly workers: number; readonly slots: number } | null;
}
