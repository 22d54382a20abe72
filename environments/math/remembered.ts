// A pure function of a text that remembers its last results: the same solution is judged many times, and one text
// is looked at in several ways. Short texts only, so the memory is small; it never changes a result.

const MAX_CHARS = 400;
const FEW = 256;
/** Of solutions: a run's batch asks for the same ones all the time. */
export const MANY = 2_048;

export function remembered<T>(compute: (text: string) => T, most = FEW): (text: string) => T {
  // Two generations: what is asked for again moves to the younger one, the older is dropped as a whole.
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return (text) => {
    if (text.length > MAX_CHARS) return compute(text);
    let result = young.get(text);
    if (result !== undefined || young.has(text)) return result as T;
    result = old.has(text) ? (old.get(text) as T) : compute(text);
    if (young.size >= most) {
      old = young;
      young = new Map();
    }
    young.set(text, result);
    return result;
  };
}
