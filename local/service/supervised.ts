// The supervisor's two children, each in its restart loop: the Temporal server, and a worker that depends on it.

import type { ServiceHealth } from './children-state.ts';
import { NAMESPACE, startDevServer } from './dev-server.ts';
import type { Home } from './home.ts';
import type { Environment } from '../machine/user-folders.ts';
import { keepAlive, type Child } from './keep-alive.ts';
import { addressesOf, keepPorts, type Ports } from './service-ports.ts';
import { spawnWorker, type WorkerCommand } from './worker-process.ts';

export interface SupervisedOptions {
  readonly home: Home;
  readonly temporal: { readonly path: string; readonly version: string };
  readonly worker: WorkerCommand;
  readonly env: Environment;
  readonly log: (line: string) => void;
  readonly workerGraceMs?: number;
}

export interface Supervised {
  /** Resolves when both loops have ended; the worker is stopped first, then the server. */
  stop(): Promise<void>;
}

/** Consecutive starts that may fail before the service was ever ready. */
const SERVER_TRIES = 2;
const WORKER_TRIES = 3;
const WORKER_GRACE_MS = 10_000;

/** Runs until `signal`. `giveUp` is called once, with the child that never started and why. */
export function superviseChildren(
  options: SupervisedOptions,
  health: ServiceHealth,
  firstPorts: Ports,
  signal: AbortSignal,
  giveUp: (what: string, why: string, logFile: string) => void,
): Supervised {
  const { home, log } = options;
  let ports = firstPorts;
  let worker: { readonly child: Child; readonly address: string } | undefined;
  let serverLoop: Promise<Child | undefined> = Promise.resolve(undefined);

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
    async stop() {
      // The worker first: its last answers still reach the server.
      await (await workerLoop)?.stop();
      await (await serverLoop)?.stop();
    },
  };
}
