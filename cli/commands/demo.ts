// `everturn demo`: plays the shipped data set with the shipped model, as a new run each time.

import { DEMO_DEFAULTS } from '../../domain/run/defaults.ts';
import { join } from 'node:path';
import type { Command } from 'commander';
import { packageRoot } from '../../local/machine/package-root.ts';
import type { ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { addRunFlags, resolveRunFlags, type RunFlags } from '../run-flags.ts';
import type { Io } from '../io.ts';
import { launch } from '../play/launch.ts';
import { shortPath } from '../find/place.ts';

interface Flags extends RunFlags {
  readonly out: string;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command.addOption(outOption()).addOption(jsonOption('events as JSON lines on stdout, everything else on stderr'));
  addRunFlags(command, DEMO_DEFAULTS)
    .addHelpText('after', '\nExample:\n  everturn demo --num-turns 3')
    .action(async (flags: Flags) => {
      exit(
        await launch(io, {
          dataset: shortPath(io, join(packageRoot(), 'examples', 'arithmetic.jsonl')),
          out: flags.out,
          name: demoName(io.now()),
          resolved: resolveRunFlags(flags, io, DEMO_DEFAULTS),
          strict: true,
          detach: false,
          viewer: true,
          json: flags.json === true,
        }),
      );
    });
}

/** `demo-20261121-091355`: each demo is a new run, whose random streams are derived from its name. */
export function demoName(nowMs: number): string {
  const digits = new Date(nowMs).toISOString().replace(/\D/g, '');
  return `demo-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}
