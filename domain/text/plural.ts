// Counts in a sentence.

export function count(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

/** `1 query`, `2 queries`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
