// Signs of life: Temporal notices a dead worker by their absence, and cancellation reaches a living one
// by their answers. In a local activity they do nothing.

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

const HEARTBEAT_MS = 1000;

/** Beats while `work` runs, with whatever it last said of its progress. */
export async function heartbeating<T, P = undefined>(
  work: (signal: AbortSignal, progress: (progress: P) => void) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const signal = context.cancellationSignal;
  let last: P | undefined;
  const timer = setInterval(() => context.heartbeat(last), HEARTBEAT_MS);
  try {
    return await work(signal, (progress) => {
      last = progress;
    });
  } catch (error) {
    throw signal.aborted ? cancellation(signal.reason) : error;
  } finally {
    clearInterval(timer);
  }
}

/** A worker that shuts down gives its work back; any other cancellation was asked for. */
function cancellation(reason: unknown): unknown {
  if (!(reason instanceof Error) || reason.message !== 'WORKER_SHUTDOWN') return reason;
  return ApplicationFailure.retryable('The worker was shut down; another one takes this over.', 'worker-shutdown');
}
