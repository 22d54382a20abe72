// The values of running text outside of formulas: an expression of numbers and single letters (`36π`, `y = 3x - 1`, `3 x 60 = $180`), a
// point, a date, a time, a ratio. A number within a word ("5-day", "20th", "x2") is no value. Linear.

import type { Segment } from './segments.ts';

const NUMBER =
  /[$€£¥₹]?(?:\d{1,3}(?:,\d{3}){1,40}(?!\d)(?:\.\d{1,200})?|\d{1,3}(?: \d{3}){1,5}(?![\d.,]\d)|\d{1,200}[.,]\d{1,200}|\.\d{1,200}|\d{1,300})(?:[eE][+-]?\d{1,4})?(?:\\?%)?/;
const MIXED = /\d{1,9} \d{1,9}\/\d{1,9}/;
const LATEX =
  /\\[dt]?frac\{[^{}]{1,40}\}\{[^{}]{1,40}\}|\\sqrt\{[^{}]{1,40}\}|√\d{1,9}|√\([^()]{1,40}\)|[π∞°!²³⁴½¼¾⅓⅔]/;
const TUPLE_ITEM = /[-−+]?(?:[\d./]{1,40}|[A-Za-z]|∞)/;
const TUPLE = new RegExp(String.raw`[([{]\s?${TUPLE_ITEM.source}(?:\s?,\s?${TUPLE_ITEM.source}){1,20}\s?[)\]}]`);
/** `(x + 3)`, `f(2)`: words in brackets are a remark. */
const BRACKET = /[A-Za-z]?\((?:[^(),\nA-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){1,40}\)/;
const LETTER = /(?<![A-Za-z])[A-Za-z](?![A-Za-z'’])/;
const LETTERS_WITH_NUMBER = /(?:sqrt|pi)(?![A-Za-z])/;
const TERM = [TUPLE, MIXED, NUMBER, LATEX, LETTERS_WITH_NUMBER, BRACKET, LETTER].map(({ source }) => source).join('|');
const SIGN = String.raw`\s?(?:[-−–+*/^=<>≤≥×·÷]|(?<=[\d)])\sx(?=\s))\s?`;
/** Terms side by side are a product only without a blank: `3x`, and no "3 a day". */
const EXPRESSION = String.raw`(?:[-−–+](?=[\d$(.√]))?(?:${TERM})(?:(?:${SIGN}){1,2}(?:${TERM})|(?:${TERM}))*`;

const MONTH =
  /(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?/;
const DAY = /\d{1,2}(?:st|nd|rd|th)?/;
const DATE = `(?:${MONTH.source} ${DAY.source}(?:,? \\d{4})?|${MONTH.source},? (?:of )?[12]\\d{3}|${DAY.source} (?:of )?${MONTH.source}(?:,? \\d{4})?|\\d{4}-\\d{2}-\\d{2})(?![\\dA-Za-z])`;
/** "3 hours and 35 minutes" */
const DURATION =
  /\d{1,4} (?:days?|hours?|hrs?|minutes?|feet|foot|ft|pounds?|lbs?)(?:,? and|,)? \d{1,3} (?:hours?|hrs?|minutes?|mins?|seconds?|inch(?:es)?|ounces?|oz)(?![A-Za-z])/;
/** "11 out of 36": one value; of "from 3 to 4" neither. */
const RATIO = /(?<!from |between )\d{1,9} (?:to|out of) \d{1,9}(?!\.?\d)/;
/** A time of day, or a ratio: what stands behind the colon is no value of its own. */
const CLOCK = /\d{1,9}(?::\d{1,9}){1,4}(?:\s?[AaPp]\.?[Mm]\b\.?)?|\d{1,2}\s?[AaPp]\.?[Mm]\b\.?/;
const MOMENT = [DURATION, RATIO, CLOCK].map(({ source }) => source).join('|');
const VALUE = new RegExp(`(?<![\\w.\\\\])(?:(?<moment>${MOMENT})|(?<expression>${EXPRESSION}))`, 'g');
/** Slower: names of months can begin at every letter. */
const VALUE_OR_DATE = new RegExp(`(?<![\\w.\\\\])(?:(?<moment>${DATE}|${MOMENT})|(?<expression>${EXPRESSION}))`, 'g');
const NAMES_MONTH = new RegExp(`\\b${MONTH.source}|\\d{4}-\\d{2}-`);
const SENTENCE_CHARS = 4_000;

/** The values of a sentence, in order. A calculation is its last side: of `3 x 60 = $180` the 180. */
export function numbersIn(sentence: string): Segment[] {
  const offset = Math.max(0, sentence.length - SENTENCE_CHARS);
  const text = sentence.slice(offset);
  const found: Segment[] = [];
  for (const { index, 0: all, groups } of text.matchAll(NAMES_MONTH.test(text) ? VALUE_OR_DATE : VALUE)) {
    const end = offset + index + all.length;
    if (groups?.['moment'] !== undefined) {
      const content = all.replace(/ (?:to|out of) /, ':').replace(/,? and |, /, ' ');
      found.push({ content, start: offset + index, end });
    } else if (/[\d∞π√½¼¾⅓⅔]/.test(all) && !/^-?[A-Za-z]{2}/.test(text.slice(index + all.length))) {
      const value = lastSide(all);
      found.push({ content: value, start: end - value.length, end });
    }
  }
  return found;
}

/** The number that a calculation gives; an equation between letters stays whole. */
function lastSide(expression: string): string {
  const side = /(?:[^=A-Za-z\s]|\sx)\s?=\s?([-−–]?[^=A-Za-z]+)$/.exec(expression)?.[1];
  return side?.includes('(') === false ? side.replace(/\)$/, '') : (side ?? expression);
}
