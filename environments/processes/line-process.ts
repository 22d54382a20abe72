// One process of a user's environment: JSON lines on its standard input and output, one call at a time. Guarantees: a call
// ends in its time whatever the process does; after a broken one the process is killed with all that it started.

import { MAX_REPLY_BYTES } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { brokenError, parseLine, replyIn, reportedError, errorMessage, tooLarge, traceIn } from './envelope.ts';
import { GuardedLines } from './guarded-lines.ts';
import type { ProcessLaunch } from './launch.ts';

interface Waiting {
  resolve(line: Buffer): void;
  reject(error: unknown): void;
}

export class LineProcess {
  readonly #lines: GuardedLines;
  readonly #who: string;
  readonly #log: (line: string) => void;
  #waiting: Waiting | undefined;
  #ended: EnvironmentError | undefined;
  #calls = 0;

  constructor(launch: ProcessLaunch) {
    const { who, endings = {}, log } = launch;
    this.#who = who;
    this.#log = log;
    this.#lines = new GuardedLines(launch, {
      maxLineBytes: MAX_REPLY_BYTES,
      onLine: (line) => this.#take(line),
      onTooLong: () => this.#fail(tooLarge(who)),
      onEnd: (how, code, cause) => {
        const beyond = code === null ? undefined : endings[code];
        if (beyond === undefined) this.#end(how, cause);
        else this.#fail(limited(who, beyond));
      },
    });
  }

  get pid(): number | undefined {
    return this.#lines.pid;
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Its first line. */
  hello(limits: CallLimits): Promise<unknown> {
    return this.#read(limits, 'hello', (value) => {
      const { hello, error } = Object(value) as Record<string, unknown>;
      if (hello !== undefined) return hello;
      if (error === undefined) throw brokenError(this.#who, 'hello', 'its first line is no {"hello": …}');
      throw new EnvironmentError(`The environment ${this.#who} does not load: ${errorMessage(error)}`, {
        reason: 'environment-unloadable',
        ...traceIn(error),
      });
    });
  }

  /** The result of one call. Calls must not overlap. */
  async call(method: string, params: object, limits: CallLimits): Promise<unknown> {
    const id = ++this.#calls;
    const take = (value: unknown) => replyTo(this.#who, method, id, value);
    const { result, error } = await this.#read(limits, method, take, { id, method, params }).catch((fault: unknown) => {
      throw id > 1 ? perhapsOfAnother(fault) : fault;
    });
    // An error that it reports itself is a reply like any other: the process goes on.
    if (error !== undefined) throw reportedError(this.#who, method, error);
    return result;
  }

  /** Kills it with all that it started. */
  kill(): void {
    this.#end('was ended');
  }

  /** The next line, or the reply to `call`. A fault in it, or in the wait for it, ends the process. */
  async #read<T>(limits: CallLimits, method: string, take: (value: unknown) => T, call?: object): Promise<T> {
    const asked = () => {
      const next = this.#next();
      if (call) this.#lines.write(call);
      return next;
    };
    try {
      return take(parseLine(this.#who, await inTime(this.#who, method, limits, asked)));
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  #next(): Promise<Buffer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  #take(line: Buffer): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) return waiting.resolve(line);
    // No call may be taken for the one that it belongs to.
    this.#log(
      `${this.#who}: its process was ended: it wrote a line that nobody asked for: ${short(String(line), 200)}`,
    );
    this.kill();
  }

  #fail(error: EnvironmentError): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
    this.#end('was ended');
  }

  #end(how: string, cause?: unknown): void {
    if (!this.#ended) {
      const { trace } = this.#lines;
      this.#ended = new EnvironmentError(`The process of the environment ${this.#who} ${how}.`, {
        reason: 'environment-exited',
        ...(trace === undefined ? { fix: 'It wrote nothing to its standard error.' } : { trace }),
        retryable: true,
        cause,
      });
      this.#waiting?.reject(this.#ended);
      this.#waiting = undefined;
    }
    this.#lines.kill();
  }
}

/**
 * A process that has replied to other calls may break the contract by what it owes to them: this call is tried again in
 * another one, and a fault of its own comes again.
 */
function perhapsOfAnother(error: unknown): unknown {
  if (!(error instanceof EnvironmentError) || !/^environment-(?:broken|too-large)$/.test(error.reason)) return error;
  const { message, reason, fix, cause } = error;
  return new EnvironmentError(message, { reason, ...(fix !== undefined && { fix }), retryable: true, cause });
}

function limited(who: string, beyond: string): EnvironmentError {
  return new EnvironmentError(`The environment ${who} ${beyond}; all of them were killed.`, {
    reason: 'environment-too-many-processes',
    fix: 'docs/environments.md says what a module may use.',
  });
}

function replyTo(who: string, method: string, id: number, value: unknown) {
  const { id: echoed, result, error, ...rest } = replyIn(who, method, value);
  const [alien] = Object.keys(rest);
  if (alien !== undefined)
    throw brokenError(who, method, `the reply has the field ${JSON.stringify(short(alien, 80))}`);
  if (echoed !== id)
    throw brokenError(who, method, `the reply is to call ${short(String(echoed), 20)}, and not to ${id}`);
  return { result, error };
}

interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

/** `who`: the environment, for messages. The work itself is not ended: the caller ends it. */
export async function inTime<T>(
  who: string,
  method: string,
  { signal, timeoutMs }: CallLimits,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let aborted: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new EnvironmentError(`The environment ${who} did not answer \`${method}\` in ${timeoutMs / 1000} s.`, {
          reason: 'environment-timeout',
          fix:
            method === 'hello'
              ? 'The first line of a command is its hello, before it reads a call.'
              : 'It may say another `timeoutSeconds` in hello.',
          retryable: true,
        }),
      );
    }, timeoutMs);
    aborted = () => reject(signal!.reason);
    signal?.addEventListener('abort', aborted, { once: true });
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
    if (aborted) signal?.removeEventListener('abort', aborted);
  }
}
