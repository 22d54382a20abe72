// The sign of percent directly behind a value or a box belongs to it; of other words behind it none does.

const PERCENT = /^[\s$*}]*(?:\\[)\],; ])?\s*(?:\\?%|percent\b|pct\b)/;

export const percentBehind = (text: string, end: number): boolean => PERCENT.test(text.slice(end, end + 20));

/** "28 per cent", "28 per-cent" as 28 percent. */
export const percentInOneWord = (text: string): string =>
  text.replace(/\b(p)er[\s~-]{1,3}cent\b/gi, (_, first: string) => `${first}ercent`);
