// The worker of this installation, and the identity of its code: two installations or two builds differ.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../machine/package-root.ts';
import type { CodeId } from './state.ts';
import type { WorkerCommand } from './worker-process.ts';

export function ownWorker(): WorkerCommand {
  return { command: process.execPath, args: [join(packageRoot(), 'dist', 'worker.js')] };
}

export function ownCode(): CodeId {
  const path = packageRoot();
  const { version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { version: string };
  const builtAtMs = Math.floor(statSync(join(path, 'dist', 'worker.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return { version, path, builtAtMs };
}
