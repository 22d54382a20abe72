// All chance of a simulated run comes from one seed: the same seed, the same run.

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number, both bounds included. */
  int(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32 over a well-mixed start: neighbouring seeds have nothing in common. */
export function seeded(seed: number): Random {
  let state = mix(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return { next, chance: (p) => next() < p, int, pick: (items) => items[int(0, items.length - 1)]! };
}

/** A generator for one named thing of a run: what it draws does not depend on what else happened before. */
export function named(seed: number, name: string): Random {
  let hash = mix(seed);
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return seeded(hash);
}

function mix(seed: number): number {
  let h = seed | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
