// A pool of killable child processes. After a few milliseconds without progress the jobs behind the first are given to
// another child. When a child dies, each job that it left unanswered is judged again, alone: only a job that kills a
// child by its own work twice, alone, has failed. No clock fails a job: a kill from outside, or at the limit of the
// wall clock, is an error of ours that can be tried again.

import { JudgeError } from '../../../domain/errors.ts';
import { Child, type ChildEnd, type ChildEvents, type Job } from './child-process.ts';

export interface PoolOptions {
  /** The script that each child runs, and its arguments. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly children: number;
  /** Wall clock of one job: against a bug only. A child's limit of processor time is its own, and shorter. */
  readonly limitMs: number;
  /** Jobs in one message, at most. */
  readonly batch: number;
}

/** `died`: this job killed two children that had no other one. */
export type PoolReply = { readonly reply: string } | { readonly failed: 'died' };

const TICK_MS = 10;
const STALL_MS = 25;
const MAX_STALL_MS = 75;
const FAILED_STARTS = 3;
/** Somebody kills children: a start is no sign of a broken judge then, but not for ever. */
const KILLED_STARTS = 20;
const DEATHS = 2;
const KILLS = 5;

export class JudgePool {
  readonly #options: PoolOptions;
  readonly #children = new Set<Child>();
  #queue: Job[] = [];
  /** Jobs that are judged alone. They come first. */
  #alone: Job[] = [];
  /** One listener for all jobs of a signal, as long as one is open. */
  readonly #abortable = new Map<AbortSignal, { readonly jobs: Set<PooledJob>; readonly listener: () => void }>();
  #failedStarts = 0;
  #killedStarts = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = 0;
  #stallMs = STALL_MS;

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
      const job: PooledJob = {
        text,
        settled: false,
        alone: false,
        deaths: 0,
        kills: 0,
        signal,
        resolve: (reply) => resolve({ reply }),
        fail: () => resolve({ failed: 'died' }),
        reject: (error) => reject(error as Error),
      };
      if (signal) this.#abortWith(signal, job);
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
    const open = [...this.#children].flatMap((child) => child.pending);
    for (const child of this.#children) child.kill();
    for (const job of [...open, ...this.#queue.splice(0), ...this.#alone.splice(0)])
      this.#settle(job)?.reject(closedError());
    this.#children.clear();
  }

  readonly #events: ChildEvents = {
    onReady: (child) => {
      this.#failedStarts = this.#killedStarts = 0;
      this.#dispatch();
      if (child.pending.length === 0) child.hold(false);
    },
    onReply: (child, job, reply) => {
      this.#settle(job)?.resolve(reply);
      if (child.pending.length === 0) this.#rest(child);
      else if (child.pending.length === this.#ahead) this.#dispatch();
    },
    onExit: (child, how) => this.#bury(child, how),
  };

  #abortWith(signal: AbortSignal, job: PooledJob): void {
    const known = this.#abortable.get(signal);
    if (known) return void known.jobs.add(job);
    const listener = (): void => this.#abort(signal);
    this.#abortable.set(signal, { jobs: new Set([job]), listener });
    signal.addEventListener('abort', listener);
  }

  #abort(signal: AbortSignal): void {
    for (const job of [...(this.#abortable.get(signal)?.jobs ?? [])]) this.#settle(job)?.reject(signal.reason);
    this.#queue = this.#queue.filter((job) => !job.settled);
    this.#alone = this.#alone.filter((job) => !job.settled);
  }

  /** At least so many children that make progress; never more than twice the pool's size in all. */
  #staff(wanted: number): void {
    let able = [...this.#children].filter((child) => !child.stalled).length;
    while (able < wanted && this.#children.size < this.#options.children * 2 && !this.#closed) {
      this.#children.add(new Child(this.#options.entry, this.#options.args ?? [], this.#events));
      able++;
    }
  }

  #dispatch(): void {
    if (this.#closed || this.#queue.length + this.#alone.length === 0) return;
    if (this.#children.size < this.#options.children) this.#staff(this.#options.children);
    for (const child of this.#children) if (child.idle && this.#alone.length > 0) this.#sendAlone(child);
    // Idle children first; then each gets the next batch in advance, so that none waits.
    // If a job must run alone, children finish their jobs and get no new ones.
    for (const most of new Set(this.#alone.length > 0 ? [0] : [0, this.#ahead])) {
      const able = [...this.#children].filter(
        (child) => child.ready && !child.stalled && child.pending.length <= most && !child.pending[0]?.alone,
      );
      for (const [k, child] of able.entries()) {
        const share = Math.ceil(this.#queue.length / (able.length - k));
        const jobs = this.#queue.splice(0, Math.min(this.#options.batch, share)).filter((job) => !job.settled);
        if (jobs.length > 0) this.#send(child, jobs);
      }
    }
    this.#watch();
  }

  /** To a job of which a child died already, only a new child is a witness: one that judged before makes room for it. */
  #sendAlone(child: Child): void {
    const at = this.#alone.findIndex((job) => child.served === 0 || job.deaths === 0);
    const [job] = at < 0 ? [] : this.#alone.splice(at, 1);
    if (job) return this.#send(child, [job]);
    if ([...this.#children].some((other) => !other.ready)) return;
    this.#children.delete(child);
    child.kill();
    this.#staff(this.#options.children);
  }

  #send(child: Child, jobs: readonly Job[]): void {
    child.hold(true);
    child.send(jobs);
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
    let busy = this.#queue.length + this.#alone.length > 0;
    for (const child of this.#children) {
      if (child.pending.length === 0) continue;
      busy = true;
      // While this process slept, replies may have been waiting: the child gets that time back.
      if (lag > STALL_MS) child.since += lag;
      const waited = now - child.since;
      if (waited >= this.#options.limitMs) child.killAtLimit();
      else if (waited >= this.#stallMs && !child.stalled) this.#stall(child);
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
    child.handedOver = child.pending.length - 1;
    // One that makes progress is enough to take them over; a new one is started only if none is left.
    this.#staff(1);
    this.#dispatch();
  }

  #bury(child: Child, how: ChildEnd): void {
    if (!this.#children.delete(child)) return;
    if (!child.ready) {
      if (how === 'own') this.#failedStarts++;
      else this.#killedStarts++;
      if (this.#failedStarts >= FAILED_STARTS || this.#killedStarts >= KILLED_STARTS) return this.#giveUp();
    }
    for (const job of child.unanswered()) {
      if (job.alone) this.#blame(job, how);
      job.alone = true;
      if (!job.settled) this.#alone.push(job);
    }
    this.#staff(this.#options.children);
    this.#dispatch();
  }

  /** It was alone with the child that died. */
  #blame(job: Job, how: ChildEnd): void {
    if (how === 'own') {
      if (++job.deaths >= DEATHS) this.#settle(job)?.fail();
    } else if (how === 'limit') this.#settle(job)?.reject(stalledError(this.#options.limitMs));
    else if (++job.kills >= KILLS) this.#settle(job)?.reject(killedError());
  }

  #giveUp(): void {
    const error = new JudgeError('The judge’s child process does not start', {
      reason: 'judge-process',
      fix: 'Run `npm run build`; look whether the machine is out of memory or processes.',
      retryable: true,
    });
    this.#failedStarts = this.#killedStarts = 0;
    for (const job of [...this.#queue.splice(0), ...this.#alone.splice(0)]) this.#settle(job)?.reject(error);
  }

  #settle(job: Job): PooledJob | undefined {
    if (job.settled) return undefined;
    job.settled = true;
    const pooled = job as PooledJob;
    const { signal } = pooled;
    const abortable = signal && this.#abortable.get(signal);
    abortable?.jobs.delete(pooled);
    if (abortable?.jobs.size === 0) {
      signal!.removeEventListener('abort', abortable.listener);
      this.#abortable.delete(signal!);
    }
    return pooled;
  }
}

interface PooledJob extends Job {
  readonly signal: AbortSignal | undefined;
  fail(): void;
}

const closedError = (): JudgeError => new JudgeError('The judge is closed', { reason: 'judge-closed' });

const stalledError = (limitMs: number): JudgeError =>
  new JudgeError(
    `The judge’s child process gave no answer within ${limitMs / 1000} s and used too little processor time`,
    {
      reason: 'judge-stalled',
      fix: 'Look whether the machine is overloaded, or processes are stopped.',
      retryable: true,
    },
  );

const killedError = (): JudgeError =>
  new JudgeError(`The judge’s child process was killed from outside ${KILLS} times over one answer`, {
    reason: 'judge-killed',
    fix: 'Look who ends processes on this machine: is it out of memory?',
    retryable: true,
  });
