// The connections of one environment on one worker: one for each rollout, one call at a time in each. A connection that is
// over holds no rollout.

import type { JsonSocket } from './json-socket.ts';
import type { ActionForm } from './openenv-action.ts';
import type { Holders, Live } from './process-pool.ts';

export interface Connection extends Live {
  socket?: JsonSocket;
  form?: ActionForm;
}

export function openConnections(): Holders<Connection> {
  const byKey = new Map<string, Connection>();
  /** The last call of each rollout: the next one waits for it. */
  const last = new Map<string, Promise<unknown>>();

  /** `work` alone, after every earlier call of this rollout. */
  async function inTurn<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const settled = mine.catch(() => undefined);
    last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  }

  async function used<T>(key: string, seat: Connection, work: (seat: Connection) => Promise<T>): Promise<T> {
    try {
      return await work(seat);
    } finally {
      if (seat.live.has(key) && seat.socket?.isOver === false) byKey.set(key, seat);
      else {
        byKey.delete(key);
        seat.socket?.close({ type: 'close' });
      }
    }
  }

  return {
    use: (key, signal, work) => inTurn(key, signal, () => used(key, { live: new Map() }, work)),
    useHolder: (key, signal, work) =>
      inTurn(key, signal, async () => {
        const seat = byKey.get(key);
        if (!seat || seat.socket?.isOver !== false) {
          byKey.delete(key);
          return null;
        }
        return used(key, seat, work);
      }),
    isBusy: () => last.size > 0,
    holds: () => [...byKey.values()].some(({ socket }) => socket?.isOver === false),
    close() {
      for (const { socket } of byKey.values()) socket?.close({ type: 'close' });
      byKey.clear();
    },
  };
}
