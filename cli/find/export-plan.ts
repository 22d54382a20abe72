// The flags of an export, parsed before anything is read: the format, its options and the filters. A flag that the format
// has no use for is refused, not ignored.

import { basename, dirname } from 'node:path';
import type { UsageError } from '../../domain/errors/errors.ts';
import { type GroupFilter, NO_FILTER, parseSuccessRate, tooManyMembers } from '../../domain/samples/group.ts';
import { areal } from '../../formats/exports/areal.ts';
import { arealQueries } from '../../formats/exports/areal-queries.ts';
import {
  exporterNamed,
  FORMATS,
  type Layout,
  SEQUENCES,
  type Sequences,
  sequencesFor,
  unknownFormat,
} from '../../formats/exports/index.ts';
import { logFiles, logs } from '../../formats/exports/logs.ts';
import { rows } from '../../formats/exports/rows.ts';
import { exportFolder } from '../../records/export/export-folder.ts';
import type { PartOptions } from '../../records/export/exported-parts.ts';
import { exportRun, type ExportSummary } from '../../records/export/export-run.ts';
import { ADVANTAGES } from '../../records/export/group-labels.ts';
import type { ReadingOptions } from '../../records/export/policies.ts';
import type { SkippedRollout } from '../../records/export/selection.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import type { Store } from '../../records/store.ts';
import { type Flag, flag, flagOf, choiceFlag, required, text, unusable, type Values, wholeFlag } from '../command.ts';
import { OF_PEOPLE, UNDECIDED_FLAG } from '../flags.ts';
import { lines } from '../format.ts';
import { openReadingThreads } from './reading-threads.ts';

export const EXPORT_FLAGS = {
  ...OF_PEOPLE,
  format: required(text('<name>', 'what to write')),
  undecided: UNDECIDED_FLAG,
  successRate: text('<least:most>', 'only groups with this share of right rollouts: 0.1:0.9', {
    group: 'Groups (the samples of one query):',
  }),
  dropZeroVariance: flag('leave out groups whose rewards are all equal'),
  minMembers: wholeFlag('<n>', 'leave out groups with fewer rollouts that have a reward', 1),
  advantages: choiceFlag('<kind>', ADVANTAGES, 'per turn: the return less its mean in the group, or that by std'),
  sequences: choiceFlag('<per>', SEQUENCES, 'areal: one id per rollout or per turn (default: what its trainer loads)', {
    group: 'Of single formats:',
  }),
  texts: flag('rows: also messages, answers, feedback, times and models'),
};
export type ExportFlags = Values<typeof EXPORT_FLAGS>;

interface Target {
  readonly overwrite: boolean;
  readonly onSkip: (rollout: SkippedRollout) => void;
}

export interface Exported {
  readonly summary: ExportSummary;
  /** A note for stderr: the parts of a trajectory that the format cannot carry. */
  readonly note: string | undefined;
}

/** `file`: undefined is stdout. */
export type PlannedExport = (store: Store, file: string | undefined, target: Target) => Promise<Exported>;

/** Throws a UsageError. */
export function plannedExport(flags: ExportFlags): PlannedExport {
  const format = FORMATS.find(({ name }) => name === flags.format);
  if (!format) {
    const known = FORMATS.map(({ name }) => name);
    throw unknownFormat(flags.format, known);
  }
  for (const [flag, { fallback }] of Object.entries<Flag<unknown>>(EXPORT_FLAGS)) {
    const isGiven = flag !== 'format' && flags[flag as keyof ExportFlags] !== fallback;
    if (isGiven && !takes(format.name, flag)) throw notFor(flagOf(flag), format.name);
  }
  if (format.name === logs.name) return logsExport;
  const filter = filterOf(flags);
  const advantages = flags.advantages ?? 'none';
  const selection = { ...readingOf(flags), advantages, ...(filter && { filter }) };
  const write = linesExport(flags, selection);
  return async (store, file, target) => {
    const run = await runOf(store);
    const members = filter?.minMembers ?? 1;
    if (run && members > run.samples) throw tooManyMembers(members, run.samples);
    const { summary, note } = await write(store, run, filter ?? run?.keep, file, target);
    const notes = lines(
      !filter && run?.keep && 'the run’s own filter over groups is applied; flags of this command replace it.',
      note,
      advantages !== 'none' &&
        run?.samples === 1 &&
        'This run has one sample per query: every advantage is 0, and nothing is learned.',
    );
    return { summary, note: notes.join(' ') || undefined };
  };
}

/** Whether a flag means anything to a format. Of one that takes every rollout, nothing selects among them. */
function takes(format: string, flag: string): boolean {
  if (format === logs.name) return false;
  if (flag === 'sequences') return format === areal.name;
  if (flag === 'texts') return format === rows.name;
  if (flag === 'advantages') return FORMATS.some(({ name, advantages }) => name === format && advantages !== undefined);
  return true;
}

type ReadingFlags = Pick<ExportFlags, 'undecided' | 'verdicts' | 'contradicted' | 'humanTurns'>;

/** Throws a UsageError: a policy for people's verdicts means nothing to the judge's. */
export function readingOf({ undecided, verdicts, contradicted, humanTurns }: ReadingFlags): ReadingOptions {
  if (contradicted !== undefined && verdicts !== 'human') {
    throw unusable(
      "--contradicted says what to do where people's verdicts contradict the judge's feedback.",
      'Give it with --verdicts human.',
    );
  }
  return { undecided, verdicts, ...(contradicted && { contradicted }), humanTurns };
}

const logsExport: PlannedExport = async (store, folder, { overwrite, onSkip }) => {
  if (folder === undefined) throw unusable(`${logs.name} takes a folder of files.`, 'Name a folder with --to.');
  if (overwrite) throw notFor('--overwrite', logs.name);
  return { summary: await exportFolder(store, logFiles, { folder, top: logs.top }, onSkip), note: undefined };
};

type Selection = Omit<PartOptions, 'filter'>;
type Write = (
  store: Store,
  run: RunRecord | undefined,
  keep: GroupFilter | undefined,
  file: string | undefined,
  target: Target,
) => Promise<Exported>;

function linesExport(flags: ExportFlags, selection: Selection): Write {
  return async (store, run, keep, file, target) => {
    const sequences = flags.sequences ?? sequencesFor(run);
    const layout: Layout = flags.texts ? 'texts' : sequences;
    const exporter = exporterNamed(flags.format, layout);
    const byQuery = exporter === arealQueries;
    const turns = run?.settings.numTurns ?? 1;
    if (byQuery && turns > 1) {
      const problem = `--sequences query makes one sample of a query's answers, and the run plays ${turns} turns.`;
      throw unusable(problem, 'Choose --sequences rollout or turn.');
    }
    // AReaL's trainer asserts that each id has all of its sequences.
    const minMembers = flags.minMembers ?? null;
    const filter = byQuery ? { ...NO_FILTER, ...keep, minMembers } : keep;
    const chosen = { ...selection, ...(filter && { filter }) };
    const beginning = { out: dirname(store.folder), run: basename(store.folder), format: flags.format, layout };
    const elsewhere = exporter.open ? undefined : await openReadingThreads(store, { ...beginning, selection: chosen });
    const options = { ...chosen, ...target, elsewhere };
    const written = exportRun(store, exporter, file ?? process.stdout, options);
    const summary = await written.finally(() => elsewhere?.close());
    return { summary, note: flags.format === areal.name ? arealNote(flags, sequences, run) : exporter.note };
  };
}

/** A damaged run.json is for `check` to name. */
const runOf = async (store: Store) => (await store.getRun().catch(() => undefined))?.record;

function arealNote({ undecided }: ExportFlags, sequences: Sequences, run: RunRecord | undefined): string | undefined {
  if (sequences === 'query') return 'one id per query: set the trainer’s group_size to the run’s --samples.';
  if (sequences === 'turn')
    return 'one id per turn: set the trainer’s group_size to 1 (--sequences rollout: one id per rollout).';
  const fewer =
    run?.settings.stop === 'success'
      ? 'rollouts of this run differ in length'
      : undecided === 'finished-turns' && 'finished turns of undecided rollouts are fewer';
  return fewer ? `AReaL’s trainer asserts group_size sequences per id; ${fewer}: --sequences turn loads.` : undefined;
}

type FilterFlags = Pick<ExportFlags, 'successRate' | 'dropZeroVariance' | 'minMembers'>;

/** Undefined without such a flag: the run's own filter holds. */
export function filterOf({ successRate, dropZeroVariance, minMembers }: FilterFlags): GroupFilter | undefined {
  if (successRate === undefined && !dropZeroVariance && minMembers === undefined) return undefined;
  const rates = successRate === undefined ? null : parseSuccessRate(successRate);
  if (rates === undefined) {
    const problem = `--success-rate ${JSON.stringify(successRate)} is not two numbers from 0 to 1 in order.`;
    throw unusable(problem, 'Write the least and the greatest rate, such as 0.1:0.9.');
  }
  return { successRate: rates, dropZeroVariance, minMembers: minMembers ?? 1 };
}

function notFor(flag: string, format: string): UsageError {
  const fix = 'Leave it out, or choose the format it is for (everturn export --help).';
  return unusable(`${flag} means nothing to --format ${format}.`, fix);
}
