// Owns the model process: starts it, restarts it when it dies, passes requests through. Requests in flight when it
// dies reject with a retryable error; later ones wait for the new process. After repeated deaths requests are refused
// for a while, with the last lines of its stderr. Leaves out the meaning of the requests.

import { fork, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { ModelError } from '../../domain/errors/errors.ts';
import {
  changedError,
  closedModelError,
  diedError,
  type FromModel,
  type GenerateMessage,
  type LoadedFacts,
  type LoadMessage,
  type ReadyMessage,
  type ResultMessage,
  type ToModel,
  toModelError,
} from './protocol.ts';

export interface RestartPolicy {
  /** Consecutive deaths without an answer in between, after which requests are refused. */
  readonly maxDeaths: number;
  /** Delay after the second consecutive death; doubled each time. After the first it restarts at once. */
  readonly backoffMs: number;
  /** How long requests are refused then. */
  readonly restMs: number;
}

const RESTART_POLICY: RestartPolicy = { maxDeaths: 5, backoffMs: 250, restMs: 30_000 };
const STDERR_LINES = 12;
/** Weights in memory: the current ones, and older ones that answers in flight still sample from. */
const LOADED_AT_ONCE = 2;

interface Pending {
  readonly resolve: (result: ResultMessage | ReadyMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((tokens: number) => void) | undefined;
}

interface Live {
  readonly child: ChildProcess;
  readonly facts: LoadedFacts;
}

export class ModelProcess {
  readonly #entry: string;
  /** The weights requested last: a restarted process loads them first. */
  #load: LoadMessage;
  /** Weights that the current process has loaded or is loading, by key. */
  #loaded = new Map<string, Promise<LoadedFacts>>();
  /** The hash of weights when they were first loaded, by key. */
  readonly #prints = new Map<string, string | null>();
  readonly #log: (line: string) => void;
  readonly #policy: RestartPolicy;
  readonly #pending = new Map<number, Pending>();
  /** The process that runs or starts; null if no request came since the last refusal. */
  #live: Promise<Live> | null = null;
  #child: ChildProcess | null = null;
  #ready = false;
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

  /** Loads the model, or throws the reason why it cannot. */
  async start(): Promise<LoadedFacts> {
    return (await this.#running()).facts;
  }

  /** Null between a death and the next start. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async generate(
    request: Omit<GenerateMessage, 'type' | 'id' | 'key'>,
    signal: AbortSignal,
    onProgress?: (tokens: number) => void,
    load: LoadMessage = this.#load,
  ): Promise<ResultMessage> {
    signal.throwIfAborted();
    const id = this.#nextId++;
    this.#load = load;
    let abort: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
    });
    try {
      let child: ChildProcess;
      // It may have died, or been closed, since it was ready.
      do {
        ({ child } = await Promise.race([this.#running(), aborted]));
        await Promise.race([this.#loadInto(child, load), aborted]);
      } while (child !== this.#child);
      const result = this.#answer(id, onProgress);
      send(child, { type: 'generate', id, key: load.key, ...request });
      return (await Promise.race([result, aborted])) as ResultMessage;
    } finally {
      signal.removeEventListener('abort', abort!);
      if (this.#pending.delete(id) && this.#child) send(this.#child, { type: 'cancel', id });
    }
  }

  /** Loads these weights beside the others, or throws the reason why it cannot. */
  async load(load: LoadMessage): Promise<LoadedFacts> {
    const { child } = await this.#running();
    return this.#loadInto(child, load);
  }

  #answer(id: number, onProgress?: (tokens: number) => void): Promise<ResultMessage | ReadyMessage> {
    const answer = new Promise<ResultMessage | ReadyMessage>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
    });
    answer.catch(() => undefined); // after an abort nobody awaits it
    return answer;
  }

  #loadInto(child: ChildProcess, load: LoadMessage): Promise<LoadedFacts> {
    const known = this.#loaded.get(load.key);
    if (known) return known;
    const loads = this.#loaded;
    const id = this.#nextId++;
    const loading = this.#answer(id).then((message) => {
      const { facts } = message as ReadyMessage;
      if (this.#isChanged(load, facts)) throw changedError(load);
      for (const key of [...loads.keys()].slice(0, -LOADED_AT_ONCE)) {
        loads.delete(key);
        send(child, { type: 'unload', key });
      }
      return facts;
    });
    loads.set(load.key, loading);
    loading.catch(() => loads.delete(load.key));
    if (child === this.#child) send(child, { ...load, id });
    else this.#take(id)?.reject(diedError('before it had loaded other weights'));
    return loading;
  }

  #isChanged({ key }: LoadMessage, { fingerprint }: LoadedFacts): boolean {
    const before = this.#prints.get(key);
    this.#prints.set(key, before ?? fingerprint);
    return before !== undefined && before !== fingerprint;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#rejectAll(closedModelError());
    await this.#end();
    await this.#live?.catch(() => undefined);
  }

  #running(): Promise<Live> {
    if (this.#closed) return Promise.reject(closedModelError());
    if (!this.#live) {
      this.#live = this.#startAgain();
      this.#live.catch(() => (this.#live = null));
    }
    return this.#live;
  }

  async #startAgain(): Promise<Live> {
    for (;;) {
      if (this.#closed) throw closedModelError();
      if (this.#deaths >= this.#policy.maxDeaths) {
        if (this.#restUntil === 0) this.#restUntil = performance.now() + this.#policy.restMs;
        if (performance.now() < this.#restUntil) throw this.#givenUp();
        this.#restUntil = 0;
        this.#deaths = this.#policy.maxDeaths - 1; // one more try
      }
      if (this.#deaths > 1) await sleep(this.#policy.backoffMs * 2 ** (this.#deaths - 2));
      if (this.#closed) throw closedModelError();
      const started = await this.#startOnce();
      if (started) return started;
    }
  }

  /** Null if the process died before it was ready. Throws if the model is at fault. */
  #startOnce(): Promise<Live | null> {
    return new Promise((resolve, reject) => {
      // The parent's inspector flags and the like are not inherited.
      const child = fork(this.#entry, [], {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        execArgv: [],
      });
      this.#child = child;
      this.#lastWords = [];
      const load = this.#load;
      const loads = (this.#loaded = new Map<string, Promise<LoadedFacts>>());
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
        if (message.type === 'ready' && message.id === null) {
          if (this.#isChanged(load, message.facts)) return refuse(changedError(load));
          loads.set(load.key, Promise.resolve(message.facts));
          this.#ready = true;
          resolve({ child, facts: message.facts });
        } else if (message.type === 'error' && message.id === null) {
          refuse(toModelError(message));
        } else {
          this.#receive(message);
        }
      });
      // 'close' and not 'exit': its stderr has been read to the end by then.
      child.on('close', (code, signal) => {
        if (refusal) {
          this.#child = null;
          return reject(refusal);
        }
        if (this.#child === child) this.#died(signal ?? `exit code ${code}`);
        resolve(null); // no effect when it had been ready
      });
      send(child, load);
    });
  }

  #receive(message: FromModel): void {
    if (message.type === 'progress') {
      for (const [id, tokens] of message.tokens) this.#pending.get(id)?.onProgress?.(tokens);
    } else if (message.type === 'result') {
      this.#deaths = 0;
      this.#take(message.id)?.resolve(message);
    } else if (message.type === 'ready' && message.id !== null) {
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
    this.#rejectAll(diedError(`(${how}) while it answered`));
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
  // A closed channel means that the process is dead; 'close' reports that.
  if (child.connected) child.send(message, () => undefined);
}
