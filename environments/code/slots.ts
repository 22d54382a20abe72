// A fixed number of places; callers without one wait in a queue. The signal ends the wait.

export function createSlots(count: number) {
  let used = 0;
  const line: (() => void)[] = [];
  const idlers: (() => void)[] = [];
  const leave = () => {
    const next = line.shift();
    if (next) return next();
    used--;
    if (used === 0) idlers.splice(0).forEach((resolve) => resolve());
  };
  const enter = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      if (used < count) {
        used++;
        return resolve();
      }
      const take = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        line.splice(line.indexOf(take), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      line.push(take);
    });
  return {
    async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
    /** Resolves when no place is taken. */
    idle: () => (used === 0 ? Promise.resolve() : new Promise<void>((resolve) => void idlers.push(resolve))),
  };
}
