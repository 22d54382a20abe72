// A model of the run's folder: what was written first stays, by name. It also counts, from outside of the
// workflows, how often each turn was asked of the model and what became of every such request.

import type { RolloutResult } from '../../domain/rollout/ending.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';

export interface StoredTurn {
  readonly outputTokens: number;
  readonly version: number;
  verdict: { readonly verdict: VerdictValue; readonly reason: string } | null;
  logged: boolean;
}

export interface StoredRollout {
  readonly query: string;
  readonly sample: number;
  /** Index t − 1: turn t. */
  readonly turns: StoredTurn[];
  /** Index t − 1: generations that were begun, and those that left no record. */
  readonly asked: number[];
  readonly lost: number[];
  end: RolloutResult | null;
}

export interface ModelStore {
  readonly rollouts: ReadonlyMap<string, StoredRollout>;
  rollout(query: string, sample: number): StoredRollout | undefined;
  open(query: string, sample: number): StoredRollout;
  result: object | null;
}

export function openStore(): ModelStore {
  const rollouts = new Map<string, StoredRollout>();
  return {
    rollouts,
    rollout: (query, sample) => rollouts.get(`${query}/${sample}`),
    open(query, sample) {
      const name = `${query}/${sample}`;
      const there = rollouts.get(name);
      if (there) return there;
      const fresh: StoredRollout = { query, sample, turns: [], asked: [], lost: [], end: null };
      rollouts.set(name, fresh);
      return fresh;
    },
    result: null,
  };
}
