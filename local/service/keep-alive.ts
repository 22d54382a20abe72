// Restarts a child whenever it ends, until stopped. A child that worked for a while, or that somebody killed, is
// restarted at once; one that exits before it is ready, or soon after, is restarted with growing delays.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain } from '../../domain/errors/errors.ts';
import type { ProcessId } from '../machine/process.ts';

export interface KeptChild {
  readonly id: ProcessId;
  /** Resolves when it takes work. Never rejects; may stay open. */
  readonly ready: Promise<void>;
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

interface KeepAliveOptions {
  readonly start: () => Promise<KeptChild>;
  readonly onStarted: (child: KeptChild) => void;
  readonly onReady: (child: KeptChild) => void;
  /** `failures`: consecutive failed starts; 0 if a working child ended. */
  readonly onEnded: (why: string, failures: number) => void;
  readonly signal: AbortSignal;
  readonly firstDelayMs?: number;
  readonly longestDelayMs?: number;
}

/** The description of an end by signal: somebody killed it, which is no reason to delay the restart. */
const KILLED = 'killed by';

/** A child that worked at least this long did not fail at its start. */
const SETTLED_MS = 1_000;

/** Resolves after `signal`, with the child that still runs; the caller stops it in its own order. */
export async function keepAlive(options: KeepAliveOptions): Promise<KeptChild | undefined> {
  const { signal, firstDelayMs = 200, longestDelayMs = 30_000 } = options;
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  for (let failures = 0; !signal.aborted;) {
    let why: string;
    let readyAtMs = Infinity;
    try {
      const child = await options.start();
      options.onStarted(child);
      void child.ready.then(() => {
        readyAtMs = Date.now();
        if (!signal.aborted) options.onReady(child);
      });
      const ended = await Promise.race([child.exited, aborted]);
      if (ended === undefined) return child;
      why = ended;
    } catch (error) {
      why = explain(error);
    }
    if (Date.now() - readyAtMs >= SETTLED_MS) failures = 0;
    else if (!why.startsWith(KILLED)) failures++;
    options.onEnded(why, failures);
    const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, failures - 1));
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
