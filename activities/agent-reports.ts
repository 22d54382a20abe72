// Tells the workflow of a rollout of its agent's calls: many together, at most once a second, and the more seldom the longer
// the agent runs, so that its history grows with the logarithm of its time, whatever its calls are.

import type { CallCounts } from '../domain/rollout/rollout-facts.ts';

export interface CallReports {
  /** A call waits for its answer; the returned function is called when that is over. */
  begin(): (counts: Omit<CallCounts, 'waiting'>) => void;
  /** Nothing is told any more: the workflow reads the calls of an agent that has ended. */
  close(): void;
}

const LEAST_MS = 1000;
/** The time between two reports is at least this part of the time since the first. */
const PART = 1 / 50;

/** `tell` may fail: the next report stands for one that was lost. */
export function openReports(
  tell: (counts: CallCounts) => Promise<void>,
  now: () => number = () => performance.now(),
): CallReports {
  const began = now();
  let counts: Omit<CallCounts, 'waiting'> = { calls: 0, branches: 0 };
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let told = '';
  const report = () => {
    timer = undefined;
    const all = { ...counts, waiting };
    const text = JSON.stringify(all);
    if (text !== told) void tell(all).catch(() => undefined);
    told = text;
  };
  const later = () => {
    timer ??= setTimeout(report, Math.max(LEAST_MS, (now() - began) * PART));
  };
  return {
    begin() {
      waiting++;
      later();
      return (more) => {
        waiting--;
        counts = more;
        later();
      };
    },
    close: () => clearTimeout(timer),
  };
}
