// Notations that are rewritten before a text is read: repeating decimals (0.333…, .\overline{3}, 0.\overline3) and the
// binomials that put an index before their C. Anything else stays as it is.

import { withoutForeignUnits } from './foreign-units.ts';

const ELLIPSIS = String.raw`\s*(?:\.\.\.|…|\\[lc]?dots(?![A-Za-z]))`;
const SAME_DIGIT = new RegExp(String.raw`(\.\d{0,20}?)([1-9])\2{2,30}${ELLIPSIS}`, 'g');
const SAME_DIGITS = new RegExp(String.raw`(\.\d{0,20}?)(\d{2,12}?)\2{1,10}${ELLIPSIS}`, 'g');
const INDEX = String.raw`(?:\{([A-Za-z0-9]{1,6})\}|([A-Za-z0-9]))`;
const CHOOSE = new RegExp(String.raw`(^|[=(+*]|\{\})\s*[_^]\s*${INDEX}\s*([CP])\s*_\s*${INDEX}(?![A-Za-z0-9_^])`, 'g');
const SMALL_FRACTION = /(?<=^|\s)\^\s*\{?(\d{1,4})\}?\s*\/\s*_\s*\{?(\d{1,4})\}?/g;
const POSITIVE =
  /\\mathbb\s*\{?R\}?\s*(?:\^\s*\{?\s*\+\s*\}?|_\s*\+|_\s*\{\s*(?:\+|>\s*0|(\\geq?(?:slant)?\s*0))\s*\})/g;

/** `1, 2, \dots, 5`: consecutive integers, or three in an even step, up to a last one. */
const CLOSED_LIST = new RegExp(
  String.raw`(?<![\d.,+*/^-]\s?)(-?\d{1,4})\s*,\s*(-?\d{1,4})(?:\s*,\s*(-?\d{1,4}))?((?:\s*,\s*-?\d{1,4}){0,10})\s*,${ELLIPSIS}\s*,\s*(-?\d{1,4})(?![\d.,]*[\d+*/^])`,
  'g',
);
const MOST_LISTED = 200;

function listed(
  all: string,
  first: string,
  second: string,
  third: string | undefined,
  more: string,
  last: string,
): string {
  const given = [first, second, ...(third === undefined ? [] : [third]), ...more.split(',')]
    .filter((item) => item.trim() !== '')
    .map(Number);
  const [from = 0, next = 0] = given;
  const step = next - from;
  const steps = (Number(last) - from) / step;
  const even = given.every((item, k) => item === from + k * step) && (Math.abs(step) === 1 || given.length > 2);
  if (!even || !Number.isInteger(steps) || steps < given.length || steps >= MOST_LISTED) return all;
  return Array.from({ length: steps + 1 }, (_, k) => from + k * step).join(', ');
}

export function spelledOut(text: string): string {
  let out = withoutForeignUnits(text);
  if (/\.\.\.|…|dots/.test(out)) {
    out = out.replace(SAME_DIGIT, '$1\\overline{$2}');
    out = out.replace(SAME_DIGITS, (all, head: string, period: string) =>
      /^0+$/.test(period) ? all : `${head}\\overline{${period}}`,
    );
  }
  if (out.includes(',') && /\.\.\.|…|dots/.test(out)) out = out.replace(CLOSED_LIST, listed);
  if (out.includes('}_')) out = out.replace(/\\(?:text|mathrm|texttt)\s*\{\s*([0-9A-Fa-f]{1,30})\s*\}\s*(?=_)/g, '$1');
  // "x in (-2, 8)"
  if (/ in [([]/.test(out)) out = out.replace(/^(\s*[a-z]) in (?=[([])/, '$1\\in ');
  // ³/₈ as it is written without its own signs.
  if (out.includes('/')) out = out.replace(SMALL_FRACTION, '\\frac{$1}{$2}');
  if (out.includes('overline'))
    out = out
      .replace(/(\.\d{0,40})\\overline\s*(\d)(?!\d)/g, '$1\\overline{$2}')
      .replace(/(?<![\d.])\.\\overline(?=\{\d)/g, '0.\\overline');
  if (out.includes('mathbb'))
    out = out.replace(POSITIVE, (_, closed?: string) => (closed ? '[0, \\infty)' : '(0, \\infty)'));
  if (out.includes('Rs')) out = out.replace(/(?<![A-Za-z])Rs\.?\s*(?=\d)/, '₹');
  if (!/[CP]/.test(out)) return out;
  return out.replace(
    CHOOSE,
    (_, before: string, n1: string | undefined, n2: string, which: string, k1: string | undefined, k2: string) =>
      `${before === '{}' ? '' : before}${which}(${n1 ?? n2}, ${k1 ?? k2})`,
  );
}
