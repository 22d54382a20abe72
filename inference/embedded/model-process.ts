// Owns the model process: starts it, starts it again when it dies, passes requests through. Requests in flight when
// it dies reject with a retryable error; the next ones wait for the new process. One that keeps dying is given up
// for a while, with what it last said. Leaves out what the requests mean.

import { fork, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { ModelError } from '../../domain/errors.ts';
import type {
  ErrorMessage,
  FromModel,
  GenerateMessage,
  LoadedFacts,
  LoadMessage,
  ResultMessage,
  ToModel,
} from './protocol.ts';

export interface RestartPolicy {
  /** Deaths in a row, with no answer in between, after which it is given up. */
  readonly maxDeaths: number;
  /** Wait after the second death in a row; doubled each time. After one it is started at once. */
  readonly backoffMs: number;
  /** How long it stays given up. */
  readonly restMs: number;
}

export const RESTART_POLICY: RestartPolicy = { maxDeaths: 5, backoffMs: 250, restMs: 30_000 };
const STDERR_LINES = 12;

interface Pending {
  readonly resolve: (result: ResultMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((tokens: number) => void) | undefined;
}

interface Live {
  readonly child: ChildProcess;
  readonly facts: LoadedFacts;
}

export class ModelProcess {
  readonly #entry: string;
  readonly #load: LoadMessage;
  readonly #log: (line: string) => void;
  readonly #policy: RestartPolicy;
  readonly #pending = new Map<number, Pending>();
  /** The process that runs or is being started; null when nobody has asked since it was given up. */
  #live: Promise<Live> | null = null;
  #child: ChildProcess | null = null;
  #ready = false;
  #facts: LoadedFacts | null = null;
  #nextId = 1;
  #deaths = 0;
  #restUntil = 0;
  #lastWords: string[] = [];
  #closed = false;

  constructor(entry: string, load: LoadMessage, log: (line: string) => void, policy = RESTART_POLICY) {
    this.#entry = entry;
    this.#load = load;
    this.#log = log;
    this.#policy = policy;
  }

  /** Loads the model, or says why it cannot be. */
  async start(): Promise<LoadedFacts> {
    return (await this.#running()).facts;
  }

  /** Null between a death and the next start. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async generate(
    request: Omit<GenerateMessage, 'type' | 'id'>,
    signal: AbortSignal,
    onProgress?: (tokens: number) => void,
  ): Promise<ResultMessage> {
    signal.throwIfAborted();
    const id = this.#nextId++;
    let abort: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
    });
    try {
      let child: ChildProcess;
      // it may have died, or been closed, between being ready and our turn
      do ({ child } = await Promise.race([this.#running(), aborted]));
      while (child !== this.#child);
      const result = new Promise<ResultMessage>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject, onProgress });
      });
      result.catch(() => undefined); // when aborted, nobody waits for it any more
      send(child, { type: 'generate', id, ...request });
      return await Promise.race([result, aborted]);
    } finally {
      signal.removeEventListener('abort', abort!);
      if (this.#pending.delete(id) && this.#child) send(this.#child, { type: 'cancel', id });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#rejectAll(closedError());
    await this.#end();
    await this.#live?.catch(() => undefined);
  }

  #running(): Promise<Live> {
    if (this.#closed) return Promise.reject(closedError());
    if (!this.#live) {
      this.#live = this.#startAgain();
      this.#live.catch(() => (this.#live = null));
    }
    return this.#live;
  }

  async #startAgain(): Promise<Live> {
    for (;;) {
      if (this.#closed) throw closedError();
      if (this.#deaths >= this.#policy.maxDeaths) {
        if (this.#restUntil === 0) this.#restUntil = performance.now() + this.#policy.restMs;
        if (performance.now() < this.#restUntil) throw this.#givenUp();
        this.#restUntil = 0;
        this.#deaths = this.#policy.maxDeaths - 1; // one more try
      }
      if (this.#deaths > 1) await sleep(this.#policy.backoffMs * 2 ** (this.#deaths - 2));
      if (this.#closed) throw closedError();
      const started = await this.#startOnce();
      if (started) return started;
    }
  }

  /** Null when the process died before it was ready. Throws what is wrong with the model. */
  #startOnce(): Promise<Live | null> {
    return new Promise((resolve, reject) => {
      // no inspector flags and the like from the parent
      const child = fork(this.#entry, [], {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        execArgv: [],
      });
      this.#child = child;
      this.#lastWords = [];
      let refusal: ModelError | null = null;
      const refuse = (error: ModelError) => {
        refusal = error;
        child.kill('SIGKILL');
      };
      createInterface({ input: child.stderr! }).on('line', (line) => {
        this.#lastWords = [...this.#lastWords, line].slice(-STDERR_LINES);
        this.#log(`model process: ${line}`);
      });
      child.on('error', (error) => this.#log(`model process: ${error.message}`)); // 'close' follows
      child.on('message', (message: FromModel) => {
        if (message.type === 'ready') {
          const changed = this.#facts !== null && this.#facts.fingerprint !== message.facts.fingerprint;
          if (changed) return refuse(changedError(this.#load));
          this.#facts = message.facts;
          this.#ready = true;
          resolve({ child, facts: message.facts });
        } else if (message.type === 'error' && message.id === null) {
          refuse(toModelError(message));
        } else {
          this.#receive(message);
        }
      });
      // 'close' and not 'exit': by then all that it wrote to stderr has been read
      child.on('close', (code, signal) => {
        if (refusal) {
          this.#child = null;
          return reject(refusal);
        }
        if (this.#child === child) this.#died(signal ?? `exit code ${code}`);
        resolve(null); // no effect when it had been ready
      });
      send(child, this.#load);
    });
  }

  #receive(message: FromModel): void {
    if (message.type === 'progress') {
      for (const [id, tokens] of message.tokens) this.#pending.get(id)?.onProgress?.(tokens);
    } else if (message.type === 'result') {
      this.#deaths = 0;
      this.#take(message.id)?.resolve(message);
    } else if (message.type === 'error' && message.id !== null) {
      this.#take(message.id)?.reject(toModelError(message));
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #died(how: string): void {
    this.#child = null;
    this.#deaths++;
    this.#log(`model process: ended by ${how}; ${this.#pending.size} requests were in flight`);
    this.#rejectAll(
      new ModelError(`The model process died (${how}) while it answered`, {
        reason: 'model-process-died',
        fix: 'It is started again; a retry will do.',
        retryable: true,
      }),
    );
    if (!this.#ready) return; // the loop that started it goes on
    this.#ready = false;
    this.#live = null;
    this.#running().catch((error: unknown) => this.#log(`model process: ${String(error)}`));
  }

  #rejectAll(error: ModelError): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('close', () => resolve());
      child.kill('SIGKILL'); // it holds nothing that is worth a farewell
    });
  }

  #givenUp(): ModelError {
    const words = this.#lastWords.join(' | ').slice(-600) || 'it wrote nothing to stderr';
    return new ModelError(`The model process died ${this.#deaths} times in a row; its last words: ${words}`, {
      reason: 'model-process-crash-loop',
      fix: 'Is there memory enough for the model (dmesg names what the kernel killed)? It is tried again in a while.',
      retryable: true,
    });
  }
}

function send(child: ChildProcess, message: ToModel): void {
  // a channel that is closed means that the process is dead, which 'close' tells
  if (child.connected) child.send(message, () => undefined);
}

function toModelError({ message, reason, fix, retryable, causes }: ErrorMessage): ModelError {
  const cause = causes.reduceRight<Error | undefined>((inner, text) => new Error(text, { cause: inner }), undefined);
  return new ModelError(message, { reason, retryable, cause, ...(fix === undefined ? {} : { fix }) });
}

function closedError(): ModelError {
  return new ModelError('The model was closed', { reason: 'backend-closed', retryable: true });
}

function changedError({ source }: LoadMessage): ModelError {
  return new ModelError(`The weights of ${source.name} are no longer those the program was started with`, {
    reason: 'model-changed',
    fix: 'Put the old file back, or start the worker again and begin a new run.',
  });
}
