// A pool of killable child processes. When a child ends, each job that it left unanswered is judged again, alone: only a
// job that kills a child by its own work twice, alone, has failed. No clock fails a job: a kill from outside, or at the
// limit of the wall clock, is an error of ours that can be tried again. Not covered: a job waits for those that were
// sent with it, at most their processor time.

import { setMaxListeners } from 'node:events';
import { Child, type ChildEnd, type ChildEvents, type Job } from './child-process.ts';
import { JudgeError } from './judge-error.ts';

export interface PoolOptions {
  /** The script that each child runs, and its arguments. */
  readonly entry: string;
  readonly args: readonly string[];
  readonly children: number;
  /** Wall clock without a reply: against a bug only. A child's limit of processor time is its own, and shorter. */
  readonly limitMs: number;
  /** Jobs in one message, at most. */
  readonly batch: number;
}

const LOOKS = 4;
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
  #failedStarts = 0;
  #killedStarts = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * The child's line for this job's line, undefined when the job killed two children that had no other one. Rejects when
   * aborted, closed, or when no child can be started.
   */
  run(text: string, signal?: AbortSignal): Promise<string | undefined> {
    return new Promise<string | undefined>((resolve, reject) => {
      if (this.#closed) return reject(closedError());
      if (signal?.aborted) return reject(signal.reason as Error);
      const settle = (): boolean => {
        if (job.settled) return false;
        signal?.removeEventListener('abort', abort);
        return (job.settled = true);
      };
      const job: Job = {
        text,
        settled: false,
        alone: false,
        deaths: 0,
        kills: 0,
        resolve: (reply) => settle() && resolve(reply),
        fail: () => settle() && resolve(undefined),
        reject: (error) => settle() && reject(error as Error),
      };
      const abort = (): void => job.reject(signal?.reason);
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener('abort', abort);
      this.#queue.push(job);
      // Calls of the same moment share a message.
      if (this.#queue.length === 1) queueMicrotask(() => this.#dispatch());
    });
  }

  /** Starts the children before they are needed. */
  warm(): void {
    while (this.#children.size < this.#options.children && !this.#closed)
      this.#children.add(new Child(this.#options.entry, this.#options.args, this.#events));
  }

  get pids(): readonly number[] {
    return [...this.#children].map((child) => child.pid).filter((pid) => pid !== undefined);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    const sent = [...this.#children].flatMap((child) => child.pending);
    for (const child of this.#children) child.kill();
    this.#children.clear();
    this.#rejectAll([...sent, ...this.#waiting()], closedError());
  }

  readonly #events: ChildEvents = {
    onReady: (child) => {
      this.#failedStarts = this.#killedStarts = 0;
      this.#dispatch();
      if (child.pending.length === 0) child.hold(false);
    },
    onReply: (child, job, reply) => {
      job.resolve(reply);
      if (child.pending.length === 0) child.hold(false);
      if (child.pending.length === 0 || child.pending.length === this.#ahead) this.#dispatch();
    },
    onExit: (child, how) => this.#bury(child, how),
  };

  /** With so many jobs open a child is sent the next batch, so that it does not wait. */
  get #ahead(): number {
    return this.#options.batch > 1 ? this.#options.batch : 0;
  }

  #waiting(): Job[] {
    return [...this.#alone.splice(0), ...this.#queue.splice(0)];
  }

  #rejectAll(jobs: readonly Job[], error: JudgeError): void {
    for (const job of jobs) job.reject(error);
  }

  #dispatch(): void {
    this.#queue = this.#queue.filter((job) => !job.settled);
    this.#alone = this.#alone.filter((job) => !job.settled);
    if (this.#closed || this.#queue.length + this.#alone.length === 0) return;
    this.warm();
    for (const child of this.#children) {
      if (this.#alone.length === 0) break;
      if (child.ready && child.pending.length === 0) this.#sendAlone(child);
    }
    // While a job has to be judged alone, the others finish what they have and get no more.
    const most = this.#alone.length > 0 ? -1 : this.#ahead;
    const able = [...this.#children]
      .filter((child) => child.ready && child.pending.length <= most && !child.pending[0]?.alone)
      .toSorted((a, b) => a.pending.length - b.pending.length);
    for (const [k, child] of able.entries()) {
      const share = Math.ceil(this.#queue.length / (able.length - k));
      const jobs = this.#queue.splice(0, Math.min(this.#options.batch, share));
      if (jobs.length > 0) child.send(jobs);
    }
    this.#timer ??= setInterval(() => this.#look(), this.#options.limitMs / LOOKS).unref();
  }

  /** To a job of which a child died already, only a new child is a witness: one that judged before makes room for it. */
  #sendAlone(child: Child): void {
    const at = this.#alone.findIndex((job) => child.served === 0 || job.deaths === 0);
    const [job] = at < 0 ? [] : this.#alone.splice(at, 1);
    if (job) return child.send([job]);
    if ([...this.#children].some((other) => !other.ready)) return;
    this.#children.delete(child);
    child.kill();
    this.warm();
  }

  /** Looks are counted and not the clock: while this process sleeps, replies may be waiting, and it looks once. */
  #look(): void {
    const busy = [...this.#children].filter((child) => child.pending.length > 0);
    for (const child of busy) if (++child.looks > LOOKS) child.killAtLimit();
    if (busy.length + this.#queue.length + this.#alone.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #bury(child: Child, how: ChildEnd): void {
    if (!this.#children.delete(child)) return;
    if (!child.ready) {
      if (how === 'own') this.#failedStarts++;
      else this.#killedStarts++;
      if (this.#failedStarts >= FAILED_STARTS || this.#killedStarts >= KILLED_STARTS) {
        this.#failedStarts = this.#killedStarts = 0;
        return this.#rejectAll(this.#waiting(), startError());
      }
    }
    for (const job of child.pending) {
      if (job.alone) this.#blame(job, how);
      job.alone = true;
      if (!job.settled) this.#alone.push(job);
    }
    this.#dispatch();
  }

  /** It was alone with the child that ended. */
  #blame(job: Job, how: ChildEnd): void {
    if (how === 'limit') job.reject(stalledError(this.#options.limitMs));
    else if (how === 'own' && ++job.deaths >= DEATHS) job.fail();
    else if (how === 'outside' && ++job.kills >= KILLS) job.reject(killedError());
  }
}

const closedError = (): JudgeError => new JudgeError('The judge is closed', { reason: 'judge-closed' });

const startError = (): JudgeError =>
  new JudgeError('The judge’s child process does not start', {
    reason: 'judge-process',
    fix: 'Look whether the machine is out of memory or processes.',
    retryable: true,
  });

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
