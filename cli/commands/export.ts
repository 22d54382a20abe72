// `everturn export <run> --format F`: complete trajectories in a trainer's format. What is not complete is
// counted and listed on stderr, never exported; but the finished turns of undecided rollouts may be asked for.

import { resolve } from 'node:path';
import { oneLine } from '../../domain/foreign-text.ts';
import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors.ts';
import type { UndecidedPolicy } from '../../domain/finished-turns.ts';
import { EXPORTERS, exporterNamed } from '../../exporters/index.ts';
import { exportRun } from '../../storage/export-run.ts';
import type { SkippedRollout } from '../../storage/selection.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { DEFAULT_OUT, jsonOption, undecidedOption } from '../flags.ts';
import { plural } from '../view/format.ts';
import { type Io, printJson, say } from '../io.ts';
import { findRun } from '../find/place.ts';

interface Flags {
  readonly runs: string;
  readonly format: string;
  readonly out?: string;
  readonly undecided: UndecidedPolicy;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

const LISTED = 20;

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  const formats = EXPORTERS.map(({ name, description }) => `  ${name.padEnd(8)} ${description}`).join('\n');
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(new Option('--format <name>', 'what to write').makeOptionMandatory())
    .addOption(new Option('--out <file>', 'where to write (default: stdout)'))
    .addOption(undecidedOption())
    .addOption(new Option('--overwrite', 'replace the file that is there, when the new one is whole'))
    .addOption(new Option('--runs <dir>', 'the folder that holds runs').default(DEFAULT_OUT, './runs'))
    .addOption(jsonOption('a summary as JSON on stdout; needs --out'))
    .addHelpText(
      'after',
      `\nFormats:\n${formats}\n\nExample:\n  everturn export my-run --format areal --out my-run.jsonl`,
    )
    .action(async (named: string, flags: Flags) => exit(await exportTo(io, named, flags)));
}

async function exportTo(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const file = flags.out === undefined || flags.out === '-' ? undefined : resolve(io.cwd, flags.out);
  if (flags.json && file === undefined) {
    throw new UsageError('--json prints its summary where the export would go.', {
      reason: 'json-without-out',
      fix: 'Name a file with --out.',
    });
  }
  const exporter = exporterNamed(flags.format);
  const { store } = findRun(io, named, flags.runs);
  const skipped: SkippedRollout[] = [];
  const summary = await exportRun(store, exporter, file ?? process.stdout, {
    undecided: flags.undecided,
    overwrite: flags.overwrite === true,
    onSkip: (rollout) => skipped.length < LISTED && skipped.push(rollout),
  });
  const left = Object.entries(summary.skipped);
  const leftTotal = left.reduce((sum, [, n]) => sum + n, 0);
  if (flags.json) printJson(io, { ...summary, format: exporter.name, file });
  const rest = left.map(([outcome, n]) => `${n} ${outcome}`).join(', ');
  const exported = plural(summary.exported, 'trajectory', 'trajectories');
  const partly =
    summary.finishedTurns > 0 ? `, ${summary.finishedTurns} of them the finished turns of undecided rollouts` : '';
  say(io, `${exported} exported${partly}${rest ? `; left out: ${rest}.` : '.'}`);
  for (const { query, sample, outcome } of skipped) say(io, `  ${oneLine(query)}, sample ${sample}: ${outcome}`);
  if (leftTotal > skipped.length) say(io, `  … and ${leftTotal - skipped.length} more`);
  return EXIT.ok;
}
