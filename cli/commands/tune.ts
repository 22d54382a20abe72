// `everturn tune <run> --max-concurrent N`: changes the number of rollouts in flight during the run.

import { type Command, Option } from 'commander';
import { resolveOptions } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import type { ExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { steerArguments, type SteerFlags, steerRun } from '../play/steer.ts';

interface Flags extends SteerFlags {
  readonly maxConcurrent: string;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  steerArguments(command, 'everturn tune my-run --max-concurrent 32')
    .addOption(new Option('--max-concurrent <n>', FIELDS.maxConcurrent.help).makeOptionMandatory())
    .action(async (named: string, flags: Flags) => {
      const { maxConcurrent } = resolveOptions({ flags: { maxConcurrent: flags.maxConcurrent } }).options;
      exit(await steerRun(io, named, flags, { how: 'tune', tuning: { maxConcurrent } }));
    });
}
