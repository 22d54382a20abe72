// The local service: one Temporal server and one worker, kept alive together until told to stop or idle.
// One per home folder (a lock held for life). Its state file says what runs where; after kill -9 the children
// end by themselves, and the next supervisor goes on with the same database, on the same ports where it can.

import { utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporalError } from '../domain/errors.ts';
import { DEFAULT_PORT, DEFAULT_UI_PORT, NAMESPACE, startDevServer } from './dev-server.ts';
import { createHome, type Environment, type Home } from './home.ts';
import { lastTouchMs, touchService, untilIdle } from './idle.ts';
import { keepAlive, type Child } from './keep-alive.ts';
import { tryLock } from './lock.ts';
import { boundLog } from './log-file.ts';
import { freePort, isFree, LOOPBACK } from './ports.ts';
import { identify, terminate, type ProcessId } from './process.ts';
import { readState, STATE_RENEWAL_MS, writeState, type CodeId, type ServiceState } from './state.ts';
import { startWorker, type WorkerCommand } from './worker-process.ts';

export interface SuperviseOptions {
  readonly home: Home;
  readonly temporal: { readonly path: string; readonly version: string };
  readonly worker: WorkerCommand;
  readonly code: CodeId;
  readonly env: Environment;
  /** Absent: never ends by itself. */
  readonly idleMs?: number;
  readonly log: (line: string) => void;
  readonly onState?: (state: ServiceState) => void;
  /** Receives the children's output instead of the log files (the foreground). */
  readonly onOutput?: (name: 'server' | 'worker', stream: Readable) => void;
  readonly signal: AbortSignal;
  readonly workerGraceMs?: number;
}

export type SuperviseEnd =
  | { readonly end: 'stopped' | 'idle' }
  /** Another supervisor has this home. */
  | { readonly end: 'held'; readonly by: ProcessId };

/** Starts in a row that may fail before the service was ever ready. */
const SERVER_TRIES = 2;
const WORKER_TRIES = 3;
/** A server killed a moment ago may still hold its port, and its database. */
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
  let ports = await choosePorts(previous);
  let state: ServiceState = {
    format: 1,
    phase: 'starting',
    host: hostname(),
    supervisor: identify(process.pid) ?? { pid: process.pid, startTime: '0' },
    code: options.code,
    temporal: options.temporal,
    ...addressesOf(ports),
    startedAt: new Date().toISOString(),
    server: null,
    worker: null,
    note: null,
  };
  const update = (change: Partial<ServiceState>): void => {
    state = { ...state, ...change };
    writeState(home, state);
    options.onState?.(state);
  };
  update({});

  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let fatal: TemporalError | undefined;
  let wasReady = false;
  const giveUp = (what: string, why: string, logFile: string): void => {
    const fix = `See ${logFile}.`;
    fatal = new TemporalError(`The local service could not start: the ${what} ${why}.`, {
      reason: 'service-start',
      fix,
    });
    stop.abort();
  };

  let serverUp = false;
  let worker: { child: Child; address: string; ready: boolean } | undefined;
  const refresh = (note: string | null): void => {
    if (state.phase === 'stopping') return;
    const ready = serverUp && worker?.ready === true;
    wasReady ||= ready;
    update({ phase: ready ? 'ready' : 'starting', note });
  };

  let serverIsUp = (): void => undefined;
  const firstServer = new Promise<void>((resolve) => (serverIsUp = resolve));
  const onServerOutput = options.onOutput && ((stream: Readable) => options.onOutput?.('server', stream));
  const serverLoop = keepAlive({
    signal,
    start: async () => {
      ports = await keepPorts(ports);
      const server = await startDevServer({
        binary: options.temporal.path,
        database: home.database,
        logFile: home.serverLog,
        ...ports,
        signal,
        onSpawned: (server) => update({ server }),
        ...(onServerOutput && { onOutput: onServerOutput }),
      });
      return { ...server, ready: Promise.resolve() };
    },
    onStarted: ({ id }) => {
      serverUp = true;
      update(addressesOf(ports));
      log(`server up at ${state.address}, UI ${state.uiAddress}, pid ${id.pid}`);
      if (worker && worker.address !== state.address) void worker.child.stop();
      refresh(null);
      serverIsUp();
    },
    onReady: () => undefined,
    onEnded: (why, failures) => {
      serverUp = false;
      log(`server down: ${why}`);
      update({ server: null });
      refresh(`the server went down: ${why}`);
      if (!wasReady && failures >= SERVER_TRIES) giveUp('server', why, home.serverLog);
    },
  });

  const onWorkerOutput = options.onOutput && ((stream: Readable) => options.onOutput?.('worker', stream));
  const workerLoop = Promise.race([firstServer, aborted(signal)]).then(() =>
    keepAlive({
      signal,
      start: () =>
        startWorker({
          worker: options.worker,
          address: state.address,
          namespace: NAMESPACE,
          env: options.env,
          folder: home.folder,
          logFile: home.workerLog,
          stopGraceMs: options.workerGraceMs ?? 10_000,
          ...(onWorkerOutput && { onOutput: onWorkerOutput }),
        }),
      onStarted: (child) => {
        worker = { child, address: state.address, ready: false };
        update({ worker: child.id });
      },
      onReady: (child) => {
        if (worker?.child !== child) return;
        worker.ready = true;
        log(`worker up, pid ${child.id.pid}`);
        refresh(null);
      },
      onEnded: (why, failures) => {
        worker = undefined;
        log(`worker down: ${why}`);
        update({ worker: null });
        refresh(`the worker went down: ${why}`);
        if (!wasReady && failures >= WORKER_TRIES) giveUp('worker', why, home.workerLog);
      },
    }),
  );

  const housekeeping = setInterval(() => {
    for (const file of [home.serverLog, home.workerLog, home.serviceLog]) boundLog(file);
    const now = new Date();
    utimesSync(home.stateFile, now, now);
  }, STATE_RENEWAL_MS);

  let idle = false;
  if (options.idleMs !== undefined) {
    const { idleMs } = options;
    while (!signal.aborted) {
      await untilIdle(home, idleMs, () => state.address, signal);
      if (signal.aborted) break;
      // A CLI touches before it reads the state: one that came just now is seen here, or sees `stopping`.
      update({ phase: 'stopping', note: `idle for ${idleMs / 60_000} minutes` });
      idle = Date.now() - lastTouchMs(home) >= idleMs;
      if (idle) stop.abort();
      else update({ phase: 'ready', note: null });
    }
  } else await aborted(signal);

  update({ phase: 'stopping' });
  log(idle ? `idle for ${(options.idleMs ?? 0) / 60_000} minutes: stopping` : 'stopping');
  // The worker first: its last answers still reach the server.
  await (await workerLoop)?.stop();
  await (await serverLoop)?.stop();
  clearInterval(housekeeping);
  update({ phase: 'stopped', server: null, worker: null, note: fatal?.message ?? state.note });
  log('stopped');
  if (fatal) throw fatal;
  return { end: idle ? 'idle' : 'stopped' };
}

/** What a killed supervisor left ends by itself; waited for, because two servers must not share a database. */
export async function endLeftovers(previous: ServiceState | undefined): Promise<void> {
  if (previous?.host !== hostname()) return;
  const left = [previous.worker, previous.server].filter((id) => id !== null);
  await Promise.all(left.map((id) => terminate(id, LEFTOVER_GRACE_MS)));
}

interface Ports {
  readonly port: number;
  readonly uiPort: number;
}

/** The defaults; where somebody else has them, those of last time, so that bookmarks stay right; else any. */
async function choosePorts(previous: ServiceState | undefined): Promise<Ports> {
  const last = { port: portOf(previous?.address), uiPort: portOf(previous?.uiAddress) };
  const port = await freePort([DEFAULT_PORT, last.port]);
  return { port, uiPort: await freePort([DEFAULT_UI_PORT, last.uiPort], [port]) };
}

/** The same ports after a restart: the worker and every client know them. New ones only when somebody took them. */
async function keepPorts(ports: Ports): Promise<Ports> {
  for (let tries = 0; tries < 20; tries++) {
    if ((await isFree(ports.port)) && (await isFree(ports.uiPort))) return ports;
    await sleep(100);
  }
  const port = await freePort([ports.port]);
  return { port, uiPort: await freePort([ports.uiPort], [port]) };
}

function addressesOf(ports: Ports): Pick<ServiceState, 'address' | 'uiAddress'> {
  return { address: `${LOOPBACK}:${ports.port}`, uiAddress: `http://${LOOPBACK}:${ports.uiPort}` };
}

function portOf(address: string | undefined): number | undefined {
  const port = Number(/:(\d+)$/.exec(address ?? '')?.[1]);
  return port > 0 ? port : undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
