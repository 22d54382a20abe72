// Finds the mathematics in running text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, alignments and bare numbers, in one
// pass. A dollar before an amount is money and not a delimiter.

import { FUNCTIONS, GREEK } from '../read/vocabulary.ts';
import { isUnitWord } from '../read/unit-words.ts';

export interface Segment {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

const SMALL_WORDS = new Set(
  'no it is to of at by we so on he be as an if my up us go do the its for has was not'.split(' '),
);

/** Words that are not mathematics, outside of commands and `\text{…}`. */
export function hasProse(text: string): boolean {
  if (!/[A-Za-z]{2}/.test(text)) return false;
  const bare = text
    .replace(/\\(?:text|mbox|mathrm|textbf|textit|operatorname|textnormal|textrm)\s*\{[^{}]*\}/g, ' ')
    .replace(/\\(?:begin|end)\s*\{[^{}]*\}/g, ' ')
    .replace(/\\[A-Za-z]+/g, ' ');
  for (const [word] of bare.matchAll(/[A-Za-z]{2,}/g)) {
    const lower = word.toLowerCase();
    if (FUNCTIONS.has(lower) || GREEK.has(lower) || isUnitWord(word) || isUnitWord(lower)) continue;
    if (
      /^(and|or|pi|inf|infinity|percent|pct|percentage|mod|per|square|cubic|sq|thousand|million|billion|trillion|approximately|about|am|pm)$/.test(
        lower,
      )
    )
      continue;
    if (SMALL_WORDS.has(lower)) return true;
    // Points and figures: ABC, PQRS.
    if (/^[A-Z]{2,4}$/.test(word) && !/^(YES|NO|NONE|TRUE|DNE)$/.test(word)) continue;
    if (/^(or|and)[A-Z]$/.test(word) || word.length === 2 || (word.length === 3 && !/[aeiou]/i.test(word))) continue;
    return true;
  }
  return false;
}

/** The text between the marks, up to 4,000 characters without a second opening one: linear. */
const inner = (opening: string): string => `((?:(?!${opening})[^]){0,4000}?)`;
/** A dollar closes on its line; what a backslash escapes opens nothing. */
const SEGMENT = new RegExp(
  [
    String.raw`\$\$${inner('\\$\\$')}\$\$`,
    String.raw`\$([^\n]{0,4000}?)(?<!\\)\$`,
    String.raw`\\\(${inner('\\\\\\(')}\\\)`,
    String.raw`\\\[${inner('\\\\\\[')}\\\]`,
    String.raw`\\begin\{((?:align|equation|gather|aligned|eqnarray)\*?)\}${inner('\\\\begin\\{\\5\\}')}\\end\{\5\}`,
    String.raw`\\[^]`,
  ].join('|'),
  'g',
);
/** `$5 and` more, `$3 +`: an amount of money. */
const isAmount = (inner: string): boolean =>
  /^\s*[\d.]/.test(inner) && (hasProse(inner) || /[-–−+*/=×÷(]\s*$|[\d)]\sx\s+$/.test(inner));

export function mathSegments(text: string): Segment[] {
  const found: Segment[] = [];
  SEGMENT.lastIndex = 0;
  for (let match = SEGMENT.exec(text); match; match = SEGMENT.exec(text)) {
    const [all, display, line, round, square, , aligned] = match;
    if (line !== undefined && isAmount(line)) SEGMENT.lastIndex = match.index + 1;
    else {
      const content = aligned === undefined ? (display ?? line ?? round ?? square ?? '') : lastLine(aligned);
      if (content.trim() !== '') found.push({ content, start: match.index, end: match.index + all.length });
    }
  }
  return found;
}

/** The last line of an alignment, behind its last equals sign. */
function lastLine(content: string): string {
  const lines = content.split(/\\\\(?![A-Za-z])/).filter((line) => line.trim() !== '');
  const last = (lines.at(-1) ?? content).replaceAll('&', '');
  return last.slice(last.lastIndexOf('=') + 1);
}
