// The value that stands last where nothing is marked: the last formula or number of the last sentence that has one. A number that
// the question holds yields to one of the same sentence that it does not hold, unless a calculation ends in it. Linear: the last
// characters of a text are read.

import { mathSegments, type Segment } from './segments.ts';
import { SCALES } from '../read/harmless-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

const REACH = 20_000;
/** A sentence ends before a capital, a bracket or emphasis; a point within a number or before a small letter ends none. */
const SENTENCE = /(?<=[.!?][)*"]?)\s+(?=[\p{Lu}[*(\uE000])|(?<=[.!?;])\s+(?=\p{Lo})|\n+|(?<=！)/gu;
const FORMULA = '\uE000';
/** `$n$`, `$ABC$`: a name stands for no value. */
const NAME =
  /^\s*(?:\\?[A-Za-z]{1,12}|\\(?:triangle|angle|overline)\s*\{?[A-Z]{1,4}\}?)\s*(?:_\{?\w{1,4}\}?)?(?:\s*\([A-Za-z, ]{1,8}\))?\s*$/;
const GIVEN = /\d[\d,]*(?:\.\d+)?/g;

export function lastValue(source: string, question: string): string | undefined {
  const text = source.slice(-REACH);
  const formulas = mathSegments(text).filter(({ content }) => !NAME.test(content));
  const plain = blanked(text, formulas);
  const given = givenBy(question);
  let end = plain.length;
  const starts = [0, ...[...plain.matchAll(SENTENCE)].map(({ index, 0: gap }) => index + gap.length)];
  for (const start of starts.toReversed()) {
    const sentence = plain.slice(start, end);
    const values = [
      ...formulas.filter((f) => f.start >= start && f.end <= end),
      ...numbersIn(sentence).map((n) => ({ ...n, start: n.start + start, end: n.end + start })),
    ].sort((a, b) => a.start - b.start);
    if (values.length > 0) return valueOf(text, values, given);
    end = start;
  }
  return undefined;
}

/** The sign of percent directly behind a value or a box belongs to it; of other words behind it none does. */
const PERCENT = /^[\s$*}]*(?:\\[)\],; ])?\s*(?:\\?%|percent\b|pct\b)/;
export const percentBehind = (text: string, end: number): boolean => PERCENT.test(text.slice(end, end + 20));

function valueOf(text: string, values: readonly Segment[], given: (value: string) => boolean): string {
  const last = values.at(-1)!;
  const isNew = ({ content, start }: Segment): boolean =>
    !given(content) || /=\s*$/.test(text.slice(Math.max(0, start - 3), start));
  const own = values.findLast(isNew) ?? last;
  const items = [own];
  for (let k = values.indexOf(own) - 1; k >= 0; k--) {
    if (/[<>≤≥]/.test(values[k]!.content) || !isJoined(text.slice(values[k]!.end, items[0]!.start))) break;
    items.unshift(values[k]!);
  }
  const list = items.map(({ content }) => content.trim().replace(/[.,;]$/, '')).join(' , ');
  if (percentBehind(text, own.end)) return list.includes('%') ? list : `${list}\\%`;
  return list + unitBehind(text, own.end);
}

/** "and", "or" or a comma joins values to one list; ", or" alone says the same again: "7 times 3, or 21". */
const isJoined = (between: string): boolean =>
  /^\s*(?:,(?:\s*and)?|and|or)\s*$/i.test(between.replace(/\$|\\[()[\]]/g, ''));

/** Does the question hold this number or formula? */
function givenBy(question: string): (value: string) => boolean {
  const numbers = new Set((question.match(GIVEN) ?? []).map(plainDigits));
  const plain = plainDigits(question);
  return (value) => {
    const own = plainDigits(value);
    return numbers.has(own) || (/[^\d.]/.test(own) && plain.includes(own));
  };
}

const plainDigits = (text: string): string => text.replace(/[$€£,\s]|\\[$%]|%|\.$/g, '');

/** The text with a sign for each character of its formulas, so that sentences and numbers are found outside of them. */
function blanked(text: string, formulas: readonly Segment[]): string {
  let out = '';
  for (const { start, end } of formulas) out += text.slice(out.length, start) + FORMULA.repeat(end - start);
  return out + text.slice(out.length);
}

const NUMBER =
  /[$€£¥₹]?(?:\d{1,3}(?:,\d{3}){1,40}(?!\d)(?:\.\d{1,200})?|\d{1,3}(?: \d{3}){1,5}(?![\d.,]\d)|\d{1,200}[.,]\d{1,200}|\.\d{1,200}|\d{1,300})(?:[eE][+-]?\d{1,4})?(?:\\?%)?/;
const MIXED = /\d{1,9} \d{1,9}\/\d{1,9}/;
const LATEX =
  /\\[dt]?frac(?:\d\d|\{[^{}]{1,40}\}\{[^{}]{1,40}\})|\\sqrt(?:\d|\{[^{}]{1,40}\})|\\pi(?![A-Za-z])|√\d{1,9}|√\([^()]{1,40}\)|[π∞°!²³⁴½¼¾⅓⅔]/;
const TUPLE_ITEM = /[-−+]?(?:[\d./]{1,40}|[A-Za-z]|∞)/;
const TUPLE = new RegExp(String.raw`[([{]\s?${TUPLE_ITEM.source}(?:\s?,\s?${TUPLE_ITEM.source}){1,20}\s?[)\]}]`);
/** `(x + 3)`, `f(2)`: words in brackets are a remark. */
const BRACKET = /[A-Za-z]?\((?:[^(),\nA-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){1,40}\)/;
const LETTER = /(?<![A-Za-z])[A-Za-z](?![A-Za-z'’])/;
const LETTERS_WITH_NUMBER = /(?:sqrt|pi)(?![A-Za-z])/;
const TERM = [TUPLE, MIXED, NUMBER, LATEX, LETTERS_WITH_NUMBER, BRACKET, LETTER].map(({ source }) => source).join('|');
const SIGN = String.raw`\s?(?:[-−–+*/^=<>≤≥×·÷]|(?<=[\d)])\sx(?=\s))\s?`;
/** Terms side by side are a product only without a blank: `3x`, and no "3 a day". */
const EXPRESSION = String.raw`(?:[-−–+](?=[\d$(.√\\]))?(?:${TERM})(?:(?:${SIGN}){1,2}(?:${TERM})|(?:${TERM}))*`;

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
function numbersIn(sentence: string): Segment[] {
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

const PIECE = /\s*((?:square|cubic|per)\s+|\/\s?)?([A-Za-zΩμ]+|°\s?[CF]?)(?:[²³]|\^\{?[23]\}?)?/gy;
/** Letters that are units behind a number, where the text goes on with no letter. */
const UNIT_LETTER = /^[mghLNJWVKA]$/;

function unitBehind(text: string, end: number): string {
  const rest = text
    .slice(end, end + 80)
    .replace(/\\(?:text|mathrm)\s*\{([^{}]*)\}|\\[,;:! ]|~/g, ' $1 ')
    .replace(/^[\s$*]*(?:\\[)\]])?[\s*]*/, '');
  let unit = '';
  for (const [piece, lead, word = ''] of rest.matchAll(PIECE)) {
    const isLetter = UNIT_LETTER.test(word) && !/^[\w'’]/.test(rest.slice(unit.length + piece.length));
    if (!isUnitWord(word) && !isLetter && !SCALES.has(word.toLowerCase()) && !word.startsWith('°')) break;
    unit += lead?.startsWith('/') ? piece.replace('/', ' per ') : piece;
  }
  return unit === '' ? '' : ` ${unit}`;
}
