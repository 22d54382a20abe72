// Seeded random numbers (SplitMix32), and a seeded order: Fisher–Yates over them. Same items, same seed, same order.

export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const order = [...items];
  const next = randomWords(seed);
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor((next() / 0x1_0000_0000) * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** An endless stream of uniform whole numbers in [0, 2^32). */
export function randomWords(seed: number): () => number {
  let state = (seed ^ Math.floor(seed / 0x1_0000_0000)) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
}
