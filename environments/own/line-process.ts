// One process of a user's environment: JSON lines on its standard input and output, one call at a time. Guarantees: a call
// ends in its time whatever the process does; after a broken one the process is killed with all that it started; it does
// not outlive this process, also not after a kill -9. Its standard error goes to the log, a bounded number of lines.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { MAX_REPLY_BYTES } from '../../domain/environment.ts';
import { EnvironmentError } from '../../domain/errors.ts';
import { short } from '../../domain/foreign-text.ts';
import { lost } from './held.ts';
import { broken, parseJson, tooLarge } from './reply.ts';

export interface ProcessLaunch {
  /** The environment, for messages. */
  readonly who: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
  /** Exit codes by which its limits end it, and what it did then. */
  readonly endings?: Readonly<Record<number, string>>;
}

export interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

/** 3: a pipe that only the owner holds open. Its end kills the whole group: the program and what it started. */
export const GUARD = `
exec 4<&3 5<&0
"$@" <&5 3<&- 4<&- 5<&- &
child=$!
exec 5<&- 3<&-
( while read -r _; do :; done; kill -KILL 0 ) <&4 >/dev/null 2>&1 &
guard=$!
wait "$child"
code=$?
kill -KILL "$guard" 2>/dev/null
exit "$code"
`;

const LOGGED_CHARS = 500;
const LOGGED_LINES = 1_000;

interface Waiting {
  resolve(line: Buffer): void;
  reject(error: unknown): void;
}

export class LineProcess {
  readonly #child: ChildProcess;
  readonly #who: string;
  #parts: Buffer[] = [];
  #bytes = 0;
  #lines: Buffer[] = [];
  #waiting: Waiting | undefined;
  #ended: EnvironmentError | undefined;
  #calls = 0;
  #killed = false;

  constructor({ who, file, args, cwd, env, log, endings = {} }: ProcessLaunch) {
    this.#who = who;
    this.#child = spawn('/bin/sh', ['-c', GUARD, 'everturn-environment', file, ...args], {
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
      cwd,
      env,
    });
    this.#child.once('error', (cause) => this.#end('cannot be started', cause));
    this.#child.once('exit', (code, signal) => {
      const notFound = code === 127 ? ' (the program was not found)' : '';
      const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}${notFound}`;
      const beyond = code === null ? undefined : endings[code];
      // Its last lines are read first.
      setImmediate(() => (beyond === undefined ? this.#end(how) : this.#fail(limited(who, beyond))));
    });
    (this.#child.stdout as Readable).on('data', (chunk: Buffer) => this.#read(chunk));
    (this.#child.stdin as Writable).on('error', () => undefined);
    logLines(this.#child.stderr as Readable, (line) => log(`${who}: ${line}`));
    for (const stream of this.#child.stdio.slice(3)) stream?.on('error', () => undefined);
  }

  get pid(): number | undefined {
    return this.#child.pid;
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
    const id = ++this.#calls;
    const line = await this.#within(limits, method, () => {
      if (this.#lines.length > 0) throw broken(this.#who, 'reply', 'it wrote a line that nobody asked for');
      const next = this.#next();
      if (!this.#ended) (this.#child.stdin as Writable).write(`${JSON.stringify({ id, method, params })}\n`);
      return next;
    });
    try {
      return resultOf(this.#who, method, id, parseJson(this.#who, line));
    } catch (error) {
      // An error that it reports itself is a reply like any other.
      if (!(error instanceof EnvironmentError) || error.reason !== 'environment-error') this.kill();
      throw error;
    }
  }

  /** Kills it with all that it started. Returns the error, for a throw. */
  kill<E>(error?: E): E {
    this.#end('was ended');
    return error as E;
  }

  async #within(limits: CallLimits, method: string, work: () => Promise<Buffer>): Promise<Buffer> {
    const { signal, timeoutMs } = limits;
    signal?.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    let aborted: (() => void) | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new EnvironmentError(`The environment ${this.#who} did not answer \`${method}\` in ${timeoutMs / 1000} s.`, {
            reason: 'environment-timeout',
            fix: 'It may say another `timeoutSeconds` in hello.',
            retryable: true,
          }),
        );
      }, timeoutMs);
      aborted = () => reject(signal!.reason);
      signal?.addEventListener('abort', aborted, { once: true });
    });
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      throw this.kill(error);
    } finally {
      clearTimeout(timer);
      if (aborted) signal?.removeEventListener('abort', aborted);
    }
  }

  #next(): Promise<Buffer> {
    const line = this.#lines.shift();
    if (line) return Promise.resolve(line);
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return;
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      from = at + 1;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (line.length > MAX_REPLY_BYTES) return this.#fail(tooLarge(this.#who), waiting);
      if (waiting) waiting.resolve(line);
      else if (this.#lines.length >= 8) return this.#fail(broken(this.#who, 'reply', 'it writes without being asked'));
      else this.#lines.push(line);
    }
    this.#parts.push(chunk.subarray(from));
    this.#bytes += chunk.length - from;
    if (this.#bytes > MAX_REPLY_BYTES) this.#fail(tooLarge(this.#who));
  }

  #fail(error: EnvironmentError, waiting = this.#waiting): void {
    this.#waiting = undefined;
    waiting?.reject(error);
    this.#end('was ended');
  }

  #end(how: string, cause?: unknown): void {
    if (!this.#ended) {
      this.#ended = new EnvironmentError(`The process of the environment ${this.#who} ${how}.`, {
        reason: 'environment-exited',
        fix: "Its standard error is in the worker's log.",
        retryable: true,
        cause,
      });
      this.#parts = [];
      this.#waiting?.reject(this.#ended);
      this.#waiting = undefined;
    }
    const { pid } = this.#child;
    // Once: later the number may be another group's.
    if (pid === undefined || this.#killed) return;
    this.#killed = true;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // All of it is gone.
    }
  }
}

function limited(who: string, beyond: string): EnvironmentError {
  return new EnvironmentError(`The environment ${who} ${beyond}; all of them were killed.`, {
    reason: 'environment-too-many-processes',
    fix: 'docs/environments.md says what a module may use.',
  });
}

function resultOf(who: string, method: string, id: number, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw broken(who, method, 'the reply is not an object');
  const { id: echoed, result, error, ...rest } = value as Record<string, unknown>;
  const [alien] = Object.keys(rest);
  if (alien !== undefined) throw broken(who, method, `the reply has the field ${JSON.stringify(short(alien, 80))}`);
  if (echoed !== id) throw broken(who, method, `the reply is to call ${short(String(echoed), 20)}, and not to ${id}`);
  if (error !== undefined && error !== null) throw reported(who, method, error);
  if (!('result' in value)) throw broken(who, method, 'the reply has neither `result` nor `error`');
  return result;
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
  const { retryable, lost: gone } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  if (gone === true) return lost(who);
  return new EnvironmentError(`The environment ${who} failed in \`${method}\`: ${saidIn(error)}`, {
    reason: 'environment-error',
    retryable: retryable === true,
  });
}

export function logLines(stream: Readable, log: (line: string) => void): void {
  let rest = '';
  let lines = 0;
  const put = (line: string) => {
    if (line.trim() === '' || ++lines > LOGGED_LINES) return;
    log(short(line, LOGGED_CHARS));
    if (lines === LOGGED_LINES) log('(its further lines are not shown)');
  };
  stream.setEncoding('utf8');
  stream.on('error', () => undefined);
  stream.on('data', (chunk: string) => {
    const all = (rest + chunk).split('\n');
    rest = all.pop()!.slice(0, LOGGED_CHARS);
    for (const line of all) put(line);
  });
  stream.on('end', () => put(rest));
}
