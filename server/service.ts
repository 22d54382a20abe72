// The local service, as the commands see it: ensure that it is up, stop it, ask how it is, run it in the foreground.
// Any number of CLIs may call at once: whoever starts a supervisor second finds the first one's lock held, and both
// wait for the same service. Nothing here ends the process or writes to the terminal.

import { spawn } from 'node:child_process';
import { closeSync, statSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { TemporalError, UsageError } from '../domain/errors.ts';
import { findTemporal } from './find.ts';
import { createHome, homeOf, type Environment, type Home } from './home.ts';
import { touchService } from './idle.ts';
import { lockHolder } from './lock.ts';
import { logSize, logTail, openLog } from './log-file.ts';
import { packageRoot } from './package-root.ts';
import { signal as sendSignal, terminate, waitUntilGone } from './process.ts';
import type { OnProgress } from './progress.ts';
import { liveState, readState, writeState, type CodeId, type ServiceState } from './state.ts';
import { endLeftovers, supervise } from './supervise.ts';
import { EXIT_HELD, type SupervisorConfig } from './supervisor.ts';
import type { WorkerCommand } from './worker-process.ts';

export interface ServiceOptions {
  readonly env: Environment;
  readonly onProgress?: OnProgress;
  /** Default: this package's own worker. */
  readonly worker?: WorkerCommand;
  /** Default: this package's version, folder and build. */
  readonly code?: CodeId;
  /** JavaScript entry of the supervisor. Default: this package's own. */
  readonly supervisor?: string;
  readonly startWithinMs?: number;
}

export interface Service {
  readonly address: string;
  readonly uiAddress: string;
  readonly state: ServiceState;
  /** Whether this call started it. */
  readonly started: boolean;
}

const START_WITHIN_MS = 120_000;
/** Worker 10 s, server 10 s, and some. */
const STOP_WITHIN_MS = 30_000;
const POLL_MS = 100;

export async function ensureService(options: ServiceOptions): Promise<Service> {
  const home = homeOf(options.env);
  const code = options.code ?? ownCode();
  createHome(home);
  touchService(home);
  let starter: Starter | undefined;
  let told: string | null = null;
  let deadline = Date.now() + (options.startWithinMs ?? START_WITHIN_MS);
  for (; ; await sleep(POLL_MS)) {
    const state = liveState(home);
    if (state && state.phase !== 'stopping') {
      if (isOtherBuild(state, code)) {
        options.onProgress?.({ kind: 'step', text: 'Restarting the local service: everturn was built anew.' });
        await stopService(options.env);
        continue;
      }
      if (state.phase === 'ready')
        return { address: state.address, uiAddress: state.uiAddress, state, started: starter?.ours === true };
      if (state.note && state.note !== told) options.onProgress?.({ kind: 'note', text: (told = state.note) });
    } else if (!state && !starter) {
      if (!lockHolder(home.lockFolder)) {
        starter = await startSupervisor(home, code, options);
        deadline = Date.now() + (options.startWithinMs ?? START_WITHIN_MS);
      }
    } else if (!state && starter?.exit !== undefined) {
      if (starter.exit !== EXIT_HELD)
        throw startFailed(home, starter.logFrom, `it ended with exit code ${starter.exit}`);
      starter = undefined;
    }
    if (Date.now() > deadline) throw startFailed(home, starter?.logFrom ?? 0, state?.note ?? 'it is not ready yet');
  }
}

interface Starter {
  /** Undefined while it runs. */
  exit: number | undefined;
  ours: boolean;
  readonly logFrom: number;
}

async function startSupervisor(home: Home, code: CodeId, options: ServiceOptions): Promise<Starter> {
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
  const starter: Starter = { exit: undefined, ours: true, logFrom: logSize(home.serviceLog) };
  const log = openLog(home.serviceLog);
  const entry = options.supervisor ?? join(packageRoot(), 'dist', 'server', 'supervisor.js');
  const child = spawn(process.execPath, [entry, JSON.stringify(config)], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: home.folder,
    env,
  });
  closeSync(log);
  child.once('error', () => (starter.exit = 1));
  child.once('exit', (exitCode) => {
    starter.exit = exitCode ?? 1;
    if (exitCode === EXIT_HELD) starter.ours = false;
  });
  child.unref();
  return starter;
}

/** A service of other code would play this run by other rules; a new build of the same one only needs a restart. */
function isOtherBuild(state: ServiceState, code: CodeId): boolean {
  if (state.code.version !== code.version || state.code.path !== code.path)
    throw new TemporalError(
      `The local service that is up runs everturn ${state.code.version} from ${state.code.path}, ` +
        `not ${code.version} from ${code.path}.`,
      {
        reason: 'other-version',
        fix: 'End it with `everturn down` (runs go on when a service is up again), or set another EVERTURN_HOME.',
      },
    );
  return state.code.builtAtMs !== code.builtAtMs;
}

function startFailed(home: Home, logFrom: number, why: string): TemporalError {
  const tail = logTail(home.serviceLog, 15, 8192, logFrom);
  const worker = logTail(home.workerLog, 15, 4096);
  return new TemporalError(
    `The local service did not start: ${why}.` +
      (tail ? `\nThe end of ${home.serviceLog}:\n${tail}\n` : '') +
      (worker ? `\nThe end of ${home.workerLog}:\n${worker}\n` : ''),
    {
      reason: 'service-start',
      fix: 'Try `everturn dev`, which shows all its output, or name a cluster by TEMPORAL_ADDRESS.',
    },
  );
}

/** Resolves when nothing of it runs any more: to the state it had, or undefined when none was up. */
export async function stopService(env: Environment): Promise<ServiceState | undefined> {
  const home = homeOf(env);
  const state = liveState(home);
  const supervisor = state?.supervisor ?? lockHolder(home.lockFolder);
  if (supervisor) {
    sendSignal(supervisor, 'SIGTERM');
    if (!(await waitUntilGone(supervisor, STOP_WITHIN_MS))) await terminate(supervisor, 0);
  }
  const last = readState(home);
  await endLeftovers(last);
  if (last && last.phase !== 'stopped' && !lockHolder(home.lockFolder))
    writeState(home, { ...last, phase: 'stopped', server: null, worker: null, note: 'its supervisor was killed' });
  return state;
}

export interface ServiceStatus {
  readonly up: boolean;
  readonly home: Home;
  /** The last state known, also of a service that is down. */
  readonly state: ServiceState | undefined;
}

export function serviceStatus(env: Environment): ServiceStatus {
  const home = homeOf(env);
  const live = liveState(home);
  return { up: live !== undefined, home, state: live ?? readState(home) };
}

export interface ForegroundOptions extends Pick<ServiceOptions, 'env' | 'onProgress' | 'worker' | 'code'> {
  /** Aborted by the caller, on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly onOutput: (name: 'server' | 'worker', stream: Readable) => void;
  readonly onState?: (state: ServiceState) => void;
}

/** The same service in this process; ends on `signal` only. */
export async function runForeground(options: ForegroundOptions): Promise<void> {
  const { env, onProgress, worker, code, ...rest } = options;
  const home = homeOf(env);
  const temporal = await findTemporal({ env, ...(onProgress && { onProgress }) });
  const result = await supervise({
    ...rest,
    env,
    home,
    temporal,
    worker: worker ?? ownWorker(),
    code: code ?? ownCode(),
  });
  if (result.end === 'held')
    throw new TemporalError(`The local service is already up in the background (pid ${result.by.pid}).`, {
      reason: 'service-up',
      fix: 'End it first with `everturn down`.',
    });
}

export function ownWorker(): WorkerCommand {
  return { command: process.execPath, args: [join(packageRoot(), 'dist', 'worker.js')] };
}

export function ownCode(): CodeId {
  const path = packageRoot();
  const { version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { version: string };
  const builtAtMs = Math.floor(statSync(join(path, 'dist', 'worker.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return { version, path, builtAtMs };
}

function idleLimitMs(env: Environment): number {
  const text = env['EVERTURN_IDLE_MINUTES'];
  const minutes = text === undefined || text === '' ? 15 : Number(text);
  if (!(minutes > 0))
    throw new UsageError(`EVERTURN_IDLE_MINUTES is "${text}".`, {
      reason: 'idle-minutes',
      fix: 'It is a number of minutes above 0; 15 when not set.',
    });
  return minutes * 60_000;
}
