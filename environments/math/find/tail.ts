// What stands behind a value and belongs to it: a percent sign, units, factors, "or 6"; and what does not: the place at which
// an extremum is taken. Linear: a few hundred characters are read.

import { SCALES } from '../read/harmless-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

/** The words behind a value that belong to it: a percent sign, factors and units, and what "or" adds to it. */
export function tailOf(text: string, end: number): string {
  const after = text.slice(end, end + 160).replace(/\\(?:text|mathrm|mbox|textbf)\s*\{([^{}]*)\}|\\[,;:! ]|~/g, ' $1 ');
  const close = /^[\s$*]*(?:\\\)|\\\])?[\s*]*/.exec(after)?.[0] ?? '';
  const rest = after.slice(close.length);
  if (/^(?:\\?%|percent\b|pct\b)/i.test(rest)) return '\\%';
  let tail = '';
  for (const [piece, power, word = ''] of rest.matchAll(/\s*((?:square|cubic|per)\s+)?([A-Za-z]+)\.?/gy)) {
    const unit =
      isUnitWord(word) ||
      /^units?$/.test(word) ||
      (/^[msghlLNJWVK]$/.test(word) && !/\w/.test(rest[tail.length + piece.length] ?? ''));
    if (!unit && (power || !SCALES.has(word.toLowerCase()))) break;
    tail += piece;
  }
  const or =
    /^,?\s*(?:or(?=\s)(?!\s+(?:else|about|approximately|roughly|equivalently|simply|just|in)\b|\s*\\approx)|and(?=\s+[\d$\\(-]))[^.;!?\n]*(?:[.](?=\d)[^.;!?\n]*)*/i.exec(
      rest.slice(tail.length),
    )?.[0] ?? '';
  return `${tail === '' ? '' : ` ${tail.replace(/\.$/, '')}`}${or === '' ? '' : ` ${or.replace(/^,\s*/, '')}`}`;
}

/** "$4$ when $x = 2$", "4, attained at x = 2": the place of a value is no part of it. */
export const PLACE =
  /,?\s+\(?(?:with equality |attained |achieved |reached |occurring )?(?:when|where|at|if and only if|iff)\s+\$?\\?\(?\s*[A-Za-z](?:_\w)?(?:\s*=\s*[A-Za-z](?:_\w)?)*\s*=[^=.\n]{1,60}(?:\.\d+)?\$?\)?(?=\s*\.?\s*$)/;

/** The words behind the box that belong to the answer: a percent sign, a unit, "or 6". */
export function withTail(content: string, text: string, end: number): string {
  const tail = tailOf(text, end);
  return tail === '\\%' ? percented(content, tail) : content + tail;
}

export const percented = (content: string, tail: string): string =>
  tail === '\\%' && !content.includes('%') ? `${content}\\%` : content;
