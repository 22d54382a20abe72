// The processes of one program on one worker: at most so many, started when needed, one call each at a time. A call
// goes to the idle process that knows its rollout, else to any: a process that hangs holds up its own call alone, until
// its time limit.

import type { EnvironmentReply } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { ProcessLaunch } from './launch.ts';
import { LineProcess } from './line-process.ts';

/** Loading libraries may take long on a busy machine. */
export const START_MS = 120_000;

export interface Seat {
  readonly process: LineProcess;
  /** The rollouts that it holds: the last turn that it played of each, and its reply. */
  readonly live: Map<string, { readonly turn: number; readonly reply?: EnvironmentReply }>;
}

export interface PoolOptions {
  /** Processes at once. */
  readonly most: number;
  readonly launch: ProcessLaunch;
  /** Its first line. Throws if the process is not the run's. */
  readonly accept: (hello: unknown) => void;
}

export interface ProcessPool {
  /** `work` has the process for itself. */
  use<T>(key: string, signal: AbortSignal | undefined, work: (seat: Seat) => Promise<T>): Promise<T>;
  /** The same in the process that holds this rollout, and in no other; null if there is none. */
  useHolder<T>(key: string, signal: AbortSignal | undefined, work: (seat: Seat) => Promise<T>): Promise<T | null>;
  /** A call is in flight. */
  isBusy(): boolean;
  /** It holds a rollout. */
  holds(): boolean;
  close(): void;
}

/** Lets every process that holds this rollout go of it: `work` ends it there. False if none holds it. */
export async function letGo(
  pool: ProcessPool,
  key: string,
  signal: AbortSignal | undefined,
  work: (seat: Seat) => Promise<void>,
): Promise<boolean> {
  const one = () =>
    pool.useHolder(key, signal, async (seat) => {
      // Another call may have let it go while this one waited for the process.
      if (seat.live.has(key)) await work(seat);
      seat.live.delete(key);
      return true;
    });
  let found = false;
  while (await one()) found = true;
  return found;
}

export function openProcessPool({ most, launch, accept }: PoolOptions): ProcessPool {
  const idle: Seat[] = [];
  const waiting: ((isOpen: boolean) => void)[] = [];
  /** Calls that wait for one process, by process: it passes to the first of them, or to none if it has ended. */
  const seats = new Map<Seat, ((isThere: boolean) => void)[]>();
  const all = new Set<LineProcess>();
  let busy = 0;
  let closed = false;

  async function start(signal: AbortSignal | undefined): Promise<Seat> {
    const seat = { process: new LineProcess(launch), live: new Map() };
    all.add(seat.process);
    try {
      accept(await seat.process.hello({ timeoutMs: START_MS, ...(signal && { signal }) }));
      seats.set(seat, []);
      return seat;
    } catch (error) {
      all.delete(seat.process);
      seat.process.kill();
      throw error;
    }
  }

  function taken(key: string): Seat | undefined {
    for (let i = idle.length - 1; i >= 0; i--) if (idle[i]!.process.isOver) drop(idle.splice(i, 1)[0]!);
    const seat = seatFor(idle, key);
    return seat && idle.splice(idle.indexOf(seat), 1)[0];
  }

  function drop(seat: Seat): void {
    seat.process.kill();
    all.delete(seat.process);
    for (const go of seats.get(seat) ?? []) go(false);
    seats.delete(seat);
  }

  return {
    async use(key, signal, work) {
      while (busy >= most && !closed) await queued(waiting, signal);
      if (closed) throw closing(launch.who);
      busy++;
      let seat: Seat | undefined;
      try {
        seat = taken(key) ?? (await start(signal));
        return await work(seat);
      } finally {
        leave(seat);
      }
    },
    async useHolder(key, signal, work) {
      const seat = [...seats.keys()].find((one) => one.live.has(key) && !one.process.isOver);
      if (!seat || closed) return null;
      if (idle.includes(seat)) {
        idle.splice(idle.indexOf(seat), 1);
        busy++;
      } else if (!(await queued(seats.get(seat)!, signal))) return null;
      try {
        return await work(seat);
      } finally {
        leave(seat);
      }
    },
    isBusy: () => busy > 0,
    holds: () => [...seats.keys()].some(({ live, process }) => live.size > 0 && !process.isOver),
    close() {
      closed = true;
      for (const process of all) process.kill();
      all.clear();
      for (const go of waiting.splice(0)) go(false);
    },
  };

  function leave(seat: Seat | undefined): void {
    const isOver = seat !== undefined && (seat.process.isOver || closed);
    const next = seat && !isOver ? seats.get(seat)?.shift() : undefined;
    // It is busy on.
    if (next) return next(true);
    busy--;
    if (isOver) drop(seat);
    else if (seat) idle.push(seat);
    waiting.shift()?.(true);
  }
}

/** The process that has the rollout, else the one with fewest: calls of rollouts that share a process wait for each other. */
function seatFor(idle: readonly Seat[], key: string): Seat | undefined {
  const holder = idle.find(({ live }) => live.has(key));
  return holder ?? idle.toSorted((one, other) => one.live.size - other.live.size)[0];
}

/** Waits in this queue until its turn comes; an abort leaves it. */
function queued<T>(queue: ((value: T) => void)[], signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const go = (value: T) => {
      signal?.removeEventListener('abort', quit);
      resolve(value);
    };
    const quit = () => {
      queue.splice(queue.indexOf(go), 1);
      reject(signal!.reason);
    };
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', quit, { once: true });
    queue.push(go);
  });
}

function closing(who: string): EnvironmentError {
  return new EnvironmentError(`The environment ${who} is closed.`, { reason: 'environment-closed', retryable: true });
}
