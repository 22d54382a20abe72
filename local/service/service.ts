// Ensures that the local service is up. Any number of CLIs may call at once: the second supervisor finds the lock of the
// first, and both wait for the same service. Writes nothing to the terminal. The service gets the environment of the
// process that started it.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporalError } from '../../domain/errors/errors.ts';
import { createHome, type Home, homeOf } from './home.ts';
import { touchService } from './idle.ts';
import { lockHolder } from '../machine/lock.ts';
import { ownCode } from './worker-process.ts';
import { type Starter, startFailed, type StartOptions, startSupervisor } from './start-supervisor.ts';
import { type CodeId, liveState, readState, type ServiceState, writeState } from './state.ts';
import { EXIT_HELD } from './supervisor.ts';
import type { Environment } from '../machine/user-folders.ts';
import { type ProcessId, signal as sendSignal, terminate, waitUntilGone } from '../machine/process.ts';
import { endLeftovers } from './supervise.ts';

export interface ServiceOptions extends StartOptions {
  /** Default: this package's version, folder and build. */
  readonly code?: CodeId;
  readonly startWithinMs?: number;
}

export interface Service {
  readonly address: string;
  readonly uiAddress: string | null;
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
  let shown: string | null = null;
  let deadline = Date.now() + (options.startWithinMs ?? START_WITHIN_MS);
  for (; ; await sleep(POLL_MS)) {
    const state = liveState(home);
    if (state && state.phase !== 'stopping') {
      if (isOtherBuild(state, code)) {
        options.onProgress?.({ kind: 'step', text: 'Restarting the local service: everturn was rebuilt.' });
        await endSupervisor(state.supervisor);
        continue;
      }
      if (state.phase === 'ready')
        return {
          ...{ address: state.address, uiAddress: state.uiAddress, state },
          started: starter?.pid === state.supervisor.pid,
        };
      if (state.note && state.note !== shown) options.onProgress?.({ kind: 'note', text: (shown = state.note) });
    } else if (!state && !starter) {
      if (!lockHolder(home.lockFolder)) {
        const beganAtMs = Date.now();
        starter = await startSupervisor(home, code, options);
        // Time spent building the server does not count.
        deadline += Date.now() - beganAtMs;
      }
    } else if (!state && starter?.exit !== undefined) {
      // A supervisor that was killed, or stopped before it was seen ready, is no evidence against the next.
      const again =
        starter.exit === EXIT_HELD || starter.exit === 0 || (starter.exit === 'killed' && ++kills < KILLS_BORNE);
      if (!again) throw startFailed(home, starter, readState(home)?.note);
      starter = undefined;
    }
    if (Date.now() > deadline) throw startFailed(home, starter, state?.note ?? 'it is not ready yet');
  }
}

/**
 * A service with other code would apply other rules to this run. It only needs a restart where its folder holds a new build, or
 * where it has equal code, whose folder is gone.
 */
function isOtherBuild({ code: running }: ServiceState, code: CodeId): boolean {
  const isEqual = running.version === code.version && running.built === code.built;
  if (isEqual) return running.path !== code.path && !existsSync(running.path);
  if (running.version === code.version && running.path === code.path) return true;
  const differ = running.version === code.version ? '; their code differs' : '';
  throw new TemporalError(
    `The local service that is up runs everturn ${running.version} from ${running.path}, ` +
      `not ${code.version} from ${code.path}${differ}.`,
    {
      reason: 'other-version',
      fix: 'End it with `everturn down` (runs continue once a service is up again), or set another EVERTURN_HOME.',
    },
  );
}

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
async function endSupervisor(supervisor: ProcessId): Promise<void> {
  sendSignal(supervisor, 'SIGTERM');
  if (!(await waitUntilGone(supervisor, STOP_WITHIN_MS))) await terminate(supervisor, 0);
}

interface ServiceStatus {
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
