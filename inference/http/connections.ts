// Does one process still answer at an address? While any connection that was open then is open now, it does: a
// process that dies takes its connections along, and another can listen only when it is gone.

import { setImmediate as breath } from 'node:timers/promises';
import type { Pool } from 'undici';

export interface Connections {
  /** Connections that were ever closed, by whoever. */
  lost(): number;
  /** Tells, whenever it is asked, whether one that is open now has been open all the time since. */
  vouch(): () => boolean;
  /** Closings that have arrived are known after this. */
  settle(): Promise<void>;
}

export function watchConnections(pool: Pool): Connections {
  const open = new Map<object, symbol>();
  let lost = 0;
  pool.on('connect', (_origin, targets) => {
    open.set(targets.at(-1)!, Symbol());
  });
  pool.on('disconnect', (_origin, targets) => {
    lost++;
    open.delete(targets.at(-1)!);
  });
  return {
    lost: () => lost,
    vouch() {
      // A client that connects again gets another symbol.
      const then = [...open];
      return () => then.some(([client, symbol]) => open.get(client) === symbol);
    },
    settle: () => breath(),
  };
}
