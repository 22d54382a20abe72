// A pool of killable child processes. A job that hangs ends as `timeout` at its limit, is killed with its
// process, and delays no other: after a few milliseconds without progress the jobs behind it are taken back and
// given to another child, which is started if need be. The clock of a job runs from when its child begins it.

import { JudgeError } from '../../domain/errors.ts';
import { Child, type ChildEvents, type Job } from './child-process.ts';

export interface PoolOptions {
  /** The script that each child runs. */
  readonly entry: string;
  readonly children: number;
  /** Wall clock of one job. */
  readonly limitMs: number;
  /** Jobs in one message, at most. */
  readonly batch: number;
}

export type PoolReply = { readonly reply: string } | { readonly failed: 'timeout' | 'crashed' };

const TICK_MS = 10;
const STALL_MS = 25;
const MAX_STALL_MS = 75;
const FAILED_STARTS = 3;

export class JudgePool {
  readonly #options: PoolOptions;
  readonly #children = new Set<Child>();
  #queue: Job[] = [];
  #failedStarts = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = 0;
  #stallMs = STALL_MS;
  readonly #timedOut = new WeakSet<Child>();

  /** With so many jobs open a child is sent the next batch. */
  readonly #ahead: number;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#ahead = options.batch > 1 ? options.batch : 0;
  }

  /** The child's line for this job's line. Rejects when aborted, closed, or when no child can be started. */
  run(text: string, signal?: AbortSignal): Promise<PoolReply> {
    return new Promise<PoolReply>((resolve, reject) => {
      if (this.#closed) return reject(closedError());
      if (signal?.aborted) return reject(signal.reason as Error);
      const abort = (): void => {
        job.settled = true;
        this.#queue = this.#queue.filter((queued) => queued !== job);
        reject(signal?.reason as Error);
      };
      const done = (): void => signal?.removeEventListener('abort', abort);
      const job: PooledJob = {
        text,
        settled: false,
        deaths: 0,
        resolve: (reply) => {
          done();
          resolve({ reply });
        },
        fail: (failed) => {
          done();
          resolve({ failed });
        },
        reject: (error) => {
          done();
          reject(error as Error);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.push(job);
      // Calls of the same moment share a message.
      if (this.#queue.length === 1) queueMicrotask(() => this.#dispatch());
    });
  }

  /** Starts the children before they are needed. */
  warm(): void {
    this.#staff(this.#options.children);
  }

  get pids(): readonly number[] {
    return [...this.#children].map((child) => child.pid).filter((pid) => pid !== undefined);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const child of this.#children) {
      for (const job of child.pending) this.#settle(job)?.reject(closedError());
      child.kill();
    }
    for (const job of this.#queue.splice(0)) this.#settle(job)?.reject(closedError());
    this.#children.clear();
  }

  readonly #events: ChildEvents = {
    onReady: (child) => {
      this.#failedStarts = 0;
      this.#dispatch();
      if (child.pending.length === 0) child.hold(false);
    },
    onReply: (child, job, reply) => {
      this.#settle(job)?.resolve(reply);
      if (child.pending.length === 0) this.#rest(child);
      else if (child.pending.length === this.#ahead) this.#dispatch();
    },
    onExit: (child) => this.#bury(child),
  };

  /** At least so many children that make progress; never more than twice the pool's size in all. */
  #staff(wanted: number): void {
    let able = [...this.#children].filter((child) => !child.stalled).length;
    while (able < wanted && this.#children.size < this.#options.children * 2 && !this.#closed) {
      this.#children.add(new Child(this.#options.entry, this.#events));
      able++;
    }
  }

  #dispatch(): void {
    if (this.#closed || this.#queue.length === 0) return;
    if (this.#children.size < this.#options.children) this.#staff(this.#options.children);
    // The idle ones first; then each gets a batch ahead, so that none waits for the next one.
    for (const most of new Set([0, this.#ahead])) {
      const able = [...this.#children].filter(
        (child) => child.ready && !child.stalled && child.pending.length <= most && !this.#holdsSuspect(child),
      );
      for (const [k, child] of able.entries()) {
        const share = Math.ceil(this.#queue.length / (able.length - k));
        const jobs = this.#take(Math.min(this.#options.batch, share));
        if (jobs.length === 0) break;
        child.hold(true);
        child.send(jobs);
      }
    }
    this.#watch();
  }

  /** A job that killed a child before is alone with its child. */
  #holdsSuspect(child: Child): boolean {
    return (
      child.pending.some((job) => job.deaths > 0) || (child.pending.length > 0 && (this.#queue[0]?.deaths ?? 0) > 0)
    );
  }

  /** The next jobs; one that killed a child before goes alone. */
  #take(count: number): Job[] {
    const jobs: Job[] = [];
    while (jobs.length < count) {
      const job = this.#queue[0];
      if (!job || (job.deaths > 0 && jobs.length > 0)) break;
      this.#queue.shift();
      jobs.push(job);
      if (job.deaths > 0) break;
    }
    return jobs;
  }

  /** Done with what it had. A stalled child that came back is as good as before: on a busy machine all stall. */
  #rest(child: Child): void {
    // The machine is slow rather than the job stuck: what waits behind it is left alone for longer.
    if (child.stalled) this.#stallMs = Math.min(this.#stallMs * 1.5, MAX_STALL_MS);
    child.stalled = false;
    child.hold(false);
    this.#dispatch();
  }

  #watch(): void {
    if (this.#timer) return;
    this.#lastTick = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    const now = performance.now();
    const lag = now - this.#lastTick - TICK_MS;
    this.#lastTick = now;
    this.#stallMs = Math.max(this.#stallMs * 0.999, STALL_MS);
    let busy = this.#queue.length > 0;
    for (const child of this.#children) {
      if (child.pending.length === 0) continue;
      busy = true;
      // While this process slept, replies may have been waiting: the child gets that time back.
      if (lag > STALL_MS) child.since += lag;
      const waited = now - child.since;
      if (waited >= this.#options.limitMs) {
        this.#timedOut.add(child);
        child.kill();
      } else if (waited >= this.#stallMs && !child.stalled) this.#stall(child);
    }
    if (!busy) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /** No progress: what waits behind the first job goes to others. The child may still answer; the first answer counts. */
  #stall(child: Child): void {
    child.stalled = true;
    this.#queue.unshift(...child.pending.slice(1).filter((job) => !job.settled));
    // One that makes progress is enough to take them over; a new one is started only if none is left.
    this.#staff(1);
    this.#dispatch();
  }

  #bury(child: Child): void {
    if (!this.#children.delete(child)) return;
    if (!child.ready && ++this.#failedStarts >= FAILED_STARTS) return this.#giveUp();
    const [guilty, ...others] = child.pending;
    const behind = child.stalled ? [] : others.filter((job) => !job.settled);
    this.#queue.unshift(...behind);
    if (guilty && !guilty.settled) {
      if (this.#timedOut.has(child)) this.#settle(guilty)?.fail('timeout');
      else if (++guilty.deaths > 1) this.#settle(guilty)?.fail('crashed');
      else this.#queue.unshift(guilty);
    }
    this.#staff(this.#options.children);
    this.#dispatch();
  }

  #giveUp(): void {
    const error = new JudgeError('The judge’s child process does not start', {
      reason: 'judge-process',
      fix: 'Run `npm run build`; look whether the machine is out of memory or processes.',
      retryable: true,
    });
    this.#failedStarts = 0;
    for (const job of this.#queue.splice(0)) this.#settle(job)?.reject(error);
  }

  #settle(job: Job): PooledJob | undefined {
    if (job.settled) return undefined;
    job.settled = true;
    return job as PooledJob;
  }
}

interface PooledJob extends Job {
  fail(how: 'timeout' | 'crashed'): void;
}

const closedError = (): JudgeError => new JudgeError('The judge is closed', { reason: 'judge-closed' });
