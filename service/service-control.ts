// Stops the local service, reports its status, or runs it in the foreground. Never ends this process and never writes to
// the terminal; the caller handles signals.

import type { Readable } from 'node:stream';
import { TemporalError } from '../domain/errors.ts';
import { findTemporal } from './binary/find.ts';
import { homeOf, type Environment, type Home } from './home.ts';
import { lockHolder } from '../machine/lock.ts';
import { ownCode, ownWorker } from './own-worker.ts';
import { signal as sendSignal, terminate, waitUntilGone, type ProcessId } from '../machine/process.ts';
import type { OnProgress } from './progress.ts';
import { liveState, readState, writeState, type CodeId, type ServiceState } from './state.ts';
import { endLeftovers, supervise } from './supervise.ts';
import type { WorkerCommand } from './worker-process.ts';

/** Worker 10 s, server 10 s, and a margin. */
const STOP_WITHIN_MS = 30_000;

/** Resolves when none of its processes runs any more: with its last state, or undefined if it was not up. */
export async function stopService(env: Environment): Promise<ServiceState | undefined> {
  const home = homeOf(env);
  const state = liveState(home);
  const supervisor = state?.supervisor ?? lockHolder(home.lockFolder);
  if (supervisor) await endSupervisor(supervisor);
  const last = readState(home);
  await endLeftovers(last);
  if (last && last.phase !== 'stopped' && !lockHolder(home.lockFolder))
    writeState(home, { ...last, phase: 'stopped', server: null, worker: null, note: 'its supervisor was killed' });
  return state;
}

/** Only this supervisor, never one that replaced it meanwhile. */
export async function endSupervisor(supervisor: ProcessId): Promise<void> {
  sendSignal(supervisor, 'SIGTERM');
  if (!(await waitUntilGone(supervisor, STOP_WITHIN_MS))) await terminate(supervisor, 0);
}

export interface ServiceStatus {
  readonly up: boolean;
  readonly home: Home;
  /** The last known state, also of a service that is down. */
  readonly state: ServiceState | undefined;
}

export function serviceStatus(env: Environment): ServiceStatus {
  const home = homeOf(env);
  const live = liveState(home);
  return { up: live !== undefined, home, state: live ?? readState(home) };
}

export interface ForegroundOptions {
  readonly env: Environment;
  readonly onProgress?: OnProgress;
  readonly worker?: WorkerCommand;
  readonly code?: CodeId;
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
