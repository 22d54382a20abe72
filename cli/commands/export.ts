// `everturn export <run> --format F`: complete trajectories in a trainer's format. Rollouts that are not complete,
// or that the filters or the format leave out, are counted and listed on stderr, with what the format cannot carry.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { EXPORTERS, FORMATS, SEQUENCES } from '../../formats/exports/index.ts';
import { TRACE_FORMATS } from '../../formats/exports/traces/index.ts';
import type { ExportSummary } from '../../records/export-run.ts';
import { ADVANTAGES } from '../../records/group-labels.ts';
import { join, resolvePlace } from '../../records/place.ts';
import { mustHoldAll } from '../../records/present.ts';
import type { SkippedRollout } from '../../records/selection.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type ExportFlags, plannedExport } from '../find/export-plan.ts';
import { DEFAULT_OUT, jsonOption, peopleOptions, undecidedOption } from '../flags.ts';
import { plural } from '../view/format.ts';
import { type Io, printJson, say } from '../io.ts';
import { findRun, programName, runArgument, shortPath } from '../find/place.ts';

interface Flags extends ExportFlags {
  readonly runs: string;
  readonly out?: string;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

const LISTED = 20;
/** Of a file in a folder that --out names with a slash at its end. */
const endingOf = (format: string): string =>
  format === 'perfetto' ? 'json' : (EXPORTERS.find(({ name }) => name === format)?.extension ?? 'jsonl');

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  const every = [...FORMATS, ...TRACE_FORMATS];
  const width = Math.max(...every.map(({ name }) => name.length));
  const formats = every.map(({ name, description }) => `  ${name.padEnd(width)} ${description}`).join('\n');
  for (const option of peopleOptions()) command.addOption(option);
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(new Option('--format <name>', 'what to write').makeOptionMandatory())
    .addOption(
      new Option('--out <file>', 'where to write (default: stdout), or a folder/ to write into; for prime-rl its own'),
    )
    .addOption(undecidedOption())
    .addOption(new Option('--overwrite', 'replace an existing file once the new one is complete'))
    .addOption(
      new Option('--runs <dir>', 'the folder that holds runs: --out of the other commands').default(
        DEFAULT_OUT,
        './runs',
      ),
    )
    .addOption(jsonOption('a summary as JSON on stdout; needs --out'))
    .optionsGroup('Groups (the samples of one query):')
    .addOption(new Option('--success-rate <least:most>', 'only groups with this share of right rollouts: 0.1:0.9'))
    .addOption(new Option('--drop-zero-variance', 'leave out groups whose rewards are all equal'))
    .addOption(new Option('--min-members <n>', 'leave out groups with fewer rollouts that have a reward'))
    .addOption(
      new Option('--advantages <kind>', 'per turn: the return less its mean in the group, or that by std').choices(
        ADVANTAGES,
      ),
    )
    .optionsGroup('Of single formats:')
    .addOption(
      new Option(
        '--sequences <per>',
        'areal: one id per rollout or per turn (default: what its trainer loads)',
      ).choices(SEQUENCES),
    )
    .addOption(new Option('--seq-len <tokens>', "prime-rl: the trainer's seq_len"))
    .addOption(new Option('--ranks <n>', 'prime-rl: data-parallel ranks (default: 1)'))
    .addOption(new Option('--groups-per-step <n>', 'prime-rl: groups of one training step (default: 32)'))
    .addOption(new Option('--first-step <n>', 'prime-rl: the number of the first step (default: 0)'))
    .optionsGroup('')
    .addHelpText(
      'after',
      `\nFormats (docs/formats.md):\n${formats}\n\nExample:\n  everturn export my-run --format areal --out my-run.jsonl`,
    )
    .action(async (named: string, flags: Flags) => exit(await exportTo(io, named, flags)));
}

async function exportTo(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const wanted = flags.out === undefined || flags.out === '-' ? undefined : resolvePlace(io.cwd, flags.out);
  const isFolder = flags.out?.endsWith('/') === true && flags.format !== 'prime-rl';
  if (flags.json && wanted === undefined) {
    throw new UsageError('--json prints its summary on stdout, where the export would go.', {
      reason: 'json-without-out',
      fix: 'Name a file for the export with --out.',
    });
  }
  if (endingOf(flags.format) === 'parquet' && wanted === undefined && io.out.isTTY) {
    throw new UsageError('Parquet is binary, and stdout is a terminal.', {
      reason: 'bad-value',
      fix: 'Name a file with --out, or send stdout into one.',
    });
  }
  const planned = plannedExport(flags);
  const place = await findRun(io, named, flags.runs);
  const { store, run } = place;
  const file = isFolder ? join(wanted!, `${run}.${endingOf(flags.format)}`) : wanted;
  // It says what is exported of the records: without it, or of another version, an export would be a guess.
  await store.getRun();
  await mustHoldAll(store);
  const skipped: SkippedRollout[] = [];
  /** Rollouts of one damaged segment have one fault. */
  const faults = new Set<string>();
  const onSkip = (rollout: SkippedRollout) => {
    if (skipped.length < LISTED) skipped.push(rollout);
    if (rollout.outcome === 'broken' && rollout.problem !== null && faults.size < LISTED) faults.add(rollout.problem);
  };
  const { note, summary } = await planned(store, file, { overwrite: flags.overwrite === true, onSkip });
  if (flags.json) printJson(io, { ...summary, format: flags.format, file: summary.empty ? null : file });
  report(io, flags, summary, skipped);
  if (isFolder && !summary.empty) say(io, `They are in ${oneLine(shortPath(io, file!))}.`);
  for (const fault of faults) say(io, `Broken: ${oneLine(fault)}`);
  if (note) say(io, `Note: ${note}`);
  if (!summary.skipped['broken']) return summary.empty ? EXIT.nothing : EXIT.ok;
  say(io, `\`${programName(io)} check ${runArgument(io, place)}\` names what is broken.`);
  return EXIT.bug;
}

function report(io: Io, flags: Flags, summary: ExportSummary, skipped: readonly SkippedRollout[]): void {
  const left = Object.entries(summary.skipped);
  const leftTotal = left.reduce((sum, [, n]) => sum + n, 0);
  const rest = left.map(([outcome, n]) => `${n} ${outcome}`).join(', ');
  const exported = plural(summary.exported, 'trajectory', 'trajectories');
  const partly =
    summary.finishedTurns > 0 ? `, ${summary.finishedTurns} of them the finished turns of undecided rollouts` : '';
  const many = summary.lines > 0 || flags.format === 'dpo';
  const as =
    many && summary.lines !== summary.exported
      ? ` as ${plural(summary.lines, flags.format === 'dpo' ? 'pair' : 'line')}`
      : '';
  say(io, `${exported} exported${as}${partly}${rest ? `; left out: ${rest}.` : '.'}`);
  if (summary.empty) {
    const why = summary.skipped['not-trainable']
      ? ' Its model gives text without token ids: --format messages holds it.'
      : '';
    say(
      io,
      `everturn: Nothing is exported${flags.out === undefined || flags.out === '-' ? '' : ', and no file is written'}.${why}`,
    );
  }
  for (const { query, sample, outcome } of skipped) say(io, `  ${oneLine(query)}, sample ${sample}: ${outcome}`);
  if (leftTotal > skipped.length) say(io, `  … and ${leftTotal - skipped.length} more`);
}
