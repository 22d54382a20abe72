// Formulas in running text: where one begins, what it holds and where it ends. Pure, and in bounded time: a formula has a
// few thousand characters at most.

import { boxAt } from '../../domain/text/boxed-answer.ts';

export interface Formula {
  readonly tex: string;
  /** On lines of its own. */
  readonly display: boolean;
  /** The place behind it. */
  readonly end: number;
}

const MOST_CHARS = 4_000;
/** The first that fits counts. A dollar sign is also money, so that single ones must be close to what they hold. */
const MARKS = [
  ['$$', '$$', true],
  ['\\[', '\\]', true],
  ['\\(', '\\)', false],
] as const;
const DOLLARS = /^\$(?=[^\s$])((?:\\[^]|[^\\$]){0,1000}?)(?<=\S)\$(?!\d)/;
const ENVIRONMENT = /^\\begin\{([a-z]{1,20}\*?)\}/;

/** Undefined if none begins there. */
export function formulaAt(text: string, at: number): Formula | undefined {
  const char = text[at];
  if (char !== '$' && char !== '\\') return undefined;
  const rest = text.slice(at, at + MOST_CHARS);
  for (const [open, close, display] of MARKS) {
    if (!rest.startsWith(open)) continue;
    const end = rest.indexOf(close, open.length);
    const tex = rest.slice(open.length, end).trim();
    return end < 0 || tex === '' ? undefined : { tex, display, end: at + end + close.length };
  }
  if (char === '$') {
    const found = DOLLARS.exec(rest);
    return found && !/\n\s*\n/.test(found[1]!)
      ? { tex: found[1]!, display: false, end: at + found[0].length }
      : undefined;
  }
  const environment = ENVIRONMENT.exec(rest)?.[1];
  if (environment !== undefined) {
    const close = `\\end{${environment}}`;
    const end = rest.indexOf(close) + close.length;
    return end < close.length ? undefined : { tex: rest.slice(0, end), display: true, end: at + end };
  }
  const box = boxAt(rest, 0);
  return box && { tex: rest.slice(0, box.end), display: false, end: at + box.end };
}
