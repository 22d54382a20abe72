// The ids seen so far in a data set of any size: a plain Set holds at most 16.7 million.

export interface IdSet {
  /** False when the id was there. */
  add(id: string): boolean;
}

const FULL = 8_000_000;

export function openIdSet(): IdSet {
  const sets = [new Set<string>()];
  return {
    add(id) {
      if (sets.some((set) => set.has(id))) return false;
      if (sets.at(-1)!.size >= FULL) sets.push(new Set());
      sets.at(-1)!.add(id);
      return true;
    },
  };
}
