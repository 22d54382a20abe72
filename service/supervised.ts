// The supervisor's two children, each in its restart loop: the Temporal server, and a worker that follows it.

import type { Readable } from 'node:stream';
import type { Board } from './children-state.ts';
import { NAMESPACE, startDevServer } from './dev-server.ts';
import type { Environment, Home } from './home.ts';
import { keepAlive, type Child } from './keep-alive.ts';
import { addressesOf, keepPorts, type Ports } from './service-ports.ts';
import { startWorker, type WorkerCommand } from './worker-process.ts';

export interface SupervisedOptions {
  readonly home: Home;
  readonly temporal: { readonly path: string; readonly version: string };
  readonly worker: WorkerCommand;
  readonly env: Environment;
  readonly log: (line: string) => void;
  /** Receives the children's output instead of the log files (the foreground). */
  readonly onOutput?: (name: 'server' | 'worker', stream: Readable) => void;
  readonly workerGraceMs?: number;
}

export interface Supervised {
  /** Both loops have ended; the worker, then the server is stopped. */
  stop(): Promise<void>;
}

/** Starts in a row that may fail before the service was ever ready. */
const SERVER_TRIES = 2;
const WORKER_TRIES = 3;
const WORKER_GRACE_MS = 10_000;

/** Runs until `signal`. `giveUp` is told, once, what never came up and why. */
export function superviseChildren(
  options: SupervisedOptions,
  board: Board,
  firstPorts: Ports,
  signal: AbortSignal,
  giveUp: (what: string, why: string, logFile: string) => void,
): Supervised {
  const { home, log, onOutput } = options;
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
          onSpawned: (id) => board.spawned('server', id),
          ...(onOutput && { onOutput: (stream: Readable) => onOutput('server', stream) }),
        });
        return { ...server, ready: Promise.resolve() };
      },
      onStarted: ({ id }) => {
        board.up('server', addressesOf(ports));
        log(`server up at ${board.state.address}, UI ${board.state.uiAddress ?? 'off'}, pid ${id.pid}`);
        // The worker knows its server by address: on another one it must start anew.
        if (worker && worker.address !== board.state.address) void worker.child.stop();
        resolve();
      },
      onReady: () => undefined,
      onEnded: (why, failures) => {
        log(`server down: ${why}`);
        board.down('server', why);
        if (!board.wasReady && failures >= SERVER_TRIES) giveUp('server', why, home.serverLog);
      },
    });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  const workerLoop = serverIsUp.then(() =>
    keepAlive({
      signal,
      start: () =>
        startWorker({
          worker: options.worker,
          address: board.state.address,
          namespace: NAMESPACE,
          env: options.env,
          folder: home.folder,
          logFile: home.workerLog,
          stopGraceMs: options.workerGraceMs ?? WORKER_GRACE_MS,
          ...(onOutput && { onOutput: (stream: Readable) => onOutput('worker', stream) }),
        }),
      onStarted: (child) => {
        worker = { child, address: board.state.address };
        board.spawned('worker', child.id);
      },
      onReady: (child) => {
        if (worker?.child !== child) return;
        log(`worker up, pid ${child.id.pid}`);
        board.up('worker');
      },
      onEnded: (why, failures) => {
        worker = undefined;
        log(`worker down: ${why}`);
        board.down('worker', why);
        if (!board.wasReady && failures >= WORKER_TRIES) giveUp('worker', why, home.workerLog);
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
