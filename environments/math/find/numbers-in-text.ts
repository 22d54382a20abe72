// The last value of running text that is no formula: a number with the expression around it, a date, a time, a ratio,
// or all of a list that ends there: of "the roots are 2 and 3" neither alone is the answer.

import { hasProse, type Segment } from './segments.ts';

const PLAIN_NUMBER =
  /[-−–]?[$€£¥₹]?(?:\d{1,3}(?:,\d{3}){1,40}(?:\.\d{1,200})?|\d{1,3}(?: \d{3}){1,5}(?![\d.,]\d)|\d{1,200}[.,]\d{1,200}|\.\d{1,200}|\d{1,300})(?:[eE][+-]?\d{1,4})?(?:\s?\/\s?\d{1,200}| \d{1,9}\/\d{1,9})?/;
// A point or an interval of plain numbers, and LaTeX that was left without its dollars, are values as well.
const PLAIN_TUPLE =
  /[([]\s?(?:[-−]?[\d./]{1,40}|[-−]∞)(?:\s?,\s?[-−+]?(?:[\d./]{1,40}|∞)){1,8}\s?[)\]]|[([]\s?[-−]∞\s?,\s?∞\s?[)\]]|\{\s?[-−]?[\d./]{1,40}(?:\s?,\s?[-−]?[\d./]{1,40}){1,20}\s?\}/;
/** `2x(x-3)(x+3)`, `(x + 3)/(x + 2)` */
const PLAIN_PRODUCT =
  /\d{0,6}[a-z]?(?:\([-+−\d\sa-z^²³]{1,30}\)[²³]?\s?\/?\s?){1,5}\([-+−\d\sa-z^²³]{1,30}\)[²³]?(?![\w(])/;
const BARE_LATEX = /[-−]?\d{0,9}(?:\\[dt]?frac\{[^{}]{1,40}\}\{[^{}]{1,40}\}|\\sqrt\{[^{}]{1,40}\})/;
const MONTH =
  /(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?/;
const DAY = /\d{1,2}(?:st|nd|rd|th)?/;
const DATE = new RegExp(
  `(?:${MONTH.source} ${DAY.source}(?:,? \\d{4})?|${DAY.source} (?:of )?${MONTH.source}(?:,? \\d{4})?|\\d{4}-\\d{2}-\\d{2})(?![\\dA-Za-z])`,
);
/** "3 hours and 35 minutes" */
const DURATION =
  /\d{1,4} (?:days?|hours?|hrs?|minutes?|feet|foot|ft|pounds?|lbs?)(?:,? and|,)? \d{1,3} (?:hours?|hrs?|minutes?|mins?|seconds?|inch(?:es)?|ounces?|oz)(?![A-Za-z])/;
/** "3 to 4", "11 out of 36": one value, but of "from 3 to 4" neither. */
const RATIO = /(?<!from |between )\d{1,9} (?:to|out of) \d{1,9}(?!\.?\d)/;
// A time of day, or a ratio: what stands behind the colon is no value of its own.
const CLOCK = /\d{1,9}(?::\d{1,9}){1,4}(?:\s?[AaPp]\.?[Mm]\b\.?)?|\d{1,2}\s?[AaPp]\.?[Mm]\b\.?/;
const MOMENT = new RegExp(`^(?:${DURATION.source}|${DATE.source}|${CLOCK.source}|${RATIO.source})$`);
const number = (...first: readonly RegExp[]): RegExp =>
  new RegExp(
    `(?<![\\dA-Za-z_^.\\\\{}])(?:${[...first, DURATION, RATIO, CLOCK, BARE_LATEX, PLAIN_PRODUCT, PLAIN_TUPLE, PLAIN_NUMBER].map(({ source }) => source).join('|')})`,
    'g',
  );
const NUMBER = number();
/** Slower: names of months can begin at every letter. */
const NUMBER_OR_DATE = number(DATE);
const NAMES_MONTH = new RegExp(`\\b${MONTH.source}|\\d{4}-\\d{2}-`);

/** Bare numbers of the text, with the expression around each if it stands in one. */
export function lastNumber(text: string): Segment | undefined {
  let last: RegExpExecArray | undefined;
  // Only the end matters: the last few thousand characters, enlarged once if they hold no number.
  for (const window of [4_000, 60_000]) {
    const offset = Math.max(0, text.length - window);
    const tail = text.slice(offset);
    for (const m of tail.matchAll(NAMES_MONTH.test(tail) ? NUMBER_OR_DATE : NUMBER))
      if (!NOT.test(tail.slice(Math.max(0, m.index - 16), m.index))) last = m;
    if (last) {
      const start = offset + last.index;
      const end = start + last[0].length;
      const value = MOMENT.test(last[0])
        ? { content: last[0].replace(/ (?:to|out of) /, ':').replace(/,? and |, /, ' '), from: start }
        : widen(text, start, end);
      const named = /\([A-Za-z](?:,\s?[A-Za-z]){1,5}\)\s?=\s?$/.test(text.slice(Math.max(0, start - 40), start));
      if (named && /^[([]/.test(last[0])) return { content: last[0], start, end, kind: 'number' };
      const list = listBefore(text, value.from);
      if (list && NOT.test(text.slice(Math.max(0, list.from - 16), list.from))) return undefined;
      return {
        content: [...(list?.items ?? []), value.content].join(' , '),
        start: list?.from ?? value.from,
        end,
        kind: 'number',
      };
    }
    if (offset === 0) break;
  }
  return undefined;
}

const NOT = /\bnot (?:equal to )?$/i;
const SEPARATOR = /(?:\s?[,;]\s{0,2}(?:and |or )?|\s(?:and|or)\s)$/i;
const TUPLE_ITEM = new RegExp(`(?:^|\\s)(${PLAIN_TUPLE.source})$`);
const ITEM = /(?:^|[\s:(])((?:[A-Za-z](?:_\{?\w{1,3}\}?)?\s?=\s?)?[^\s,;:=]{1,60})$/;
const ASSIGNMENT = /^[A-Za-z](?:_\{?\w{1,3}\}?)?\s?=/;
/** Words that announce a list, where only commas part its items. */
const ANNOUNCED = /(?:\b(?:are|values?|roots?|solutions?|answers?|numbers?|both|either)|:)\s*$/i;
const MOST_ITEMS = 40;

/** The items of the list that goes on at `from`, and where it begins; undefined if none does. */
function listBefore(
  text: string,
  from: number,
): { readonly items: readonly string[]; readonly from: number } | undefined {
  const items: string[] = [];
  let [start, joined] = [from, false];
  while (items.length < MOST_ITEMS) {
    const line = text.slice(Math.max(text.lastIndexOf('\n', start - 1) + 1, start - 120), start);
    const separator = SEPARATOR.exec(line);
    const before = line.slice(0, separator?.index);
    const item = separator && (TUPLE_ITEM.exec(before)?.[1] ?? ITEM.exec(before)?.[1]);
    if (/[<>≤≥]\s*$/.test(before.slice(0, before.length - (item?.length ?? 0)))) break;
    if (!item || !/[\dπ√]|\bpi\b|\\pi/.test(item) || hasProse(item) || balanced(item) !== item) break;
    items.unshift(item);
    joined ||= /\w/.test(separator[0]);
    start -= separator[0].length + item.length;
  }
  const first = items[0];
  if (first === undefined) return undefined;
  const assigned = items.every((item) => ASSIGNMENT.test(item)) && ASSIGNMENT.test(text.slice(from));
  const announced = ANNOUNCED.test(text.slice(Math.max(0, start - 20), start)) || text.slice(0, start).trim() === '';
  return joined || assigned || announced ? { items, from: start } : undefined;
}

/** Without brackets at either end that the text around it opened or closes. */
function balanced(text: string): string {
  let open = 0;
  for (let i = 0; i < text.length; i++) {
    if ('([{'.includes(text[i] ?? '')) open++;
    else if (')]}'.includes(text[i] ?? '') && --open < 0) return text.slice(0, i);
  }
  return open > 0 ? text.replace(/^[([{]+/, '') : text;
}

/** `3` in `y = 2x + 3` stands for nothing alone: takes the whole expression around a number. */
function widen(text: string, start: number, end: number): { readonly content: string; readonly from: number } {
  const lineStart = Math.max(text.lastIndexOf('\n', start - 1) + 1, start - 120);
  const rest = text.slice(end, end + 120);
  const left =
    /(?:(?<=^|[\s,;:*])(?:[A-Za-z]\([A-Za-z0-9]\)|[$€£]?\d{1,3}(?:,\d{3}){1,9}(?=\s)|[^\s,;:A-Za-z]*(?:[A-Za-z][^\s,;:A-Za-z]*)?)\s?)*$/.exec(
      text.slice(lineStart, start),
    )?.[0] ?? '';
  const right =
    /^(?:%|\s?(?:percent(?:age)?|pct)\b|(?:[^\s,;:A-Za-z.]|[A-Za-z](?![A-Za-z]))*(?:\s[-+*/^=]\s?(?:[^\s,;:A-Za-z.]|[A-Za-z](?![A-Za-z]))*)*)/.exec(
      rest,
    )?.[0] ?? '';
  const prefix = /[-+*/^=(<>≤≥√·×]\s?$/.test(left)
    ? left.trimStart().replace(/^(?:(?!\.\d)[^\dA-Za-z([\\-])+/, '')
    : '';
  return { content: balanced(`${prefix}${text.slice(start, end)}${right}`), from: start - prefix.length };
}
