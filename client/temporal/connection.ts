// The connection to Temporal, and calls that are retried while the server is away. A lasting failure is a TemporalError
// that names the address.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  QueryNotRegisteredError,
  QueryRejectedError,
  ServiceError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import { TemporalError } from '../../domain/errors/errors.ts';
import { type Address, badConfig, clusterAddress, clusterConfig } from './cluster-settings.ts';
import { NO_TLS, otherSpeech } from './greeting.ts';
import { proxyOptions } from './local-connection.ts';

export interface Session extends Address {
  readonly client: Client;
  close(): Promise<void>;
}

interface ConnectOptions {
  /** True while the server's process is known to live: on a busy machine it answers late, and is waited for. */
  readonly isAlive?: () => boolean;
  /** The first attempt's limit; each next one has twice as long. */
  readonly firstMs?: number;
  /** The longest wait for a server that lives and does not answer. */
  readonly longestMs?: number;
}

const CONNECT_MS = 5000;
const LONGEST_CONNECT_MS = 120_000;

/** Connects to `address`, or to the cluster of TEMPORAL_* or temporal.toml. */
export async function connect(address?: Address, options: ConnectOptions = {}): Promise<Session> {
  const { isAlive = () => false, firstMs = CONNECT_MS, longestMs = LONGEST_CONNECT_MS } = options;
  const began = performance.now();
  for (let within = firstMs; ; within *= 2) {
    const leftMs = began + longestMs - performance.now();
    try {
      return await connectOnce(address, Math.max(1, Math.min(within, leftMs)));
    } catch (error) {
      const unanswered = error instanceof TemporalError && error.retryable;
      const passed = performance.now() - began;
      if (!unanswered || passed >= longestMs || !isAlive()) throw error;
      // A refused connection is answered at once: the server is starting.
      await sleep(Math.min(200, longestMs - passed));
    }
  }
}

async function connectOnce(address: Address | undefined, withinMs: number): Promise<Session> {
  const options = address ? { address: address.address } : (clusterConfig().connectionOptions ?? {});
  const { address: where, namespace } = address ?? clusterAddress();
  let connection: Connection | undefined;
  try {
    let closed = false;
    connection = Connection.lazy({
      ...options,
      ...proxyOptions(where),
      connectTimeout: Math.ceil(withinMs),
      interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endsLateRetries(() => closed)],
    });
    await connection.ensureConnected();
    await mustServe(connection, where, namespace);
    const client = new Client({ connection, namespace });
    const close = connection.close.bind(connection);
    return {
      ...{ client, address: where, namespace },
      close() {
        closed = true;
        return close();
      },
    };
  } catch (cause) {
    // Its channel would go on connecting.
    await connection?.close().catch(() => undefined);
    if (cause instanceof TemporalError) throw cause;
    if (isAccessDenied(cause)) throw refused(where, cause);
    if (isOfSettings(cause)) throw badConfig(cause);
    const wantsTls = 'tls' in options && Boolean(options.tls);
    const other = address ? undefined : await otherSpeech(where, wantsTls);
    if (other !== undefined) throw notTemporal(where, other, cause);
    throw new TemporalError(`The Temporal server at ${where} cannot be reached.`, {
      reason: 'temporal-unreachable',
      fix: 'Is it running, and is TEMPORAL_ADDRESS right? Without TEMPORAL_ADDRESS, Everturn runs its own.',
      retryable: true,
      cause,
    });
  }
}

/** A fault of the settings, found before any connection was tried: a certificate that is none, for example. */
function isOfSettings(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_');
}

/** PERMISSION_DENIED or UNAUTHENTICATED. */
export function isAccessDenied(error: unknown): boolean {
  const status = statusOf(error);
  return status === 7 || status === 16;
}

export function refused(where: string, cause: unknown): TemporalError {
  return new TemporalError(`The Temporal server at ${where} refuses this client.`, {
    reason: 'temporal-refused',
    fix: 'Are the key or certificate right (TEMPORAL_API_KEY, TEMPORAL_TLS_CLIENT_CERT_PATH), and have they permission for TEMPORAL_NAMESPACE?',
    cause,
  });
}

/** The address may belong to another kind of server, or to one without this namespace. */
async function mustServe(connection: Connection, where: string, namespace: string): Promise<void> {
  try {
    await connection.withDeadline(Date.now() + 5000, () => connection.workflowService.describeNamespace({ namespace }));
  } catch (cause) {
    const code = isGrpcServiceError(cause) ? cause.code : undefined;
    // Permission to describe the namespace is not required: the calls that need a permission will report it.
    if (code === 12) throw notTemporal(where, undefined, cause);
    if (code === 5) throw unknownNamespace(where, namespace, cause);
  }
}

function notTemporal(where: string, speech: string | undefined, cause: unknown): TemporalError {
  const but = speech === undefined ? '' : `: it speaks ${speech}`;
  return new TemporalError(`The server at ${where} is not a Temporal server${but}.`, {
    reason: 'not-temporal',
    fix:
      speech === 'TLS'
        ? 'If it is a Temporal server that wants TLS, set TEMPORAL_TLS=true.'
        : speech === NO_TLS
          ? 'If it is a Temporal server without TLS, set TEMPORAL_TLS=false: TEMPORAL_API_KEY and the TEMPORAL_TLS_* variables turn TLS on.'
          : 'Are TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE right?',
    cause,
  });
}

export function unknownNamespace(where: string, namespace: string, cause: unknown): TemporalError {
  return new TemporalError(`The Temporal server at ${where} has no namespace "${namespace}".`, {
    reason: 'no-namespace',
    fix: 'Are TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE right?',
    cause,
  });
}

/** One call to the server, retried while it is away; idempotent because of the workflow id. */
export async function calling<T>(what: string, call: () => Promise<T>, tries = TRIES): Promise<T> {
  try {
    return await untilAnswered(call, tries);
  } catch (cause) {
    if (!isServerFailure(cause)) throw cause;
    throw new TemporalError(`Temporal could not ${what}.`, { reason: 'temporal-call', cause });
  }
}

/** Attempts of a call, with growing pauses: about 20 s in all. */
export const TRIES = 10;
const MAX_PAUSE_MS = 3000;

async function untilAnswered<T>(call: () => Promise<T>, tries: number): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await call();
    } catch (error) {
      if (n >= tries || !isPassing(error)) throw error;
      await sleep(Math.min(200 * 2 ** (n - 1), MAX_PAUSE_MS));
    }
  }
}

/** True for a call that the server refused or did not answer; false for a bug of ours, which nothing may hide. */
export function isServerFailure(error: unknown): boolean {
  return isGrpcServiceError(error) || FAILED_CALLS.some((kind) => error instanceof kind);
}
/** The SDK's words for a closed connection is IllegalStateError. */
const FAILED_CALLS = [
  TemporalError,
  ServiceError,
  WorkflowNotFoundError,
  QueryNotRegisteredError,
  QueryRejectedError,
  IllegalStateError,
];

/** Undefined where the server, or a worker behind it, does not answer. */
export async function ifAnswered<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!isServerFailure(error)) throw error;
    return undefined;
  }
}

function isPassing(error: unknown): boolean {
  return [1, 4, 8, 10, 14].includes(statusOf(error) ?? -1);
}

/** The gRPC status of the answer behind an error. */
export function statusOf(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause.code : undefined;
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** A status of gRPC. */
const CANCELLED = 1;

/** Behind the SDK's own, which repeats. `isClosed`: whether the connection was closed by us. */
function endsLateRetries(isClosed: () => boolean): Interceptor {
  return (options, nextCall) => {
    try {
      return nextCall(options) as Call;
    } catch (error) {
      if (!isClosed()) throw error;
      return cancelledCall() as Call;
    }
  };
}

function cancelledCall(): Partial<Call> {
  return {
    start(metadata, listener) {
      setImmediate(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: CANCELLED, details: 'The connection was closed.', metadata });
      });
    },
    sendMessage() {},
    sendMessageWithContext() {},
    halfClose() {},
    startRead() {},
    cancelWithStatus() {},
    getPeer: () => 'closed',
  };
}
