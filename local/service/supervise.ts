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
import { identify, type ProcessId, terminate } from '../machine/process.ts';
import { addressesOf, choosePorts, keepPorts, type Ports } from './service-ports.ts';
import { type CodeId, readState, type ServiceState, STATE_RENEWAL_MS, variablesOf } from './state.ts';
import { NAMESPACE, startDevServer } from './dev-server.ts';
import type { Environment } from '../machine/user-folders.ts';
import { type KeptChild, keepAlive } from './keep-alive.ts';
import { spawnWorker, type WorkerCommand } from './worker-process.ts';

interface SuperviseOptions extends SupervisedOptions {
  readonly code: CodeId;
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

type SuperviseEnd =
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

interface SupervisedOptions {
  readonly home: Home;
  readonly temporal: { readonly path: string; readonly version: string };
  readonly worker: WorkerCommand;
  readonly env: Environment;
  readonly log: (line: string) => void;
  readonly workerGraceMs?: number;
}

/** Consecutive starts that may fail before the service was ever ready. */
const SERVER_TRIES = 3;
const WORKER_TRIES = 3;
const WORKER_GRACE_MS = 10_000;

/** Runs until `signal`. `giveUp` is called once, with the child that never started and why. */
function superviseChildren(
  options: SupervisedOptions,
  health: ServiceHealth,
  firstPorts: Ports,
  signal: AbortSignal,
  giveUp: (what: string, why: string, logFile: string) => void,
) {
  const { home, log } = options;
  let ports = firstPorts;
  let worker: { readonly child: KeptChild; readonly address: string } | undefined;
  let serverLoop: Promise<KeptChild | undefined> = Promise.resolve(undefined);

  const serverIsUp = new Promise<void>((resolve) => {
    serverLoop = keepAlive({
      signal,
      start: async () => {
        ports = await keepPorts(ports);
        const server = await startDevServer({
          binary: options.temporal.path,
          database: home.database,
          logFile: home.serverLog,
          ...ports,
          signal,
          onSpawned: (id) => health.spawned('server', id),
        });
        return { ...server, ready: Promise.resolve() };
      },
      onStarted: ({ id }) => {
        health.up('server', addressesOf(ports));
        log(`server up at ${health.state.address}, UI ${health.state.uiAddress ?? 'off'}, pid ${id.pid}`);
        // The worker has the server's address: if that changes, the worker must restart.
        if (worker && worker.address !== health.state.address) void worker.child.stop();
        resolve();
      },
      onReady: () => undefined,
      onEnded: (why, failures) => {
        log(`server down: ${why}`);
        health.down('server', why);
        if (!health.wasReady && failures >= SERVER_TRIES) giveUp('server', why, home.serverLog);
      },
    });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  const workerLoop = serverIsUp.then(() =>
    keepAlive({
      signal,
      start: () =>
        spawnWorker({
          worker: options.worker,
          address: health.state.address,
          namespace: NAMESPACE,
          env: options.env,
          folder: home.folder,
          logFile: home.workerLog,
          stopGraceMs: options.workerGraceMs ?? WORKER_GRACE_MS,
        }),
      onStarted: (child) => {
        worker = { child, address: health.state.address };
        health.spawned('worker', child.id);
      },
      onReady: (child) => {
        if (worker?.child !== child) return;
        log(`worker up, pid ${child.id.pid}`);
        health.up('worker');
      },
      onEnded: (why, failures) => {
        worker = undefined;
        log(`worker down: ${why}`);
        health.down('worker', why);
        if (!health.wasReady && failures >= WORKER_TRIES) giveUp('worker', why, home.workerLog);
      },
    }),
  );

  return {
    /** Resolves when both loops have ended. */
    async stop(): Promise<void> {
      // The worker first: its last answers still reach the server.
      await (await workerLoop)?.stop();
      await (await serverLoop)?.stop();
    },
  };
}
