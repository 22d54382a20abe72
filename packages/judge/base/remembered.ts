// A pure function of a text that remembers its last results: the same solution is judged many times, and one text
// is looked at in several ways. Short texts only, so the memory is small; it never changes a result.

const MAX_CHARS = 400;
const FEW = 256;
/** For texts of solutions: a run's batch asks for the same ones all the time. */
export const MANY = 2_048;

export function remembered<T>(compute: (text: string) => T, most = FEW): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (text.length > MAX_CHARS) return compute(text);
    if (known.has(text)) return known.get(text) as T;
    const result = compute(text);
    if (known.size >= most) known.clear();
    known.set(text, result);
    return result;
  };
}
