// Text behind a value that belongs to it: a percent sign, units, factors, "or 6"; and text that does not: the place at which an
// extremum is taken. Linear: a few hundred characters are read.

import { SCALES } from '../read/harmless-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

const UNIT_WORD = /\s*((?:square|cubic|per|an?|each)\s+|\/\s?)?([A-Za-z]+)(?:[²³]|\^\{?[23]\}?)?\.?/gy;

/** The words behind a value that belong to it: a percent sign, factors and units, and what "or" adds to it. */
export function tailOf(text: string, end: number): string {
  const after = text
    .slice(end, end + 160)
    .replace(/\\(?:text|mathrm)\s*\{([^{}]*)\}(?=\^)/g, ' $1')
    .replace(/\\(?:text|mathrm|mbox|textbf)\s*\{([^{}]*)\}|\\[,;:! ]|~/g, ' $1 ');
  const close = /^[\s$*]*(?:\\\)|\\\])?[\s*]*/.exec(after)?.[0] ?? '';
  const rest = after.slice(close.length);
  if (/^(?:\\?%|percent\b|pct\b)/i.test(rest)) return '\\%';
  let tail = '';
  for (const [piece, power, word = ''] of rest.matchAll(UNIT_WORD)) {
    // "12 miles an hour" is a speed; "$18 each day" is not.
    if (/^(?:an?|each)\s/.test(power ?? '') && !/(?:miles?|met(?:er|re)s?|feet|k?m)$/.test(tail)) break;
    const unit =
      isUnitWord(word) ||
      /^(?:celsius|fahrenheit)$/i.test(word) ||
      /^units?$/.test(word) ||
      (/^[msghlLNJWVK]$/.test(word) && !/[\w&]/.test(rest[tail.length + piece.length] ?? ''));
    if (!unit && (power || !SCALES.has(word.toLowerCase()))) break;
    // "$28/month"
    tail += word.length > 2 ? piece.replace('/', ' per ') : piece;
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

/** "which is about 282.7 cm³", "(≈ 0.33)": what a value is when it is rounded. */
export const ROUNDED =
  /(?:,?\s*(?:which is|that is|i\.e\.,?|or)\s+|,?\s*)(?:roughly|about|approximately|approx\.?|around|≈|\\approx)\s*\$?\s*(?:\\approx\s*|≈\s*)?(?<rounded>[-−]?\d[\d,]*(?:\.\d+)?(?:\s*\\?%)?)\$?/;
const ROUNDED_BEHIND = new RegExp(
  `^[^.;!?\\n]{0,40}?(?:\\(\\s*)?${ROUNDED.source}(?=[\\s)]*(?:$|[.,;!?\\n]|\\())`,
  'i',
);
export const roundedBehind = (text: string, end: number): string | undefined =>
  ROUNDED_BEHIND.exec(text.slice(end, end + 100))?.groups?.['rounded'];

/** ", which is 0.375 or 37.5%": the value in other forms. */
export const RESTATED =
  /^[\s$*\\)\]]*,?\s*(?:which is|which equals|that is,?|i\.e\.,?)\s*\$?([-−]?\d[\d.,/]*(?:\\?%)?)\$?(?:,? or \$?([-−]?\d[\d.,/]*(?:\s?\\?%)?)\$?)?(?=\s*(?:[.,;]?\s*$|[.;]\s))/;

/** The words behind the box that belong to the answer: a percent sign, a unit, "or 6". */
export function withTail(content: string, text: string, end: number): string {
  const tail = tailOf(text, end);
  if (tail === '\\%') return percented(content, tail);
  // "\boxed{18 + 2\pi} units" measures the sum.
  return (/^ (?!or |and )/.test(tail) && SUM.test(content) ? `(${content})` : content) + tail;
}
const SUM = /^(?!.*(?:[=<>,;]|\\(?:text|mathrm|mbox)))[^]*[\w)}\]]\s*[-+]/;

export const percented = (content: string, tail: string): string =>
  tail === '\\%' && !content.includes('%') ? `${content}\\%` : content;
