// One call of the command line, from its arguments to its exit code: whatever is thrown becomes the text and the code of
// its class. It ends no process.

import { statSync, utimesSync } from 'node:fs';
import { CommanderError } from 'commander';
import { homeOf } from '../local/service/home.ts';
import { errorJson, errorText, EXIT, type ExitCode, exitCodeOf } from './exit.ts';
import { type Io, typable } from './io.ts';
import { buildProgram } from './program.ts';

export async function main(io: Io, args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  try {
    touchLocalService(io);
    const program = await buildProgram(io, args, (ended) => (code = ended));
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const code = error instanceof CommanderError ? EXIT.usage : exitCodeOf(error);
    if (!(error instanceof CommanderError)) io.err.write(typable(io, errorText(error, args.includes('--verbose'))));
    if (args.includes('--json')) io.err.write(`${errorJson(error, code)}\n`);
    return code;
  }
}

/** The local service ends if no command has run for a while. */
function touchLocalService(io: Io): void {
  const { touchFile } = homeOf(io.env);
  const now = new Date();
  if (statSync(touchFile, { throwIfNoEntry: false })) utimesSync(touchFile, now, now);
}
