// A wait that a signal ends at once, whether or not what is waited for heeds it.

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
