#!/usr/bin/env node
// The `everturn` command. Only the module of the command that was called is loaded, so that help is quick.

import { argv } from 'node:process';
import { StoreError } from '../domain/errors/errors.ts';
import { fileError } from '../records/disk/errors.ts';
import { errorText, EXIT, exitCodeOf } from './exit.ts';
import { processIo } from './io.ts';
import { main } from './main.ts';

const REPEAT = 'Repeat the command with an output that takes it: nothing else was lost.';
const io = processIo();

// Results that nobody can read are never a success: a reader that went away ends the command as SIGPIPE does, and a full
// disk by its name. Lines on stderr may be lost.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.closedPipe);
  const known = fileError('write', 'stdout', error);
  const fit =
    known instanceof StoreError
      ? new StoreError(known.message, { reason: known.reason, fix: REPEAT, cause: error })
      : known;
  io.err.write(errorText(fit, argv.includes('--verbose')));
  process.exit(exitCodeOf(known));
});
process.stderr.on('error', () => undefined);

process.exitCode = await main(io, argv.slice(2));
// A write that failed says so one tick later.
for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write('', done));
// Closing connections must not keep the terminal waiting.
process.exit();
