// Values that JSON holds, and one text for equal ones.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

/** JSON with the keys of every object in order. */
export const canonicalJson = (value: unknown): string => JSON.stringify(withSortedKeys(value));

/** A copy of JSON with the keys of every object in order. */
export function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedKeys);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, withSortedKeys(part)]));
}
