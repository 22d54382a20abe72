// One child of the pool: starts it, sends it jobs, hands back its replies in order. Knows nothing of queues or limits;
// those are the pool's.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface Job {
  readonly text: string;
  settled: boolean;
  /** A child ended while it had this job unanswered: from now on the job has a child for itself. */
  alone: boolean;
  /** How often a child died of this job, with no other job there. */
  deaths: number;
  /** How often a child that had this job alone was killed from outside. */
  kills: number;
  resolve(reply: string): void;
  fail(): void;
  reject(error: unknown): void;
}

/**
 * How a child ended. `own`: of its work (memory, stack, an exception, its limit of processor time). `outside`: another
 * process killed it. `limit`: the pool did, at the limit of the wall clock.
 */
export type ChildEnd = 'own' | 'outside' | 'limit';

export interface ChildEvents {
  onReady(child: Child): void;
  onReply(child: Child, job: Job, reply: string): void;
  onExit(child: Child, how: ChildEnd): void;
}

/** Heap of one child: enough for the judge, small enough that a runaway dies at once. */
const HEAP_MB = 96;

/** Signals that always come from outside. A child over its limit of processor time ends by SIGXCPU. */
const FROM_OUTSIDE: ReadonlySet<string | null> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  /** Jobs sent and not answered, oldest first: the first one is being worked on. */
  readonly pending: Job[] = [];
  ready = false;
  /** Jobs answered. */
  served = 0;
  /** The pool's looks at it since its last reply, or since it was given work. */
  looks = 0;
  #atLimit = false;
  #rest = '';

  constructor(entry: string, args: readonly string[], events: ChildEvents) {
    const flags = [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=4'];
    this.#process = spawn(process.execPath, [...flags, entry, ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
      // Model text is judged here: nothing of the worker's environment is.
      env: {},
    });
    this.#process.stdout.setEncoding('utf8');
    this.#process.stdout.on('data', (chunk: string) => this.#read(chunk, events));
    this.#process.stdin.on('error', () => undefined);
    let gone = false;
    const end = (how: ChildEnd): void => {
      if (!gone) events.onExit(this, how);
      gone = true;
    };
    this.#process.once('error', () => end('own'));
    // Not `exit`: replies that it wrote before it died are read first.
    this.#process.once('close', (_code, signal) =>
      end(this.#atLimit ? 'limit' : FROM_OUTSIDE.has(signal) ? 'outside' : 'own'),
    );
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  send(jobs: readonly Job[]): void {
    if (this.pending.length === 0) this.looks = 0;
    this.pending.push(...jobs);
    this.hold(true);
    this.#process.stdin.write(jobs.map((job) => `${job.text}\n`).join(''));
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  killAtLimit(): void {
    this.#atLimit = true;
    this.kill();
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
    this.looks = 0;
    for (const line of lines) {
      const job = this.ready ? this.pending.shift() : undefined;
      if (job) {
        this.served++;
        events.onReply(this, job, line);
      } else if (!this.ready) {
        this.ready = true;
        events.onReady(this);
      }
    }
  }
}
