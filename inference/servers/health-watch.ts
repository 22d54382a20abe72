// Detects a server that hangs during an answer: a complete answer may take minutes, and so would the wait for a hanging
// server. Sends one health request from time to time, whatever the number of waiting requests.

import { ModelError } from '../../domain/errors/errors.ts';
import type { Http } from '../http/http.ts';
import { shownAddress } from '../http/http-errors.ts';

interface HealthWatch {
  /** Runs `work` with a signal that aborts with the caller's signal, or once the server stops answering. */
  during<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface HealthWatchOptions {
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  /** Consecutive health requests without an answer. A fully loaded server may miss one. */
  readonly misses?: number;
}

const PATH = '/health';

export function watchHealth(http: Http, options: HealthWatchOptions = {}): HealthWatch {
  const { everyMs = 15_000, timeoutMs = 30_000, misses = 3 } = options;
  const waiting = new Set<AbortController>();
  let timer: NodeJS.Timeout | undefined;
  let missed = 0;

  async function look(): Promise<void> {
    timer = undefined;
    try {
      await http.get(PATH, { timeouts: { firstByteMs: timeoutMs, totalMs: timeoutMs } });
      missed = 0;
    } catch (error) {
      // Any reply proves that it is alive; only a server error or silence counts as a miss.
      const alive = error instanceof ModelError && !error.retryable;
      missed = alive ? 0 : missed + 1;
      if (missed >= misses) return giveUp(error);
    }
    if (waiting.size > 0) timer ??= later();
  }

  function giveUp(cause: unknown): void {
    missed = 0;
    const message = `${shownAddress({ url: http.url, path: PATH })} does not answer, ${misses} times in a row, while requests wait`;
    for (const controller of waiting) {
      controller.abort(new ModelError(message, { reason: 'server-timeout', retryable: true, cause }));
    }
  }

  function later(): NodeJS.Timeout {
    const next = setTimeout(() => void look(), everyMs);
    next.unref();
    return next;
  }

  return {
    async during(signal, work) {
      const controller = new AbortController();
      const passOn = () => controller.abort(signal.reason);
      if (signal.aborted) passOn();
      signal.addEventListener('abort', passOn, { once: true });
      waiting.add(controller);
      timer ??= later();
      try {
        return await work(controller.signal);
      } finally {
        waiting.delete(controller);
        signal.removeEventListener('abort', passOn);
        if (waiting.size === 0) {
          clearTimeout(timer);
          timer = undefined;
          missed = 0;
        }
      }
    },
  };
}
