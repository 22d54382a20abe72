#!/usr/bin/env node
// The `everturn` command. Only the module of the command that was called is loaded, so that help is quick.

import { statSync, utimesSync } from 'node:fs';
import { argv } from 'node:process';
import { CommanderError } from 'commander';
import { fileError } from '../storage/disk/errors.ts';
import { homeOf } from '../service/home.ts';
import { errorText, EXIT, exitCodeOf } from './exit.ts';
import { processIo } from './io.ts';
import { buildProgram } from './program.ts';

const io = processIo();

// `everturn list | head` is no error.
for (const [name, stream] of Object.entries({ stdout: process.stdout, stderr: process.stderr })) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    const known = fileError('write', name, error);
    if (name === 'stdout') io.err.write(errorText(known, argv.includes('--verbose')));
    process.exit(exitCodeOf(known));
  });
}

/** The local service ends if no command has run for a while. */
function touchLocalService(): void {
  const { touchFile } = homeOf(io.env);
  const now = new Date();
  if (statSync(touchFile, { throwIfNoEntry: false })) utimesSync(touchFile, now, now);
}

try {
  touchLocalService();
  const program = await buildProgram(io, argv.slice(2), (code) => (process.exitCode = code));
  await program.parseAsync(argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    io.err.write(errorText(error, argv.includes('--verbose')));
    process.exitCode = exitCodeOf(error);
  }
}
// Closing connections must not keep the terminal waiting.
process.exit();
