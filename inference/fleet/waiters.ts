// Requests that wait for a place: woken one by one as places become free, all together when a server joins or leaves.

export class Waiters {
  readonly #wakes = new Set<() => void>();

  wakeOne(): void {
    for (const wake of this.#wakes) return wake();
  }

  wakeAll(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  /** Resolves when woken, aborted, or after `ms`. Never rejects: the caller checks again. */
  wait(signal: AbortSignal, ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake);
        signal.removeEventListener('abort', wake);
        clearTimeout(timer);
        resolve();
      };
      const timer = ms === null ? undefined : setTimeout(wake, ms);
      signal.addEventListener('abort', wake, { once: true });
      this.#wakes.add(wake);
    });
  }
}
