// A pool of killable child processes, each with one job at a time: a child that ends does so by its job. Only a job that kills two
// children by its own work has failed, the second one a new child. No clock fails a job: a kill from outside, or at the limit of
// the wall clock, is an error of ours that can be tried again.

import { setMaxListeners } from 'node:events';
import { type Child, startChild } from './child-process.ts';
import { JudgeError } from './judge-error.ts';

export interface PoolOptions {
  /** The script that each child runs, and its arguments. */
  readonly entry: string;
  readonly args: readonly string[];
  readonly children: number;
  /** Wall clock of one job: against a bug only. A child's limit of processor time is its own, and shorter. */
  readonly limitMs: number;
}

/** Loading the judge may take long on a busy machine. */
const START_MS = 600_000;
const FAILED_STARTS = 3;
/** Somebody kills children: a start is no sign of a broken judge then, but not for ever. */
const KILLED_STARTS = 20;
const DEATHS = 2;
const KILLS = 5;

export class JudgePool {
  readonly #options: PoolOptions;
  readonly #children = new Set<Child>();
  /** Children that have no job, or will have none once they are there; jobs that wait for one. */
  readonly #idle: Promise<Child>[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * The child's line for this job's line, undefined when the job killed two children. Rejects when aborted, closed, or when no
   * child can be started.
   */
  async run(text: string, signal?: AbortSignal): Promise<string | undefined> {
    signal?.throwIfAborted();
    const judged = this.#judged(text, signal);
    if (!signal) return judged;
    setMaxListeners(0, signal);
    let abort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason as Error)));
    signal.addEventListener('abort', abort);
    try {
      return await Promise.race([judged, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Starts the children before they are needed. */
  warm(): void {
    while (!this.#closed && this.#busy + this.#idle.length < this.#options.children) {
      const child = this.#started();
      child.catch(() => undefined);
      this.#idle.push(child);
    }
  }

  get pids(): readonly number[] {
    return [...this.#children].filter((child) => !child.isOver()).flatMap(({ pid }) => pid ?? []);
  }

  close(): void {
    this.#closed = true;
    for (const child of this.#children) child.kill();
    for (const go of this.#waiting.splice(0)) go();
  }

  /** A call that was aborted keeps its child until that is done. */
  async #judged(text: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    if (this.#busy >= this.#options.children) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#busy++;
    try {
      for (let [deaths, kills] = [0, 0]; !signal?.aborted;) {
        // To a job of which a child died only a new child is a witness.
        const child = await (deaths === 0 ? this.#next() : this.#started());
        const said = await child.ask(text, this.#options.limitMs);
        if ('reply' in said) {
          this.#idle.push(Promise.resolve(child));
          return said.reply;
        }
        this.#children.delete(child);
        if (this.#closed) throw closedError();
        if (said.end === 'limit') throw stalledError(this.#options.limitMs);
        if (said.end === 'own' && ++deaths >= DEATHS) return undefined;
        if (said.end === 'outside' && ++kills >= KILLS) throw killedError();
      }
      return undefined;
    } finally {
      // Its place passes to the next job that waits.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy--;
    }
  }

  async #next(): Promise<Child> {
    const child = await this.#idle.pop();
    if (child && !child.isOver()) return child;
    if (child) this.#children.delete(child);
    return child ? this.#next() : this.#started();
  }

  async #started(): Promise<Child> {
    for (let [failed, killed] = [0, 0]; ;) {
      if (this.#closed) throw closedError();
      const child = startChild(this.#options.entry, this.#options.args);
      this.#children.add(child);
      const said = await child.ask(undefined, START_MS);
      if ('reply' in said) return child;
      this.#children.delete(child);
      if (said.end === 'outside') killed++;
      else failed++;
      if (failed >= FAILED_STARTS || killed >= KILLED_STARTS) throw startError();
    }
  }
}

const closedError = (): JudgeError => new JudgeError('The judge is closed', { reason: 'judge-closed' });

const hindered = (reason: 'judge-killed' | 'judge-process' | 'judge-stalled', what: string, fix: string): JudgeError =>
  new JudgeError(`The judge’s child process ${what}`, { reason, fix, retryable: true });

const startError = (): JudgeError =>
  hindered('judge-process', 'does not start', 'Look whether the machine is out of memory or processes.');

const stalledError = (limitMs: number): JudgeError =>
  hindered(
    'judge-stalled',
    `gave no answer within ${limitMs / 1000} s and used too little processor time`,
    'Look whether the machine is overloaded, or processes are stopped.',
  );

const killedError = (): JudgeError =>
  hindered(
    'judge-killed',
    `was killed from outside ${KILLS} times over one answer`,
    'Look who ends processes on this machine: is it out of memory?',
  );
