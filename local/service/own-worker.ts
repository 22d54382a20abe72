// The worker of this installation, and the identity of its code: two installations or two builds differ.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../machine/package-root.ts';
import { writePrivate } from '../machine/private-file.ts';
import type { Home } from './home.ts';
import type { CodeId } from './state.ts';
import type { WorkerCommand } from './worker-process.ts';

export function ownWorker(): WorkerCommand {
  return { command: process.execPath, args: [join(packageRoot(), 'dist', 'worker.js')] };
}

/** A trainer's client starts a feed by these words; a name that is looked up could be anybody's. */
export function recordCommand(home: Home): void {
  writePrivate(
    home.commandFile,
    `${JSON.stringify([process.execPath, join(packageRoot(), 'dist', 'cli', 'index.js')])}\n`,
  );
}

export function ownCode(): CodeId {
  const path = packageRoot();
  const { version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { version: string };
  const builtAtMs = Math.floor(statSync(join(path, 'dist', 'worker.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return { version, path, builtAtMs };
}
