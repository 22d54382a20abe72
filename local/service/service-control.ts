// Stops the local service, and reports its status. Never ends this process and never writes to the terminal.

import { homeOf, type Home } from './home.ts';
import type { Environment } from '../machine/user-folders.ts';
import { lockHolder } from '../machine/lock.ts';
import { signal as sendSignal, terminate, waitUntilGone, type ProcessId } from '../machine/process.ts';
import { liveState, readState, writeState, type ServiceState } from './state.ts';
import { endLeftovers } from './supervise.ts';

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
