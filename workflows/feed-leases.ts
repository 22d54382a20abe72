// When a lease of a feed ends: by a timer of its own, so that a replay ends it where the first execution did, whatever the
// clock says there (workflows/history-steps.ts). `until` is what clients are shown.

import { CancellationScope, sleep } from '@temporalio/workflow';
import type { FeedState, Lease } from '../domain/feed/state.ts';

export interface LeaseTimers {
  /** A timer for each lease that has none; none for one that is gone, or was renewed: then it is another object. */
  follow(state: FeedState): void;
}

export function openLeaseTimers(isOver: (lease: Lease) => void): LeaseTimers {
  const timers = new Map<Lease, CancellationScope>();
  const start = (lease: Lease) => {
    const scope = new CancellationScope();
    timers.set(lease, scope);
    scope
      .run(() => sleep(Math.max(1, lease.until - Date.now())))
      .then(() => {
        if (timers.delete(lease)) isOver(lease);
      })
      .catch(() => {});
  };
  return {
    follow({ leases }) {
      for (const [lease, scope] of timers) {
        if (leases.includes(lease)) continue;
        timers.delete(lease);
        scope.cancel();
      }
      for (const lease of leases) if (!timers.has(lease)) start(lease);
    },
  };
}

/** Cancelled, when nobody waits any more. */
export interface Deadline {
  readonly isOver: () => boolean;
  cancel(): void;
}

export function openDeadline(ms: number): Deadline {
  let over = ms <= 0;
  if (over) return { isOver: () => over, cancel: () => {} };
  const scope = new CancellationScope();
  scope
    .run(() => sleep(ms))
    .then(() => (over = true))
    .catch(() => {});
  return { isOver: () => over, cancel: () => scope.cancel() };
}
