// The things that runs of a worker hold in common: the backend of a model, the processes of an environment or of a tool's
// server. Each is opened at its first use, and closed when its runs have ended and nobody has used it for a moment. The next
// use opens it again.

const LOOK_EVERY_MS = 2500;
const REST_MS = 5000;
/** The same while a run goes on: one that is paused, or whose end is recorded nowhere. */
const IDLE_MS = 600_000;

export type HasEnded = (runFolder: string) => Promise<boolean>;

interface SharedResourceOptions<T> {
  readonly hasEnded: HasEnded;
  /** A call is in flight, or it holds what a later call needs. */
  readonly isUsed: (it: T) => boolean;
  readonly close: (it: T) => Promise<void> | void;
}

interface One<T> {
  readonly it: T;
  readonly runs: Set<string>;
  /** The time of its latest use, by performance.now(). */
  at: number;
}

export function openSharedResources<T>({ hasEnded, isUsed, close }: SharedResourceOptions<T>) {
  const all = new Map<string, One<T>>();
  let looks = false;
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();

  async function look(): Promise<void> {
    if (looks) return;
    looks = true;
    for (const [key, one] of all) {
      if (restMs(one) < REST_MS) continue;
      for (const run of one.runs) if (await hasEnded(run)) one.runs.delete(run);
      // It may have been asked for, or forgotten, in the meantime.
      if (restMs(one) < (one.runs.size === 0 ? REST_MS : IDLE_MS) || all.get(key) !== one) continue;
      all.delete(key);
      await settled([one]);
    }
    looks = false;
  }

  /** A process that cannot be ended in order is no reason to end the worker. */
  const settled = (some: One<T>[]) => Promise.allSettled(some.map(async ({ it }) => close(it)));

  function restMs(one: One<T>): number {
    if (isUsed(one.it)) one.at = performance.now();
    return performance.now() - one.at;
  }

  return {
    /** The one of this key, for this run. */
    of(key: string, runFolder: string, open: () => T): T {
      const known = all.get(key);
      const one = known ?? { it: open(), runs: new Set(), at: 0 };
      if (!known) all.set(key, one);
      one.runs.add(runFolder);
      one.at = performance.now();
      return one.it;
    },
    /** Forgets it without closing it. */
    forget(it: T): void {
      for (const [key, one] of all) if (one.it === it) all.delete(key);
    },
    /** Runs that hold anything. */
    runs: () => new Set([...all.values()].flatMap(({ runs }) => [...runs])),
    async close(): Promise<void> {
      clearInterval(timer);
      const last = [...all.values()];
      all.clear();
      await settled(last);
    },
  };
}
