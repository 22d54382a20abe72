// One process of a user's environment: JSON lines on its standard input and output, one call at a time. Guarantees: a call
// ends in its time whatever the process does; after a broken one the process is killed with all that it started.

import { MAX_REPLY_BYTES } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { GuardedLines, type ProcessLaunch } from './guarded-lines.ts';
import { lost } from './held.ts';
import { type CallLimits, inTime } from './in-time.ts';
import { broken, parseJson, tooLarge } from './reply.ts';

/** Between two tries to get a session of an environment that has no free one. */
const BUSY_MS = 2_000;

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
  async hello(limits: CallLimits): Promise<unknown> {
    const said = await this.#within(limits, 'hello', () => this.#next());
    const value = parseJson(this.#who, said);
    if (typeof value === 'object' && value !== null && 'hello' in value) return value.hello;
    if (typeof value === 'object' && value !== null && 'error' in value) throw this.kill(unloadable(this.#who, value));
    throw this.kill(broken(this.#who, 'hello', 'its first line is no {"hello": …}'));
  }

  /** The result of one call. Calls must not overlap. */
  async call(method: string, params: object, limits: CallLimits): Promise<unknown> {
    const { result, error } = await this.#replyTo(method, params, limits);
    if (error === undefined) return result;
    // An error that it reports itself is a reply like any other: the process goes on.
    throw reported(this.#who, method, error);
  }

  async #replyTo(method: string, params: object, limits: CallLimits) {
    const id = ++this.#calls;
    try {
      const line = await this.#within(limits, method, () => {
        const next = this.#next();
        this.#lines.write({ id, method, params });
        return next;
      });
      return replyIn(this.#who, method, id, parseJson(this.#who, line));
    } catch (error) {
      this.kill();
      throw id > 1 ? perhapsOfAnother(error) : error;
    }
  }

  /** Kills it with all that it started. Returns the error, for a throw. */
  kill<E>(error?: E): E {
    this.#end('was ended');
    return error as E;
  }

  async #within(limits: CallLimits, method: string, work: () => Promise<Buffer>): Promise<Buffer> {
    try {
      return await inTime(this.#who, method, limits, work);
    } catch (error) {
      throw this.kill(error);
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
      this.#ended = new EnvironmentError(`The process of the environment ${this.#who} ${how}.`, {
        reason: 'environment-exited',
        fix: "Its standard error is in the worker's log; `env test` and `judge` print it.",
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

/** `error`: as it reported it, in place of a result. */
function replyIn(who: string, method: string, id: number, value: unknown) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw broken(who, method, 'the reply is not an object');
  const { id: echoed, result, error, ...rest } = value as Record<string, unknown>;
  const [alien] = Object.keys(rest);
  if (alien !== undefined) throw broken(who, method, `the reply has the field ${JSON.stringify(short(alien, 80))}`);
  if (echoed !== id) throw broken(who, method, `the reply is to call ${short(String(echoed), 20)}, and not to ${id}`);
  if (error !== undefined && error !== null) return { error };
  if (!('result' in value)) throw broken(who, method, 'the reply has neither `result` nor `error`');
  return { result };
}

/** An environment that cannot begin says why in place of its hello. */
function unloadable(who: string, { error }: { readonly error: unknown }): EnvironmentError {
  return new EnvironmentError(`The environment ${who} does not load: ${saidIn(error)}`, {
    reason: 'environment-unloadable',
  });
}

/** The message of a reported error, or the error itself as JSON. */
function saidIn(error: unknown): string {
  const { message } = (typeof error === 'object' && error !== null ? error : { message: error }) as Record<
    string,
    unknown
  >;
  return short(typeof message === 'string' ? message : JSON.stringify(error), 500);
}

/** An error that the environment reports. */
export function reported(who: string, method: string, error: unknown): EnvironmentError {
  const {
    retryable,
    lost: isLost,
    busy,
  } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  if (isLost === true) return lost(who, saidIn(error));
  if (busy === true) {
    return new EnvironmentError(`The environment ${who} is busy in \`${method}\`: ${saidIn(error)}`, {
      reason: 'environment-not-served',
      fix: 'Give it more sessions, or the run a smaller --max-concurrent.',
      retryable: true,
      retryAfterMs: BUSY_MS,
    });
  }
  return new EnvironmentError(`The environment ${who} failed in \`${method}\`: ${saidIn(error)}`, {
    reason: 'environment-error',
    retryable: retryable === true,
  });
}
