// `everturn resume <run>`: lets a paused run begin rollouts again.

import type { Command } from 'commander';
import type { ExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { steerArguments, type SteerFlags, steerRun } from '../play/steer.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  steerArguments(command, 'everturn resume my-run').action(async (named: string, flags: SteerFlags) =>
    exit(await steerRun(io, named, flags, { how: 'resume' })),
  );
}
