#!/usr/bin/env node
// The `everturn` command. Only the module of the command that was called is loaded, so that help is quick.

import { argv } from 'node:process';
import { fileError } from '../storage/disk/errors.ts';
import { errorText, EXIT, exitCodeOf } from './exit.ts';
import { processIo } from './io.ts';
import { main } from './main.ts';

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

process.exitCode = await main(io, argv.slice(2));
// Closing connections must not keep the terminal waiting.
process.exit();
