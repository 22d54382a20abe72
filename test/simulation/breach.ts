// A promise that was broken ends a run; it says what was seen and what should have been.

export class Breach extends Error {}

export function must(holds: boolean, promise: () => string): asserts holds {
  if (!holds) throw new Breach(promise());
}

export function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, v]) => [key, sorted(v)]),
  );
}
