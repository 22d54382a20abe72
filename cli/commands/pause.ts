// `everturn pause <run>`: begins no new rollout; those in flight continue to their end.

import type { Command } from 'commander';
import type { ExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import { steerArguments, type SteerFlags, steerRun } from '../play/steer.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  steerArguments(command, 'everturn pause my-run').action(async (named: string, flags: SteerFlags) =>
    exit(await steerRun(io, named, flags, { how: 'pause' })),
  );
}
