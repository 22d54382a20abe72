// Starts the background process of the local service, and explains a failed start.

import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { findTemporal } from './binary/find.ts';
import type { Home } from './home.ts';
import type { Environment } from '../machine/user-folders.ts';
import { logSize, logTail, openLog } from './logs.ts';
import { ownWorker, type WorkerCommand } from './worker-process.ts';
import { packageRoot } from '../machine/package-root.ts';
import type { OnProgress } from '../machine/progress.ts';
import type { CodeId } from './state.ts';
import { COULD_NOT } from './supervise.ts';
import type { SupervisorConfig } from './supervisor.ts';

export interface StartOptions {
  readonly env: Environment;
  readonly onProgress?: OnProgress;
  /** Default: this package's own worker. */
  readonly worker?: WorkerCommand;
  /** JavaScript entry of the supervisor. Default: this package's own. */
  readonly supervisor?: string;
}

export interface Starter {
  /** Undefined while it runs. */
  exit: number | 'killed' | undefined;
  /** Another one may have been started beside it, and hold the home. Undefined: it could not be started. */
  readonly pid: number | undefined;
  /** The start of this attempt's part of the logs, in bytes. */
  readonly logFrom: { readonly service: number; readonly worker: number };
}

/** Finds or builds the server's binary first, in this process, which can show the progress. */
export async function startSupervisor(home: Home, code: CodeId, options: StartOptions): Promise<Starter> {
  const { env, onProgress } = options;
  const idleMs = idleLimitMs(env);
  const temporal = await findTemporal({ env, ...(onProgress && { onProgress }) });
  onProgress?.({ kind: 'step', text: 'Starting the local service (Temporal server and worker).' });
  const config: SupervisorConfig = {
    homeFolder: home.folder,
    temporal: { path: temporal.path, version: temporal.version },
    worker: options.worker ?? ownWorker(),
    code,
    idleMs,
  };
  const logFrom = { service: logSize(home.serviceLog), worker: logSize(home.workerLog) };
  const log = openLog(home.serviceLog);
  const entry = options.supervisor ?? join(packageRoot(), 'dist', 'local', 'service', 'supervisor.js');
  const child = spawn(process.execPath, [entry, JSON.stringify(config)], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: home.folder,
    env,
  });
  closeSync(log);
  const starter: Starter = { exit: undefined, pid: child.pid, logFrom };
  child.once('error', () => (starter.exit = 1));
  child.once('exit', (exitCode) => {
    starter.exit = exitCode ?? 'killed';
  });
  child.unref();
  return starter;
}

/** `note`: the supervisor's own explanation. Without one, the log is shown. */
export function startFailed(home: Home, starter: Starter | undefined, note: string | null | undefined): TemporalError {
  const from = starter?.logFrom ?? { service: 0, worker: 0 };
  const own = note ? '' : ended(home.serviceLog, from.service);
  const message = note?.startsWith(COULD_NOT) ? note : `${COULD_NOT}${note ?? 'its supervisor ended'}.`;
  return new TemporalError(`${message}${own}${ended(home.workerLog, from.worker)}`, {
    reason: 'service-start',
    fix: 'Mend what its logs name, or name a cluster by TEMPORAL_ADDRESS.',
  });
}

function ended(file: string, from: number): string {
  const said = lastWords(logTail(file, 60, 16_384, from));
  return said ? `\n${said}\n(all of it: ${file})\n` : ` (its log: ${file})`;
}

const MAX_LINES = 4;

/** The informative end of a log: from its last error on, without stacks. */
export function lastWords(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^\s+at |^\s*[{}]|^Node\.js v/.test(line));
  const error = lines.findLastIndex((line) => /^(?:everturn: |(?:\w*Error\b))|\b(?:error|fatal|panic)\b/i.test(line));
  return lines.slice(error < 0 ? -MAX_LINES : error, error < 0 ? undefined : error + MAX_LINES).join('\n');
}

function idleLimitMs(env: Environment): number {
  const text = env['EVERTURN_IDLE_MINUTES'];
  const minutes = text === undefined || text === '' ? 15 : Number(text);
  if (!(minutes > 0))
    throw new UsageError(`EVERTURN_IDLE_MINUTES is "${text}".`, {
      reason: 'idle-minutes',
      fix: 'Give a number of minutes above 0; the default is 15.',
    });
  return minutes * 60_000;
}
