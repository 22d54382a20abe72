// Requests that wait for a place: woken one by one as places are given back, all when a server comes or goes.

export class Waiters {
  readonly #wakes = new Set<() => void>();

  wakeOne(): void {
    for (const wake of this.#wakes) return wake();
  }

  wakeAll(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  /** Until woken, aborted, or `ms` are over. Never rejects: the caller looks again. */
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
