// An export, planned from its options before anything is read: the format, its layout and the filters.

import { basename, dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type { UsageError } from '../domain/errors/errors.ts';
import { flagOf, unusable } from '../domain/errors/unusable.ts';
import type { UndecidedPolicy } from '../domain/samples/finished-turns.ts';
import { type GroupFilter, NO_FILTER, parseSuccessRate, tooManyMembers } from '../domain/samples/group.ts';
import type { ContradictedPolicy, VerdictSource } from '../domain/samples/human-verdicts.ts';
import { areal, arealQueries } from '../formats/exports/areal.ts';
import {
  exporterNamed,
  EXPORT_FORMATS,
  type Layout,
  type Sequences,
  sequencesFor,
  unknownFormat,
} from '../formats/exports/index.ts';
import { inspect, inspectLog } from '../formats/exports/inspect.ts';
import { logFiles, logs } from '../formats/exports/logs.ts';
import { rows } from '../formats/exports/rows.ts';
import { exportFolder } from '../records/export/export-folder.ts';
import type { PartOptions } from '../records/export/exported-parts.ts';
import { exportRun, type ExportSummary } from '../records/export/export-run.ts';
import type { Advantages, HumanTurnsPolicy, ReadingOptions } from '../records/export/group-labels.ts';
import type { SkippedRollout } from '../records/export/selection.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { mustHoldAll } from '../records/run/present.ts';
import type { Store } from '../records/store.ts';
import { inspectRunOf } from './inspect-header.ts';
import { openReadingThreads } from './reading-threads.ts';

/** Which rollouts an export takes, and how their samples are made; each has the default of `everturn export`. */
export interface SampleOptions {
  /** Rollouts that end with a turn that could not be judged: left out (default), or exported up to the turn before it. */
  readonly undecided?: UndecidedPolicy | undefined;
  /** Whose verdicts count: the judge's (default), or people's where they gave one. */
  readonly verdicts?: VerdictSource | undefined;
  /** With people's verdicts: rollouts that went on after feedback which these contradict. Default `drop`. */
  readonly contradicted?: ContradictedPolicy | undefined;
  /** Rollouts with a person's message in their context. Default `drop`. */
  readonly humanTurns?: HumanTurnsPolicy | undefined;
  /** Only groups (the samples of one query) with this share of right rollouts: `[0.1, 0.9]`, or `0.1:0.9`. */
  readonly successRate?: string | readonly [least: number, most: number] | undefined;
  /** Leaves out groups whose rewards are all equal. Default false. */
  readonly dropZeroVariance?: boolean | undefined;
  /** Leaves out groups with fewer rollouts that have a reward. */
  readonly minMembers?: number | undefined;
  /** Per turn: the return less its mean in the group, or that by its standard deviation. Default `none`. */
  readonly advantages?: Advantages | undefined;
  /**
   * `rows` and `parquet`: masks tokens that are more than so many weight versions older than the newest of their row. Default:
   * none.
   */
  readonly maxTokenGap?: number | undefined;
  /** Adds messages, answers, feedback, times and models to `rows`. Default false. */
  readonly texts?: boolean | undefined;
}

export interface ExportOptions extends SampleOptions {
  /** `areal` has one id per rollout, turn or query. Default: what its trainer loads. */
  readonly sequences?: Sequences | undefined;
}

const DEFAULTS: ExportOptions = {
  ...{ undecided: 'drop', verdicts: 'judge', humanTurns: 'drop', dropZeroVariance: false, texts: false },
};

interface ExportTarget {
  /** A file's path or a stream; of `logs`, a folder's path. */
  readonly to: string | Writable;
  /** Replaces a file that is there; otherwise that is an error. */
  readonly overwrite: boolean;
  readonly onSkip: (rollout: SkippedRollout) => void;
}

interface Exported {
  readonly summary: ExportSummary;
  /** A note for stderr: the parts of a trajectory that the format cannot carry. */
  readonly note: string | undefined;
}

/** Throws a UsageError, before anything is read: an option that the format has no use for is refused, not ignored. */
export function plannedExport(format: string, options: ExportOptions) {
  const known = EXPORT_FORMATS.map(({ name }) => name);
  if (!known.includes(format)) throw unknownFormat(format, known);
  for (const option of OPTIONS) {
    const isGiven = options[option] !== undefined && options[option] !== DEFAULTS[option];
    if (isGiven && !takes(format, option)) throw notFor(flagOf(option), format);
  }
  const { advantages = 'none' } = options;
  const own = filterOf(options);
  const selection = { ...readingOf(options), advantages };
  return async (store: Store, target: ExportTarget): Promise<Exported> => {
    // It says what is exported of the records: without it, or of another version, an export would be a guess.
    const run = (await store.get('run'))?.record;
    await mustHoldAll(store);
    if (format === logs.name) return logsExport(store, target);
    if (format === inspect.name) return inspectExport(store, target);
    const members = own?.minMembers ?? 1;
    if (run && members > run.samples) throw tooManyMembers(members, run.samples);
    const filter = own ?? run?.keep;
    const chosen = { ...selection, ...(filter && { filter }) };
    const { summary, note } = await linesExport(store, run, { ...options, format }, chosen, target);
    const notes = [
      ...(!own && filter ? [OWN_FILTER] : []),
      ...(note ? [note] : []),
      ...(advantages !== 'none' && run?.samples === 1 ? [ALONE] : []),
    ];
    return { summary, note: notes.join(' ') || undefined };
  };
}

const OWN_FILTER = 'the run’s own filter over groups is applied; flags of this command replace it.';
const ALONE = 'This run has one sample per query: every advantage is 0, and nothing is learned.';

const OPTIONS = [
  ...(['verdicts', 'contradicted', 'humanTurns', 'undecided', 'successRate', 'dropZeroVariance'] as const),
  ...(['minMembers', 'advantages', 'maxTokenGap', 'sequences', 'texts'] as const),
];

/** Whether an option means anything to a format. Of one that takes every rollout, nothing selects among them. */
function takes(format: string, option: string): boolean {
  if (format === logs.name || format === inspect.name) return false;
  if (option === 'sequences') return format === areal.name;
  if (option === 'texts') return format === rows.name;
  if (option === 'advantages')
    return EXPORT_FORMATS.some(({ name, advantages }) => name === format && advantages !== undefined);
  if (option === 'maxTokenGap') return EXPORT_FORMATS.some(({ name, masks }) => name === format && masks !== undefined);
  return true;
}

/** Throws a UsageError: a policy for people's verdicts means nothing to the judge's. */
export function readingOf({
  undecided = 'drop',
  verdicts = 'judge',
  contradicted,
  humanTurns = 'drop',
  maxTokenGap,
}: SampleOptions): ReadingOptions & Pick<PartOptions, 'maxTokenGap'> {
  if (contradicted !== undefined && verdicts !== 'human') {
    throw unusable(
      "--contradicted says what to do where people's verdicts contradict the judge's feedback.",
      'Give it with --verdicts human.',
    );
  }
  const gap = maxTokenGap === undefined ? {} : { maxTokenGap };
  return { undecided, verdicts, ...(contradicted && { contradicted }), humanTurns, ...gap };
}

async function logsExport(store: Store, { to: folder, overwrite, onSkip }: ExportTarget): Promise<Exported> {
  if (typeof folder !== 'string') throw unusable(`${logs.name} takes a folder of files.`, 'Name a folder with --to.');
  if (overwrite) throw notFor('--overwrite', logs.name);
  return { summary: await exportFolder(store, logFiles, { folder, top: logs.top }, onSkip), note: undefined };
}

async function inspectExport(store: Store, { to, ...target }: ExportTarget): Promise<Exported> {
  const run = await inspectRunOf({ out: dirname(store.folder), run: basename(store.folder), store });
  return { summary: await exportRun(store, inspectLog(run), to, target), note: undefined };
}

async function linesExport(
  store: Store,
  run: RunRecord | undefined,
  options: ExportOptions & { readonly format: string },
  selection: PartOptions,
  { to, ...target }: ExportTarget,
): Promise<Exported> {
  const { format, sequences = sequencesFor(run) } = options;
  const layout: Layout = options.texts ? 'texts' : sequences;
  const exporter = exporterNamed(format, layout);
  const byQuery = exporter === arealQueries;
  const turns = run?.settings.numTurns ?? 1;
  if (byQuery && turns > 1) {
    const problem = `--sequences query makes one sample of a query's answers, and the run plays ${turns} turns.`;
    throw unusable(problem, 'Choose --sequences rollout or turn.');
  }
  // AReaL's trainer asserts that each id has all of its sequences.
  const whole = { ...NO_FILTER, ...selection.filter, minMembers: options.minMembers ?? null };
  const chosen = byQuery ? { ...selection, filter: whole } : selection;
  const beginning = { out: dirname(store.folder), run: basename(store.folder), format, layout };
  const elsewhere = exporter.open ? undefined : await openReadingThreads(store, { ...beginning, selection: chosen });
  const written = exportRun(store, exporter, to, { ...chosen, ...target, elsewhere });
  const summary = await written.finally(() => elsewhere?.close());
  return { summary, note: format === areal.name ? arealNote(options, sequences, run) : exporter.note };
}

function arealNote({ undecided }: ExportOptions, sequences: Sequences, run: RunRecord | undefined): string | undefined {
  if (sequences === 'query') return 'one id per query: set the trainer’s group_size to the run’s --samples.';
  if (sequences === 'turn')
    return 'one id per turn: set the trainer’s group_size to 1 (--sequences rollout: one id per rollout).';
  const fewer =
    run?.settings.stop === 'success'
      ? 'rollouts of this run differ in length'
      : undecided === 'finished-turns' && 'finished turns of undecided rollouts are fewer';
  return fewer ? `AReaL’s trainer asserts group_size sequences per id; ${fewer}: --sequences turn loads.` : undefined;
}

/** Undefined without such an option: the run's own filter holds. */
export function filterOf({
  successRate,
  dropZeroVariance = false,
  minMembers,
}: SampleOptions): GroupFilter | undefined {
  if (successRate === undefined && !dropZeroVariance && minMembers === undefined) return undefined;
  const given = typeof successRate === 'object' ? successRate.join(':') : successRate;
  const rates = given === undefined ? null : parseSuccessRate(given);
  if (rates === undefined) {
    const problem = `--success-rate ${JSON.stringify(given)} is not two numbers from 0 to 1 in order.`;
    throw unusable(problem, 'Write the least and the greatest rate, such as 0.1:0.9.');
  }
  return { successRate: rates, dropZeroVariance, minMembers: minMembers ?? 1 };
}

function notFor(flag: string, format: string): UsageError {
  const fix = 'Leave it out, or choose the format it is for (everturn export --help).';
  return unusable(`${flag} means nothing to --format ${format}.`, fix);
}
