// The ids seen so far in a data set of any size: a plain Set holds at most 16.7 million.

export interface IdSet {
  /** False if the id was in the set. */
  add(id: string): boolean;
  has(id: string): boolean;
}

const FULL = 8_000_000;

export function openIdSet(): IdSet {
  let current = new Set<string>();
  const full: Set<string>[] = [];
  return {
    has: (id) => current.has(id) || full.some((set) => set.has(id)),
    add(id) {
      if (full.some((set) => set.has(id))) return false;
      const before = current.size;
      if (current.add(id).size === before) return false;
      if (current.size >= FULL) {
        full.push(current);
        current = new Set();
      }
      return true;
    },
  };
}
