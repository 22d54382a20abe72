// Tells an agent's call that its turn is stored, within one process: its reply then waits for no further workflow task. Of a turn
// that another worker played, the end of its Update tells.

import type { TrajectoryReference } from '../domain/run/ids.ts';

export interface StoredTurns {
  tell(id: TrajectoryReference, turn: number): void;
  /** Resolves when the turn is told of, or as `asked` does, whichever comes first. */
  toldOr(asked: Promise<void>, id: TrajectoryReference, turn: number): Promise<void>;
}

export function openStoredTurns(): StoredTurns {
  const waiting = new Map<string, Set<() => void>>();
  const name = ({ out, run, query, sample }: TrajectoryReference, turn: number) =>
    JSON.stringify([out, run, query, sample, turn]);
  return {
    tell(id, turn) {
      for (const hear of waiting.get(name(id, turn)) ?? []) hear();
    },
    async toldOr(asked, id, turn) {
      const of = name(id, turn);
      const all = waiting.get(of) ?? new Set();
      waiting.set(of, all);
      let hear = (): void => undefined;
      const heard = new Promise<void>((resolve) => (hear = resolve));
      all.add(hear);
      try {
        await Promise.race([asked, heard]);
      } finally {
        all.delete(hear);
        if (all.size === 0) waiting.delete(of);
      }
    },
  };
}
