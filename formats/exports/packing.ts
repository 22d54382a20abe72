// Samples into bins of bounded length, and bins over ranks: first fit decreasing, then the longest to the lightest rank.
// Every rank has the same number of bins. Deterministic.

/** No item may be longer than `room`. */
export function firstFit<T>(items: readonly T[], length: (item: T) => number, room: number): T[][] {
  const bins: { readonly items: T[]; length: number }[] = [];
  // Array.prototype.sort is stable: equal lengths keep their order.
  for (const item of [...items].sort((a, b) => length(b) - length(a))) {
    const size = length(item);
    const bin = bins.find((one) => one.length + size <= room);
    if (bin) {
      bin.items.push(item);
      bin.length += size;
    } else bins.push({ items: [item], length: size });
  }
  return bins.map((bin) => bin.items);
}

/** `filler` makes, of a real one, what fills up the last places. */
export function distributed<T>(
  items: readonly T[],
  length: (item: T) => number,
  ranks: number,
  filler: (item: T) => T,
): T[][] {
  const each = Math.ceil(items.length / ranks);
  const missing = each * ranks - items.length;
  const shortest = items.reduce((least, item) => (length(item) < length(least) ? item : least), items[0]!);
  const all = [...items, ...Array.from({ length: missing }, () => filler(shortest))];
  const byRank = Array.from({ length: ranks }, (): { readonly items: T[]; length: number } => ({
    items: [],
    length: 0,
  }));
  for (const item of all.sort((a, b) => length(b) - length(a))) {
    const open = byRank.filter((rank) => rank.items.length < each);
    const lightest = open.reduce((least, rank) => (rank.length < least.length ? rank : least), open[0]!);
    lightest.items.push(item);
    lightest.length += length(item);
  }
  return byRank.map((rank) => rank.items);
}
