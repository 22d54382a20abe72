// Signs of life: Temporal notices a dead worker by their absence, and cancellation reaches a living one
// by their answers. In a local activity they do nothing.

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

const HEARTBEAT_MS = { min: 1000, max: 5000 };
/** The server writes each beat down: a thousand activities that beat every few seconds leave it time for nothing else. */
const MS_PER_ACTIVITY = 5;
/** Activities of this process that are beating. */
let beating = 0;

/** One sign of life. In a local activity none is sent: the worker would warn that nobody takes it. */
export function beat(progress: unknown, context: Context = Context.current()): void {
  if (!context.info.isLocal) context.heartbeat(progress);
}

/** Beats while `work` runs, with whatever it last said of its progress. */
export async function heartbeating<T, P = undefined>(
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

/** A worker that shuts down gives its work back; any other cancellation was asked for. */
function cancellation(reason: unknown): unknown {
  if (!(reason instanceof Error) || reason.message !== 'WORKER_SHUTDOWN') return reason;
  return ApplicationFailure.retryable('The worker was shut down; another one takes this over.', 'worker-shutdown');
}
