// Whether one process has answered at an address all the time: it has, if a connection that was open then is still
// open. A dead process closes its connections, and another can listen only after that.

import { setImmediate as breath } from 'node:timers/promises';
import type { Pool } from 'undici';

export interface Connections {
  /** Connections that were ever closed, by either side. */
  lost(): number;
  /** Returns a function: whether a connection that is open now has been open ever since. */
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
