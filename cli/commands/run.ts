// `everturn run <dataset>`: plays a data set, or attaches to the run that does.

import { type Command, Option } from 'commander';
import type { ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { addRunFlags, resolveRunFlags, type RunFlags } from '../run-flags.ts';
import type { Io } from '../io.ts';
import { launch } from '../play/launch.ts';

interface Flags extends RunFlags {
  readonly out: string;
  readonly name?: string;
  readonly strict?: boolean;
  readonly detach?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<dataset>', 'a file of problems: JSON lines, CSV, TSV or Parquet')
    .addOption(outOption())
    .addOption(new Option('--name <run>', 'name of the run (default: derived from data and settings)'))
    .addOption(new Option('--detach', 'return as soon as the run has started'))
    .addOption(new Option('--dry-run', 'say what would be played and what it takes at most; start and write nothing'))
    .addOption(new Option('--strict', 'refuse a data set with a bad row'))
    .addOption(jsonOption('events as JSON lines on stdout, everything else on stderr'));
  addRunFlags(command)
    .addHelpText('after', HELP)
    .action(async (dataset: string, flags: Flags) => {
      exit(
        await launch(io, {
          dataset,
          out: flags.out,
          name: flags.name,
          resolved: resolveRunFlags(flags, io),
          strict: flags.strict === true,
          detach: flags.detach === true,
          dryRun: flags.dryRun === true,
          json: flags.json === true,
        }),
      );
    });
}

const HELP = `
The same command attaches to the run that it started. Ctrl-C detaches: the run continues.

Exit codes: 0 finished; 2 wrong flags, or the name is taken by another run; 3 more rollouts failed than
--max-failed, none is complete, or the run was cancelled; 4 Temporal; 5 the model; 6 the data set; 130 detached.
A rollout that the judge could not decide counts as undecided, not as failed.

Example:
  everturn run examples/arithmetic.jsonl --num-turns 4 --max-concurrent 16`;
