// The local service: one Temporal server and one worker, kept alive together until stopped or idle. One per home folder
// (a lock held for life). Its state file lists the processes and addresses. After kill -9 the children end by themselves,
// and the next supervisor continues with the same database, on the same ports if they are free.

import { utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { TemporalError } from '../../domain/errors/errors.ts';
import { ServiceHealth } from './children-state.ts';
import { createHome, hasUi, type Home } from './home.ts';
import { lastTouchMs, touchService, untilIdle } from './idle.ts';
import { tryLock } from '../machine/lock.ts';
import { boundLog } from './logs.ts';
import { identify, terminate, type ProcessId } from '../machine/process.ts';
import { addressesOf, choosePorts } from './service-ports.ts';
import { readState, STATE_RENEWAL_MS, type CodeId, type ServiceState } from './state.ts';
import { variablesOf } from './variables.ts';
import { superviseChildren, type SupervisedOptions } from './supervised.ts';

export interface SuperviseOptions extends SupervisedOptions {
  readonly code: CodeId;
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

export type SuperviseEnd =
  | { readonly end: 'stopped' | 'idle' }
  /** Another supervisor holds this home. */
  | { readonly end: 'held'; readonly by: ProcessId };

export const COULD_NOT = 'The local service could not start: ';
const LEFTOVER_GRACE_MS = 3_000;

export async function supervise(options: SuperviseOptions): Promise<SuperviseEnd> {
  createHome(options.home);
  const held = await tryLock(options.home.lockFolder);
  if ('heldBy' in held) return { end: 'held', by: held.heldBy };
  try {
    return await run(options);
  } finally {
    held.release();
  }
}

async function run(options: SuperviseOptions): Promise<SuperviseEnd> {
  const { home, log } = options;
  touchService(home);
  const previous = readState(home);
  await endLeftovers(previous);
  const ports = await choosePorts(previous, hasUi(options.env));
  const health = new ServiceHealth(home, { ...firstState(options), ...addressesOf(ports) });

  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let fatal: TemporalError | undefined;
  const children = superviseChildren(options, health, ports, signal, (what, why, logFile) => {
    const message = `${COULD_NOT}the ${what} failed: ${why.replace(/\.$/, '')}.`;
    fatal = new TemporalError(message, { reason: 'service-start', fix: `See ${logFile}.` });
    stop.abort();
  });
  const housekeeping = setInterval(() => keepHouse(home), STATE_RENEWAL_MS);

  const idle = await idleOut(home, options.idleMs, health, signal);

  const why = idle ? `no open run and no call for ${options.idleMs / 60_000} minutes` : null;
  health.stopping(why);
  log(why ? `stopping: ${why}` : 'stopping');
  stop.abort();
  await children.stop();
  clearInterval(housekeeping);
  health.stopped(fatal?.message ?? why);
  log('stopped');
  if (fatal) throw fatal;
  return { end: idle ? 'idle' : 'stopped' };
}

function firstState(options: SuperviseOptions): Omit<ServiceState, 'address' | 'uiAddress'> {
  return {
    format: 1,
    phase: 'starting',
    host: hostname(),
    supervisor: identify(process.pid) ?? { pid: process.pid, startTime: '0' },
    code: options.code,
    temporal: { path: options.temporal.path, version: options.temporal.version },
    startedAt: new Date().toISOString(),
    server: null,
    worker: null,
    variables: variablesOf(options.env),
    note: null,
  };
}

/** True if idle; false if stopped. */
async function idleOut(home: Home, idleMs: number, health: ServiceHealth, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    await untilIdle(home, idleMs, () => (health.wasReady ? health.state.address : undefined), signal);
    if (signal.aborted) return false;
    // A CLI touches before it reads the state, so a concurrent call is either noticed here or sees `stopping`.
    health.stopping('idle');
    if (Date.now() - lastTouchMs(home) >= idleMs) return true;
    health.resume();
  }
}

/** Children of a killed supervisor end by themselves; wait for them, because two servers must not share a database. */
export async function endLeftovers(previous: ServiceState | undefined): Promise<void> {
  if (previous?.host !== hostname()) return;
  const left = [previous.worker, previous.server].filter((id) => id !== null);
  await Promise.all(left.map((id) => terminate(id, LEFTOVER_GRACE_MS)));
}

function keepHouse(home: Home): void {
  for (const file of [home.serverLog, home.workerLog, home.serviceLog]) boundLog(file);
  const now = new Date();
  utimesSync(home.stateFile, now, now);
}
