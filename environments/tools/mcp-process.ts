// The process of an MCP server over standard input and output: JSON-RPC 2.0, one message a line, several requests in
// flight. Our own and not the SDK's, for the guarantees of processes/guarded-lines.ts: a request ends in its time
// whatever the server does, a message is read up to a limit, and the server with all that it started does not outlive us.

import { ToolError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';
import { GuardedLines } from '../processes/guarded-lines.ts';
import type { ProcessLaunch } from '../processes/launch.ts';
import { mostMs, watchRun } from './running-clock.ts';

const MAX_LINE_BYTES = 16 << 20;
const METHOD_NOT_FOUND = -32601;

/** An error that the server reports in place of a result. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** No result came in its time. */
export class RpcTimeout extends Error {}

/** A message was longer than any result may be. */
export class RpcTooLarge extends Error {}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface RequestLimits {
  /** Of time in which it runs. */
  readonly timeoutMs: number;
  /** On any clock. */
  readonly longestMs?: number;
  readonly signal?: AbortSignal;
}

export class McpProcess {
  readonly #lines: GuardedLines;
  readonly #who: string;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  #ended: ToolError | undefined;
  #endedWith = 0;

  constructor(launch: ProcessLaunch) {
    this.#who = launch.who;
    this.#lines = new GuardedLines(launch, {
      maxLineBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#take(line.toString('utf8')),
      onTooLong: () => this.#tooLarge(),
      onEnd: (how, _, cause) => this.#end(how, cause),
    });
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Requests that were in flight when it ended by itself: any of them may have ended it. */
  get endedWith(): number {
    return this.#endedWith;
  }

  get inFlight(): number {
    return this.#waiting.size;
  }

  async request(
    method: string,
    params: object,
    { timeoutMs, longestMs = mostMs(timeoutMs), signal }: RequestLimits,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const id = ++this.#requests;
    let unwatch: (() => void) | undefined;
    let aborted: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        unwatch = watchRun(this.#lines.pid, timeoutMs, longestMs, {
          over: () => {
            this.notify('notifications/cancelled', { requestId: id, reason: 'time limit' });
            reject(new RpcTimeout(`${this.#who} gave no result in ${timeoutMs / 1000} s.`));
          },
          stood: () => this.#end(`stood still for ${Math.round(longestMs / 1000)} s`),
        });
        aborted = () => {
          this.notify('notifications/cancelled', { requestId: id, reason: 'cancelled' });
          reject(signal!.reason as Error);
        };
        signal?.addEventListener('abort', aborted, { once: true });
        this.#lines.write({ jsonrpc: '2.0', id, method, params });
      });
    } finally {
      unwatch?.();
      if (aborted) signal?.removeEventListener('abort', aborted);
      this.#waiting.delete(id);
    }
  }

  notify(method: string, params: object = {}): void {
    this.#lines.write({ jsonrpc: '2.0', method, params });
  }

  /** Kills it with all that it started. */
  close(): void {
    this.#end('was ended');
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = strictJson(line);
    } catch (error) {
      if (error instanceof DoubtfulJson) return this.#end(`was ended: a message of it ${error.message}`);
      // Servers that print a greeting are common; the log has it, and the conversation goes on.
      return;
    }
    for (const one of Array.isArray(message) ? (message as unknown[]) : [message]) this.#takeOne(one);
  }

  #takeOne(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, result, error } = message as Record<string, unknown>;
    if (typeof method === 'string') {
      if (typeof id !== 'number' && typeof id !== 'string') return;
      // It asks us: we are alive, and offer nothing.
      const nothing = { code: METHOD_NOT_FOUND, message: 'Not offered by this client.' };
      this.#lines.write({ jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error: nothing }) });
      return;
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (!waiting) return;
    if (error === undefined || error === null) return waiting.resolve(result);
    const { code, message: said } = error as { readonly code?: unknown; readonly message?: unknown };
    waiting.reject(new RpcError(Number(code), short(typeof said === 'string' ? said : JSON.stringify(error), 2000)));
  }

  #tooLarge(): void {
    const error = new RpcTooLarge(`${this.#who} gave more than ${MAX_LINE_BYTES >> 20} MiB in one message.`);
    // The request of the message cannot be known; one that is alone in flight is it.
    if (this.#waiting.size === 1) for (const { reject } of this.#waiting.values()) reject(error);
    this.#end('was ended: its message was too long');
  }

  #end(how: string, cause?: unknown): void {
    if (this.#ended) return;
    this.#endedWith = this.#waiting.size;
    const { trace } = this.#lines;
    this.#ended = new ToolError(`The process of the MCP server ${this.#who} ${how}.`, {
      reason: 'tool-unavailable',
      ...(trace === undefined ? { fix: 'It wrote nothing to its standard error.' } : { trace }),
      retryable: true,
      cause,
    });
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
    this.#lines.kill();
  }
}
