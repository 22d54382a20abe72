// A wait that a signal or its time ends at once, whether or not what is waited for heeds it.

/** Rejects with the signal's reason when it aborts. What was waited for goes on then, and nobody hears of its end. */
export async function orAborted<T>(signal: AbortSignal | undefined, waited: Promise<T>): Promise<T> {
  if (!signal) return waited;
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([left, waited]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/**
 * Rejects with `late` when the time is over, or when the signal aborts: a function in this process cannot be ended from outside.
 */
export async function withinSeconds<T>(
  seconds: number,
  signal: AbortSignal,
  late: Error,
  call: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const limited = AbortSignal.any([signal, limit.signal]);
  const timer = setTimeout(() => limit.abort(late), seconds * 1000);
  try {
    return await orAborted(limited, call(limited));
  } finally {
    clearTimeout(timer);
  }
}
