// Finds the mathematics in running text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, alignments and bare numbers, in one
// pass. A dollar before an amount is money and not a delimiter.

import { FUNCTIONS, GREEK } from '../read/vocabulary.ts';
import { isUnitWord } from '../read/unit-words.ts';

export interface Segment {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

const MAX_SEGMENT = 4_000;

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

export function mathSegments(text: string): Segment[] {
  const found: Segment[] = [];
  let at = 0;
  const closers = new Map<string, number>();
  // The next place of a closer at or after `from`; each is searched for once per stretch of text.
  const next = (closer: string, from: number): number => {
    const known = closers.get(closer);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    const place = text.indexOf(closer, from);
    closers.set(closer, place);
    return place;
  };
  while (at < text.length) {
    const dollar = next('$', at);
    const slash = next('\\', at);
    const start = dollar < 0 ? slash : slash < 0 ? dollar : Math.min(dollar, slash);
    if (start < 0) break;
    let open = '';
    let close = '';
    let oneLine = false;
    if (text[start] === '$') {
      open = text[start + 1] === '$' ? '$$' : '$';
      close = open;
      oneLine = open === '$';
    } else if (text[start + 1] === '(') [open, close] = ['\\(', '\\)'];
    else if (text[start + 1] === '[') [open, close] = ['\\[', '\\]'];
    else if (text.startsWith('\\begin{', start)) {
      const env = /^\\begin\{((?:align|equation|gather|aligned|eqnarray)\*?)\}/.exec(text.slice(start, start + 24));
      if (env) [open, close] = [env[0], `\\end{${env[1]}}`];
    }
    if (open === '') {
      at = start + (text[start] === '\\' ? 2 : 1);
      continue;
    }
    const from = start + open.length;
    let end = next(close, from);
    // An escaped dollar does not close.
    while (oneLine && end > 0 && text[end - 1] === '\\') end = text.indexOf('$', end + 1);
    if (oneLine) closers.delete('$');
    const content = end < 0 || end - from > MAX_SEGMENT ? undefined : text.slice(from, end);
    if (
      content === undefined ||
      (oneLine &&
        (content.includes('\n') ||
          (/^\s*[\d.]/.test(content) && (hasProse(content) || /[-–−+*/=×÷(]\s*$|[\d)]\sx\s+$/.test(content)))))
    ) {
      at = start + open.length;
      continue;
    }
    if (content.trim() !== '') found.push({ content: lastLine(content, open), start, end: end + close.length });
    at = end + close.length;
  }
  return found;
}

/** Of an alignment: what its last line says. */
function lastLine(content: string, open: string): string {
  if (!open.startsWith('\\begin')) return content;
  const lines = content.split(/\\\\(?![A-Za-z])/).filter((line) => line.trim() !== '');
  const last = (lines.at(-1) ?? content).replaceAll('&', '');
  return last.slice(last.lastIndexOf('=') + 1);
}
