// The flags of an export, parsed before anything is read: the format, its options and the filters. A flag that the format
// has no use for is refused, not ignored.

import { basename, dirname } from 'node:path';
import type { UndecidedPolicy } from '../../domain/rollout/finished-turns.ts';
import type { UsageError } from '../../domain/errors/errors.ts';
import { type GroupFilter, NO_FILTER, parseSuccessRate, tooManyMembers } from '../../domain/rollout/group.ts';
import type { ContradictedPolicy, VerdictSource } from '../../domain/rollout/judged-by-people.ts';
import { areal } from '../../formats/exports/areal.ts';
import { arealQueries } from '../../formats/exports/areal-queries.ts';
import { exporterNamed, FORMATS, type Sequences, sequencesFor, unknownFormat } from '../../formats/exports/index.ts';
import { logFiles, logs } from '../../formats/exports/logs.ts';
import { openSteps, primeRl } from '../../formats/exports/prime-rl.ts';
import { TRACE_FORMATS } from '../../formats/exports/traces/index.ts';
import type { TraceFormat } from '../../formats/exports/traces/trace-format.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { exportFolder } from '../../records/export/export-folder.ts';
import { exportRun, type ExportSummary } from '../../records/export/export-run.ts';
import type { Advantages } from '../../records/export/group-labels.ts';
import type { HumanTurnsPolicy, ReadingOptions } from '../../records/export/policies.ts';
import type { SkippedRollout } from '../../records/export/selection.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import type { Store } from '../../records/store.ts';
import { flagOf, unusable } from '../command.ts';
import { openParts } from './parts.ts';

export interface ExportFlags {
  readonly format: string;
  readonly undecided: UndecidedPolicy;
  readonly verdicts: VerdictSource;
  readonly contradicted: ContradictedPolicy | undefined;
  readonly humanTurns: HumanTurnsPolicy;
  readonly successRate: string | undefined;
  readonly dropZeroVariance: boolean;
  readonly minMembers: number | undefined;
  readonly advantages: Advantages | undefined;
  readonly sequences: Sequences | undefined;
  readonly seqLen: number | undefined;
  readonly ranks: number | undefined;
  readonly groupsPerStep: number | undefined;
  readonly firstStep: number | undefined;
}

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

const STEP_FLAGS = ['seqLen', 'ranks', 'groupsPerStep', 'firstStep'] as const;

/** Throws a UsageError. */
export function plannedExport(flags: ExportFlags): PlannedExport {
  const traces = TRACE_FORMATS.find(({ name }) => name === flags.format);
  if (traces) return tracesExport(flags, traces);
  const format = FORMATS.find(({ name }) => name === flags.format);
  if (!format) {
    throw unknownFormat(
      flags.format,
      [...FORMATS, ...TRACE_FORMATS].map(({ name }) => name),
    );
  }
  if (flags.sequences !== undefined && format.name !== areal.name) throw notFor('--sequences', format.name);
  if (flags.advantages !== undefined && format.advantages === undefined) throw notFor('--advantages', format.name);
  const filter = filterOf(flags);
  const selection = {
    ...readingOf(flags),
    advantages: flags.advantages ?? format.advantages ?? 'none',
    ...(filter ? { filter } : {}),
  };
  if (format.name === logs.name) return logsExport(flags);
  if (format.name === primeRl.name) return primeRlExport(flags, selection);
  for (const flag of STEP_FLAGS) if (flags[flag] !== undefined) throw notFor(flagOf(flag), format.name);
  return async (store, file, target) => {
    const run = await runOf(store);
    mustFit(filter, run);
    const sequences = flags.sequences ?? sequencesFor(run);
    const exporter = exporterNamed(format.name, sequences);
    const byQuery = exporter === arealQueries;
    if (byQuery) mustHaveOneTurn(run);
    const keep = filter ?? run?.keep;
    // AReaL's trainer asserts that each id has all of its sequences.
    const of = byQuery
      ? { ...NO_FILTER, ...keep, minMembers: flags.minMembers === undefined ? null : keep!.minMembers }
      : keep;
    const chosen = { ...selection, ...(of && { filter: of }) };
    const place = { out: dirname(store.folder), run: basename(store.folder) };
    const parts = exporter.open
      ? undefined
      : await openParts(store, { ...place, format: format.name, sequences, selection: chosen });
    const summary = await exportRun(store, exporter, file ?? process.stdout, {
      ...chosen,
      ...target,
      elsewhere: parts,
    }).finally(() => parts?.close());
    const note = format.name === areal.name ? arealNote(flags, sequences, run?.settings.stop) : exporter.note;
    const lone = selection.advantages === 'none' ? undefined : loneNote(run);
    return { summary, note: joined(filter ? undefined : keepNote(run), note, lone) };
  };
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

/** The flags of every export, and the values of the others with which nothing is selected. */
const OF_TARGET: ReadonlySet<string> = new Set(['run', 'format', 'out', 'to', 'overwrite', 'json']);
const UNSELECTED: Readonly<Record<string, unknown>> = {
  ...{ undecided: 'drop', verdicts: 'judge', humanTurns: 'drop' },
  dropZeroVariance: false,
};

/** Of a format that takes every rollout: nothing selects among them. */
function mustNotSelect(flags: ExportFlags): void {
  for (const [flag, value] of Object.entries(flags))
    if (!OF_TARGET.has(flag) && value !== UNSELECTED[flag]) throw notFor(flagOf(flag), flags.format);
}

function tracesExport(flags: ExportFlags, format: TraceFormat): PlannedExport {
  mustNotSelect(flags);
  return async (store, file, target) => {
    const open = () => format.open({ run: basename(store.folder), everturn: everturnVersion() });
    const exporter = { every: true, open, lines: () => [] };
    return { summary: await exportRun(store, exporter, file ?? process.stdout, target), note: format.note };
  };
}

function logsExport(flags: ExportFlags): PlannedExport {
  mustNotSelect(flags);
  return async (store, folder, { overwrite, onSkip }) => {
    mustBeFolder(logs.name, folder, overwrite);
    const place = { folder, top: logs.top };
    const encoder = { add: logFiles, end: () => [] };
    const summary = await exportFolder(store, encoder, place, { every: true, onSkip });
    return { summary: { ...summary, lines: summary.exported }, note: undefined };
  };
}

function mustBeFolder(format: string, folder: string | undefined, overwrite: boolean): asserts folder is string {
  if (folder === undefined) throw unusable(`${format} takes a folder of files.`, 'Name a folder with --to.');
  if (overwrite) throw notFor('--overwrite', format);
}

type Selection = Parameters<typeof exportFolder>[3];

function primeRlExport(flags: ExportFlags, selection: Selection): PlannedExport {
  const { seqLen, ranks = 1, groupsPerStep = 32, firstStep = 0 } = flags;
  if (seqLen === undefined) {
    throw unusable(
      'prime-rl packs samples into micro batches of a length that only its trainer knows.',
      "Give the trainer's seq_len: --seq-len 8192.",
    );
  }
  const options = { seqLen, ranks, groupsPerStep, firstStep };
  return async (store, folder, { overwrite, onSkip }) => {
    const run = await runOf(store);
    mustFit(selection.filter, run);
    mustBeFolder(primeRl.name, folder, overwrite);
    const steps = openSteps(options);
    const place = { folder, top: 'rollouts' };
    const filter = selection.filter ?? run?.keep;
    const chosen = { ...selection, ...(filter && { filter }) };
    const summary = await exportFolder(store, steps, place, { ...chosen, onSkip, forTraining: true, grouped: true });
    const cut = steps.cut();
    const said = cut > 0 ? ` ${cut} samples were longer than --seq-len and were cut there, as prime-rl does.` : '';
    const kept = selection.filter ? undefined : keepNote(run);
    return { summary, note: joined(kept, `${primeRl.note}${said}`, loneNote(run)) };
  };
}

/** A damaged run.json is for `check` to name. */
const runOf = async (store: Store) => (await store.getRun().catch(() => undefined))?.record;

function mustFit(filter: GroupFilter | undefined, run: { readonly samples: number } | undefined): void {
  const members = filter?.minMembers ?? 1;
  if (run && members > run.samples) throw tooManyMembers(members, run.samples);
}

const joined = (...notes: readonly (string | undefined)[]): string | undefined =>
  notes.filter((note) => note !== undefined).join(' ') || undefined;

const loneNote = (run: { readonly samples: number } | undefined): string | undefined =>
  run?.samples === 1 ? 'This run has one sample per query: every advantage is 0, and nothing is learned.' : undefined;

const keepNote = (run: RunParts | undefined): string | undefined =>
  run?.keep ? 'the run’s own filter over groups is applied; flags of this command replace it.' : undefined;

function mustHaveOneTurn(run: RunParts | undefined): void {
  const turns = run?.settings.numTurns ?? 1;
  if (turns === 1) return;
  const problem = `--sequences query makes one sample of a query's answers, and the run plays ${turns} turns.`;
  throw unusable(problem, 'Choose --sequences rollout or turn.');
}

type RunParts = Pick<RunRecord, 'settings' | 'keep'>;

function arealNote(
  flags: ExportFlags,
  sequences: Sequences,
  stop: 'always' | 'success' | undefined,
): string | undefined {
  if (sequences === 'query') return 'one id per query: set the trainer’s group_size to the run’s --samples.';
  if (sequences === 'turn')
    return 'one id per turn: set the trainer’s group_size to 1 (--sequences rollout: one id per rollout).';
  if (stop === 'success')
    return 'AReaL’s trainer asserts group_size sequences per id, and rollouts of this run differ in length: --sequences turn loads.';
  return flags.undecided === 'finished-turns'
    ? 'AReaL’s trainer asserts group_size sequences per id; finished turns of undecided rollouts are fewer: --sequences turn loads.'
    : undefined;
}

function filterOf({ successRate, dropZeroVariance, minMembers }: ExportFlags): GroupFilter | undefined {
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
