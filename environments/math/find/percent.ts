// The sign of percent directly behind a value or a box belongs to it; of other words behind it none does.

const PERCENT = /^[\s$*}]*(?:\\[)\],; ])?\s*(?:\\?%|percent\b|pct\b)/;

export const percentBehind = (text: string, end: number): boolean => PERCENT.test(text.slice(end, end + 20));
