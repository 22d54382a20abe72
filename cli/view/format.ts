// Numbers and durations as text for one line of a terminal.

export function count(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

/** `1 query`, `2 queries`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `12 tokens`; `– tokens` if nobody knows how many. */
export function tokensText(tokens: number | null): string {
  return tokens === null ? '– tokens' : plural(tokens, 'token');
}

export function percent(part: number, whole: number, digits = 1): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(digits)} %`;
}

/** `0:07`, `12:03`, `3:00:07`. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** `7 s`, `20 min`, `3 h`, `2 days`. */
export function lasted(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} days`;
}

export function ago(ms: number): string {
  return `${lasted(ms)} ago`;
}
