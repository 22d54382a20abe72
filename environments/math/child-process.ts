// One child of the pool: starts it, sends it jobs, hands back its replies in order. Knows nothing of queues
// or limits; those are the pool's.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface Job {
  readonly text: string;
  settled: boolean;
  /** How often a child died over it. */
  deaths: number;
  resolve(reply: string): void;
  reject(error: unknown): void;
}

export interface ChildEvents {
  onReady(child: Child): void;
  onReply(child: Child, job: Job, reply: string): void;
  onExit(child: Child): void;
}

/** Heap of one child: enough for the judge, small enough that a runaway dies at once. */
const HEAP_MB = 96;

export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  /** Jobs sent and not answered, oldest first: the first one is being worked on. */
  readonly pending: Job[] = [];
  ready = false;
  /** When the first pending job was begun. */
  since = 0;
  /** Given up as a worker: it may finish its first job, but gets no more. */
  stalled = false;
  #rest = '';

  constructor(entry: string, events: ChildEvents) {
    this.#process = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=4', entry], {
      stdio: ['pipe', 'pipe', 'ignore'],
      // Model text is judged here: nothing of the worker's environment is.
      env: {},
    });
    this.#process.stdout.setEncoding('utf8');
    this.#process.stdout.on('data', (chunk: string) => this.#read(chunk, events));
    this.#process.stdin.on('error', () => undefined);
    let gone = false;
    const exit = (): void => {
      if (!gone) events.onExit(this);
      gone = true;
    };
    this.#process.once('error', exit);
    this.#process.once('exit', exit);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  send(jobs: readonly Job[]): void {
    if (this.pending.length === 0) this.since = performance.now();
    this.pending.push(...jobs);
    this.#process.stdin.write(jobs.map((job) => `${job.text}\n`).join(''));
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** An idle child must not keep its parent alive; a busy one must. */
  hold(busy: boolean): void {
    for (const handle of [this.#process, this.#process.stdin, this.#process.stdout] as unknown as NodeJS.Timeout[]) {
      if (busy) handle.ref();
      else handle.unref();
    }
  }

  #read(chunk: string, events: ChildEvents): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!this.ready) {
        this.ready = true;
        events.onReady(this);
        continue;
      }
      const job = this.pending.shift();
      this.since = performance.now();
      if (job) events.onReply(this, job, line);
    }
  }
}
