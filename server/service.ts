// Sees to it that the local service is up. Any number of CLIs may call at once: whoever starts a supervisor second
// finds the first one's lock held, and both wait for the same service. Writes nothing to the terminal; what it
// passes to the service is this process's environment, as it was when the service started.

import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporalError, UsageError } from '../domain/errors.ts';
import { findTemporal } from './find.ts';
import { createHome, homeOf, type Environment, type Home } from './home.ts';
import { touchService } from './idle.ts';
import { lockHolder } from './lock.ts';
import { logSize, logTail, openLog } from './log-file.ts';
import { ownCode, ownWorker } from './own.ts';
import { packageRoot } from './package-root.ts';
import type { OnProgress } from './progress.ts';
import { endSupervisor } from './service-control.ts';
import { liveState, type CodeId, type ServiceState } from './state.ts';
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
const POLL_MS = 100;
const KILLS_BORNE = 5;

export async function ensureService(options: ServiceOptions): Promise<Service> {
  const home = homeOf(options.env);
  const code = options.code ?? ownCode();
  createHome(home);
  touchService(home);
  let starter: Starter | undefined;
  let kills = 0;
  let told: string | null = null;
  let deadline = Date.now() + (options.startWithinMs ?? START_WITHIN_MS);
  for (; ; await sleep(POLL_MS)) {
    const state = liveState(home);
    if (state && state.phase !== 'stopping') {
      if (isOtherBuild(state, code)) {
        options.onProgress?.({ kind: 'step', text: 'Restarting the local service: everturn was built anew.' });
        await endSupervisor(state.supervisor);
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
      const { exit, logFrom } = starter;
      // One that was killed says nothing about the next.
      if (exit !== EXIT_HELD && (exit !== 'killed' || ++kills >= KILLS_BORNE))
        throw startFailed(home, logFrom, exit === 'killed' ? 'it was killed' : `it ended with exit code ${exit}`);
      starter = undefined;
    }
    if (Date.now() > deadline) throw startFailed(home, starter?.logFrom ?? 0, state?.note ?? 'it is not ready yet');
  }
}

interface Starter {
  /** Undefined while it runs. */
  exit: number | 'killed' | undefined;
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
    starter.exit = exitCode ?? 'killed';
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
  const ends = [
    [home.serviceLog, logTail(home.serviceLog, 15, 8192, logFrom)],
    [home.workerLog, logTail(home.workerLog, 15, 4096)],
  ];
  const shown = ends.map(([file, end]) => (end ? `\nThe end of ${file}:\n${end}\n` : '')).join('');
  return new TemporalError(`The local service did not start: ${why}.${shown}`, {
    reason: 'service-start',
    fix: 'Try `everturn dev`, which shows all its output, or name a cluster by TEMPORAL_ADDRESS.',
  });
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
