// The worker as the supervisor's child: gets its cluster from the environment, reports that it is ready, ends with its
// parent (`parent.ts`). Any program that obeys this contract can replace it.

import { spawn } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../machine/user-folders.ts';
import type { KeptChild } from './keep-alive.ts';
import { openLog } from './logs.ts';
import { isReady } from '../machine/parent.ts';
import { identify, terminate } from '../machine/process.ts';
import { packageRoot } from '../machine/package-root.ts';
import { writePrivate } from '../machine/private-file.ts';
import type { Home } from './home.ts';
import type { CodeId } from './state.ts';

export interface WorkerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

interface WorkerOptions {
  readonly worker: WorkerCommand;
  readonly address: string;
  readonly namespace: string;
  readonly env: Environment;
  readonly folder: string;
  readonly logFile: string;
  readonly stopGraceMs: number;
}

export function spawnWorker(options: WorkerOptions): Promise<KeptChild> {
  const { worker } = options;
  const log = openLog(options.logFile);
  const child = spawn(worker.command, [...worker.args], {
    stdio: ['ignore', log, log, 'ipc'],
    cwd: options.folder,
    env: workerEnvironment(options),
    // Its own session: Ctrl-C on a terminal reaches only the supervisor, which stops worker and server in order.
    detached: true,
  });
  closeSync(log);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      const pid = child.pid ?? -1;
      const id = identify(pid) ?? { pid, startTime: 'gone' };
      const exited = new Promise<string>((done) => {
        child.once('exit', (code, signal) => done(signal ? `killed by ${signal}` : `ended with exit code ${code}`));
      });
      const ready = new Promise<void>((done) => {
        child.on('message', (message) => isReady(message) && done());
      });
      const stop = async (): Promise<void> => {
        await terminate(id, options.stopGraceMs);
        await exited;
      };
      resolve({ id, ready, exited, stop });
    });
  });
}

/** Another cluster in the environment (a TEMPORAL_* variable, a temporal.toml) must not reach a local worker. */
function workerEnvironment(options: WorkerOptions): NodeJS.ProcessEnv {
  const own = Object.entries(options.env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return {
    ...Object.fromEntries(own),
    TEMPORAL_ADDRESS: options.address,
    TEMPORAL_NAMESPACE: options.namespace,
    // A file that does not exist: the SDK fails on an empty name.
    TEMPORAL_CONFIG_FILE: join(options.folder, 'no-temporal.toml'),
  };
}

export function ownWorker(): WorkerCommand {
  return { command: process.execPath, args: [join(packageRoot(), 'dist', 'worker.js')] };
}

/** Python starts Everturn by these words; a name that is looked up could be anybody's. */
export function recordCommand(home: Home): void {
  writePrivate(
    home.commandFile,
    `${JSON.stringify([process.execPath, join(packageRoot(), 'dist', 'cli', 'index.js')])}\n`,
  );
}

export function ownCode(): CodeId {
  const path = packageRoot();
  const { version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { version: string };
  return { version, path, built: readFileSync(join(path, 'dist', '.built-from'), 'utf8') };
}
