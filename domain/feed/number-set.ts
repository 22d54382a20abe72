// A set of whole numbers as sorted, disjoint ranges: plain JSON, small where the numbers are dense. Never changed in
// place: each function returns a new set.

/** First and last number of each range. */
export type NumberSet = readonly (readonly [first: number, last: number])[];

export function numberSet(numbers: Iterable<number>): NumberSet {
  const ranges: [number, number][] = [];
  for (const n of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && n <= last[1] + 1) last[1] = Math.max(last[1], n);
    else ranges.push([n, n]);
  }
  return ranges;
}

export function union(a: NumberSet, b: NumberSet): NumberSet {
  const ranges: [number, number][] = [];
  for (const [first, last] of [...a, ...b].sort((x, y) => x[0] - y[0])) {
    const before = ranges.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else ranges.push([first, last]);
  }
  return ranges;
}

export function without(a: NumberSet, b: NumberSet): NumberSet {
  const rest: [number, number][] = [];
  let at = 0;
  for (const [first, last] of a) {
    let from = first;
    while (at < b.length && b[at]![1] < from) at++;
    for (let i = at; i < b.length && b[i]![0] <= last; i++) {
      if (b[i]![0] > from) rest.push([from, b[i]![0] - 1]);
      from = Math.max(from, b[i]![1] + 1);
    }
    if (from <= last) rest.push([from, last]);
  }
  return rest;
}

export function countNumbers(set: NumberSet): number {
  return set.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

export function* eachNumber(set: NumberSet): Generator<number> {
  for (const [first, last] of set) for (let n = first; n <= last; n++) yield n;
}

/** True for a value from outside that is such a set, of numbers below `end`. */
export function isNumberSet(value: unknown, end: number = Number.MAX_SAFE_INTEGER): value is NumberSet {
  if (!Array.isArray(value)) return false;
  let next = 0;
  return value.every((range: unknown) => {
    if (!Array.isArray(range) || range.length !== 2) return false;
    const [first, last] = range as [unknown, unknown];
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) return false;
    if ((first as number) < next || (last as number) < (first as number) || (last as number) >= end) return false;
    next = (last as number) + 2;
    return true;
  });
}
