// A server of the Model Context Protocol as a process: the SDK's client over the lines of processes/guarded-lines.ts. Guarantees
// that the SDK's own transport does not give: a message is read up to a limit, the server with all that it started does not
// outlive us, and a request ends in its time whatever the server does, of which it counts that in which the server ran.

import { readFileSync } from 'node:fs';
import type * as Sdk from '@modelcontextprotocol/client';
import type { Client, JSONRPCMessage, RequestOptions, Transport } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import { ToolError } from '../../domain/errors/errors.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { GuardedLines } from '../processes/guarded-lines.ts';
import type { ProcessLaunch } from '../processes/launch.ts';

const MAX_LINE_BYTES = 16 << 20;
const INTERNAL_ERROR = -32_603;
/** The longest that a timer of Node takes: the SDK's clock never ends a request, ours does. */
const NEVER_MS = 2 ** 31 - 1;

/** An error that the server reports in place of a result. */
export class RpcError extends Error {}

/** No result came in its time. */
export class RpcTimeout extends Error {}

/** A message was longer than any result may be. */
export class RpcTooLarge extends Error {}

interface RequestLimits {
  /** The limit of the time in which it runs. */
  readonly timeoutMs: number;
  /** The limit on any clock. */
  readonly longestMs?: number;
  readonly signal?: AbortSignal;
}

/** Starts a server and greets it. The SDK is loaded here: most workers have no server. */
export async function openMcpProcess(launch: ProcessLaunch, limits: RequestLimits): Promise<McpProcess> {
  const server = new McpProcess(launch, await import('@modelcontextprotocol/client'));
  await server.greet(limits);
  return server;
}

export class McpProcess {
  readonly #sdk: typeof Sdk;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #lines: GuardedLines;
  readonly #who: string;
  #inFlight = 0;
  #ended: ToolError | undefined;
  #endedWith = 0;
  #tooLarge: RpcTooLarge | undefined;

  constructor(launch: ProcessLaunch, sdk: typeof Sdk) {
    this.#sdk = sdk;
    this.#who = launch.who;
    this.#client = new sdk.Client({ name: 'everturn', version: everturnVersion() });
    this.#lines = new GuardedLines(launch, {
      maxLineBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#take(line.toString('utf8')),
      onTooLong: () => this.#endTooLarge(),
      onEnd: (how, _, cause) => this.#end(how, cause),
    });
    this.#transport = {
      start: async () => undefined,
      send: async (message) => this.#lines.write(message),
      close: async () => this.close(),
    };
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Requests that were in flight when it ended by itself: any of them may have ended it. */
  get endedWith(): number {
    return this.#endedWith;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Name and version, as it says them. */
  get info(): readonly (string | null)[] {
    const { name = null, version = null } = this.#client.getServerVersion() ?? {};
    return [name, version];
  }

  async greet(limits: RequestLimits): Promise<void> {
    await this.#inTime(limits, (options) => this.#client.connect(this.#transport, options)).catch((error: unknown) => {
      this.close();
      throw error;
    });
  }

  async request<T>(method: string, params: object, result: z.ZodType<T>, limits: RequestLimits): Promise<T> {
    return this.#inTime(limits, (options) => this.#client.request({ method, params: { ...params } }, result, options));
  }

  /** Kills it with all that it started. */
  close(): void {
    this.#end('was ended');
  }

  async #inTime<T>(
    { timeoutMs, longestMs = mostMs(timeoutMs), signal }: RequestLimits,
    ask: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const over = new AbortController();
    const stop = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
    const unwatch = watchRun(this.#lines.pid, timeoutMs, longestMs, {
      over: () => over.abort(new RpcTimeout(`${this.#who} gave no result in ${timeoutMs / 1000} s.`)),
      stood: () => this.#end(`stood still for ${Math.round(longestMs / 1000)} s`),
    });
    this.#inFlight++;
    try {
      return await ask({ signal: stop, timeout: NEVER_MS });
    } catch (error) {
      throw this.#failure(error, stop);
    } finally {
      this.#inFlight--;
      unwatch();
    }
  }

  #failure(error: unknown, stop: AbortSignal): unknown {
    const { ProtocolError, SdkError, SdkErrorCode } = this.#sdk;
    if (error instanceof ProtocolError) return new RpcError(error.message);
    if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return this.#tooLarge ?? this.#ended;
    if (stop.aborted) return stop.reason;
    return new ToolError(`The MCP server ${this.#who} breaks the protocol: ${(error as Error).message}`, {
      reason: 'tool-unavailable',
      retryable: true,
      cause: error,
    });
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    try {
      const message = strictJson(line);
      for (const one of Array.isArray(message) ? (message as unknown[]) : [message]) {
        const known = messageOf(one);
        if (known) this.#transport.onmessage?.(known);
      }
    } catch (error) {
      if (error instanceof DoubtfulJson) return this.#end(`was ended: a message of it ${error.message}`);
      // Servers that print a greeting are common; the log has it, and the conversation goes on.
      if (!(error instanceof SyntaxError)) this.#end('was ended: a message of it cannot be read', error);
    }
  }

  /** The request of the message cannot be known; one that is alone in flight is it. */
  #endTooLarge(): void {
    if (this.#inFlight === 1)
      this.#tooLarge = new RpcTooLarge(`${this.#who} gave more than ${MAX_LINE_BYTES >> 20} MiB in one message.`);
    this.#end('was ended: its message was too long');
  }

  #end(how: string, cause?: unknown): void {
    if (this.#ended) return;
    this.#endedWith = this.#inFlight;
    const { trace } = this.#lines;
    this.#ended = new ToolError(`The process of the MCP server ${this.#who} ${how}.`, {
      reason: 'tool-unavailable',
      ...(trace === undefined ? { fix: 'It wrote nothing to its standard error.' } : { trace }),
      retryable: true,
      cause,
    });
    this.#lines.kill();
    this.#transport.onclose?.();
  }
}

/** A message in the form that the SDK takes: a reply in any other would leave its request without an end before its time. */
function messageOf(value: unknown): JSONRPCMessage | undefined {
  if (!isObject(value)) return undefined;
  const { id, method, params, result, error } = value;
  const hasId = typeof id === 'string' || Number.isSafeInteger(id);
  const head = { jsonrpc: '2.0' as const, ...(hasId && { id: id as string | number }) };
  if (typeof method === 'string') return { ...head, method, ...(isObject(params) && { params }) };
  if (!hasId) return undefined;
  if (error === undefined || error === null)
    return { ...head, result: isObject(result) ? result : {} } as JSONRPCMessage;
  const { code, message } = isObject(error) ? error : { message: error };
  const said = typeof message === 'string' && message !== '' ? message : JSON.stringify(error);
  const known = Number.isSafeInteger(code) ? code : INTERNAL_ERROR;
  return { ...head, error: { code: known, message: said } } as JSONRPCMessage;
}

const TICK_MS = 250;
const MOST_OF_A_GAP_MS = 5_000;
const MOST_PROCESSES = 64;

/** A machine that lets a process run for less than a fifth of this is overloaded. */
export const mostMs = (timeoutMs: number): number => Math.max(timeoutMs, Math.min(5 * timeoutMs + 60_000, 28 * 60_000));

interface Alarms {
  /** It ran for its time. */
  over(): void;
  /** It did not, for so long that it is given up. */
  stood(): void;
}

/** Returns what ends the watch. */
function watchRun(pid: number | undefined, timeoutMs: number, longestMs: number, alarms: Alarms): () => void {
  const tickMs = Math.min(TICK_MS, timeoutMs / 4);
  let [ranMs, watchedMs, last] = [0, 0, performance.now()];
  const ticking = setInterval(() => {
    const gapMs = performance.now() - last;
    last += gapMs;
    if (!isStopped(pid)) ranMs += Math.min(gapMs, 2 * tickMs);
    // A longer gap means that this process was stopped itself, and no reply could have been read.
    watchedMs += Math.min(gapMs, MOST_OF_A_GAP_MS);
    if (ranMs >= timeoutMs) alarms.over();
    else if (watchedMs >= longestMs) alarms.stood();
    else return;
    clearInterval(ticking);
  }, tickMs);
  return () => clearInterval(ticking);
}

/** True if the process, or one that it started, was stopped by a signal. */
function isStopped(pid: number | undefined): boolean {
  const seen = pid === undefined ? [] : [pid];
  for (const one of seen) {
    const state = text(`/proc/${one}/stat`).split(') ').pop()?.[0];
    if (state === 'T' || state === 't') return true;
    const children = text(`/proc/${one}/task/${one}/children`).trim();
    if (children !== '' && seen.length < MOST_PROCESSES) seen.push(...children.split(' ').map(Number));
  }
  return false;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
