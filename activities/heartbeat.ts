// Heartbeats: when they stop, Temporal declares the worker dead; cancellation arrives in their replies. A local
// activity sends none.

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

const HEARTBEAT_MS = { min: 1000, max: 5000 };
/** The server stores each heartbeat: a thousand activities that send one every few seconds would saturate it. */
const MS_PER_ACTIVITY = 5;
/** Activities of this process that send heartbeats. */
let beating = 0;

/** Sends one heartbeat, unless in a local activity: the worker would warn that it is ignored. */
export function beat(progress: unknown, context: Context = Context.current()): void {
  if (!context.info.isLocal) context.heartbeat(progress);
}

/** Sends heartbeats while `work` runs, with the progress that it last reported. */
export async function withHeartbeats<T, P = undefined>(
  work: (signal: AbortSignal, progress: (progress: P) => void) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const signal = context.cancellationSignal;
  let last: P | undefined;
  let timer: NodeJS.Timeout;
  const beatLater = () => {
    const pause = Math.min(Math.max(beating * MS_PER_ACTIVITY, HEARTBEAT_MS.min), HEARTBEAT_MS.max);
    timer = setTimeout(() => {
      beat(last, context);
      beatLater();
    }, pause);
  };
  beating++;
  beatLater();
  try {
    return await work(signal, (progress) => {
      last = progress;
    });
  } catch (error) {
    throw signal.aborted ? cancellation(signal.reason) : error;
  } finally {
    beating--;
    clearTimeout(timer!);
  }
}

/** A worker that shuts down returns its work for a retry; any other cancellation was requested. */
function cancellation(reason: unknown): unknown {
  if (!(reason instanceof Error) || reason.message !== 'WORKER_SHUTDOWN') return reason;
  return ApplicationFailure.retryable('The worker was shut down; another one takes this over.', 'worker-shutdown');
}

/** Rejects with the signal's reason when it aborts. An agent's call has no activity's context to sleep in. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  });
}
