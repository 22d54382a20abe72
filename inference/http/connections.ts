// Proves that the same process has answered at an address all the time: a connection that was open then is still open.
// A dead process closes its connections, and another can listen only after that.

import { setImmediate as breath } from 'node:timers/promises';
import type { Pool } from 'undici';

export interface Connections {
  /** Number of connections closed so far, by either side. */
  lost(): number;
  /** Returns a function that is true while a connection that is open now has stayed open. */
  vouch(): () => boolean;
  /** Resolves once closings that have arrived are counted. */
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
      // A client that reconnects gets another symbol.
      const then = [...open];
      return () => then.some(([client, symbol]) => open.get(client) === symbol);
    },
    settle: () => breath(),
  };
}
