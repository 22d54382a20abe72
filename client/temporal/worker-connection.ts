// A worker's two connections to its cluster (the client's and the SDK core's), with our search attributes there: opened
// before, after or during an outage of the cluster.

import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { type Address, clusterAddress, clusterConfig } from './cluster-settings.ts';
import { connect, isAccessDenied, refused, type Session, statusOf, unknownNamespace } from './connection.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { EverturnError, explain, TemporalError } from '../../domain/errors/errors.ts';

export interface Waiting {
  /** Receives the reports. */
  readonly say: (line: string) => void;
  /** Called when a wait begins and ends. */
  readonly onWait?: (waits: boolean) => void;
  /** Ends the wait: the step rejects with its reason. */
  readonly signal: AbortSignal;
  /** Between two reports. */
  readonly everyMs?: number;
  /** A server that has just started does not know its namespaces yet: time to believe it. */
  readonly namespaceMs?: number;
  readonly longestPauseMs?: number;
}

/** Repeats a step until the cluster has answered it. Steps may run at once; they share the reports. */
type UntilAnswered = <T>(step: () => Promise<T>) => Promise<T>;

const EVERY_MS = 30_000;
const NAMESPACE_MS = 10_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 3_000;

export function awaitCluster(where: Address, waiting: Waiting): UntilAnswered {
  const {
    say,
    onWait = () => {},
    signal,
    everyMs = EVERY_MS,
    namespaceMs = NAMESPACE_MS,
    longestPauseMs = LONGEST_PAUSE_MS,
  } = waiting;
  let saidMs = -Infinity;

  function report(beganMs: number, error: unknown): void {
    const now = performance.now();
    if (now - saidMs < everyMs) return;
    saidMs = now;
    const passed = now - beganMs < everyMs ? '' : ` (${seconds(beganMs)})`;
    say(`Temporal at ${where.address} cannot be used yet; this worker waits for it${passed}. ${explain(error)}`);
  }

  /** Also reported: a server that is connected and silent. The wait can be ended at any time. */
  async function attempt<T>(step: () => Promise<T>, beganMs: number): Promise<T> {
    const silent = setInterval(() => {
      onWait(true);
      report(beganMs, new Error('It gives no answer.'));
    }, everyMs);
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason as Error);
    });
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([step(), left]);
    } finally {
      clearInterval(silent);
      signal.removeEventListener('abort', leave);
    }
  }

  return async function untilAnswered(step) {
    const beganMs = performance.now();
    let unknownSinceMs: number | undefined;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      signal.throwIfAborted();
      try {
        const answer = await attempt(step, beganMs);
        if (saidMs >= beganMs) say(`Temporal at ${where.address} answers, after ${seconds(beganMs)}.`);
        saidMs = -Infinity;
        onWait(false);
        return answer;
      } catch (error) {
        const lasting = whyLasting(error, where);
        const unknown = lasting instanceof TemporalError && lasting.reason === 'no-namespace';
        unknownSinceMs = unknown ? (unknownSinceMs ?? performance.now()) : undefined;
        const believed = unknownSinceMs !== undefined && performance.now() - unknownSinceMs >= namespaceMs;
        if (lasting !== undefined && (!unknown || believed)) throw lasting;
        report(beganMs, error);
        onWait(true);
        // Workers that one outage has stopped do not all come back in the same moment.
        await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal });
      }
    }
  };
}

const seconds = (sinceMs: number): string => `${Math.round((performance.now() - sinceMs) / 1000)} s`;

/** Answers of a server that starts, stops or is overloaded, and of a proxy whose other side is away. */
const PASSING: readonly (number | undefined)[] = [1, 2, 4, 8, 10, 13, 14];

/** The error to end with; undefined for one that passes when the cluster is back. Anything unknown is a bug of ours. */
function whyLasting(error: unknown, { address, namespace }: Address): unknown {
  const status = statusOf(error);
  if (error instanceof TemporalError && error.retryable) return undefined;
  if (PASSING.includes(status)) return undefined;
  if (error instanceof EverturnError) return error;
  if (isAccessDenied(error)) return refused(address, error);
  if (status !== undefined)
    return new TemporalError('The worker cannot be opened.', { reason: 'temporal-call', cause: error });
  if (!(error instanceof Error) || error.name !== 'TransportError') return error;
  // The native client has its status in words only.
  if (/PermissionDenied|Unauthenticated|does not have (?:permission|valid authentication)/.test(error.message))
    return refused(address, error);
  return /NotFound|requested entity was not found/.test(error.message)
    ? unknownNamespace(address, namespace, error)
    : undefined;
}

export interface WorkerConnection {
  readonly session: Session;
  /** A worker of the session's namespace, in one try. */
  createWorker(options: Omit<WorkerOptions, 'connection' | 'namespace'>): Promise<Worker>;
  /** The steps that follow ask through this: the cluster may go away between any two. */
  readonly untilAnswered: UntilAnswered;
  /** After the end of its workers. */
  close(): Promise<void>;
}

/** `at`: another server than that of the environment's settings. */
export async function openWorkerConnection(waiting: Waiting, at?: Address | undefined): Promise<WorkerConnection> {
  const untilAnswered = awaitCluster(at ?? clusterAddress(), waiting);
  const session = await untilAnswered(() => connect(at));
  const connectionOptions = at ? { address: at.address } : clusterConfig().connectionOptions;
  const native = openNativeConnections(() => NativeConnection.connect({ ...connectionOptions }));
  await untilAnswered(native.connected);
  await untilAnswered(() => ensureSearchAttributes(session.client.connection, session.namespace));
  return {
    session,
    createWorker: (options) => native.createWorker({ ...options, namespace: session.namespace }),
    untilAnswered,
    async close() {
      await Promise.allSettled([session.close(), native.close()]);
    },
  };
}

/**
 * One connection for all workers, while no worker of it fails. The SDK's core keeps the queue of a worker that the server
 * did not answer while it was created, and refuses another one of that queue on the same connection: the next try has a new one.
 */
function openNativeConnections(connect: () => Promise<NativeConnection>) {
  const opened = new Set<Promise<NativeConnection>>();
  let current: Promise<NativeConnection> | undefined;
  async function using<T>(use: (connection: NativeConnection) => Promise<T>): Promise<T> {
    const one = (current ??= connect());
    opened.add(one);
    try {
      return await use(await one);
    } catch (error) {
      if (current === one) current = undefined;
      throw error;
    }
  }
  return {
    connected: () => using(async () => undefined),
    createWorker: (options: WorkerOptions) => using((connection) => Worker.create({ ...options, connection })),
    close: () => Promise.allSettled([...opened].map(async (one) => (await one).close())),
  };
}

const ASK_EVERY_MS = 20_000;
const DEADLINE_MS = 10_000;
/** The time that a poll may take, and a margin: a short outage takes no worker out of service. */
const SILENT_MS = 90_000;

/** Whether the worker reaches its cluster, for its health port: by the last answer to a small call. */
export function watchCluster({ client, address }: Session, everyMs = ASK_EVERY_MS, silentMs = SILENT_MS) {
  let answeredMs = performance.now();
  const ask = () => {
    const call = () => client.connection.workflowService.getSystemInfo({});
    client.connection.withDeadline(Date.now() + DEADLINE_MS, call).then(
      () => (answeredMs = performance.now()),
      () => undefined,
    );
  };
  const timer = setInterval(ask, everyMs).unref();
  return {
    /** Null while the cluster answers; else since when it does not. */
    problem() {
      const silent = performance.now() - answeredMs;
      return silent < silentMs ? null : `Temporal at ${address} has not answered for ${Math.round(silent / 1000)} s`;
    },
    close: () => clearInterval(timer),
  };
}
