// Notices within one process that a turn is stored. An agent's call that waits for its turn replies at once, without a further
// workflow task. A turn that another worker played gives no notice here: the end of the call's Update stands for it.

import type { TrajectoryReference } from '../domain/names/ids.ts';

export interface TurnNotices {
  tell(id: TrajectoryReference, turn: number): void;
  /** Resolves when the turn is told of, or as `asked` does, whichever comes first. */
  toldOr(asked: Promise<void>, id: TrajectoryReference, turn: number): Promise<void>;
}

export function openTurnNotices(): TurnNotices {
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
