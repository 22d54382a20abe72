// The last value that running text states: a formula or a number. Numbers of the question behind it, a restatement in brackets
// and a check at the end are passed over. Of a solution the last value counts as it stands. Linear.

import type { About } from '../compare/subject.ts';
import { afterwards } from './afterwards.ts';
import { namesBefore } from './around-box.ts';
import { calculationIn } from './calculation.ts';
import { namesOther } from './contrast.ts';
import { countsAnother } from './counted.ts';
import { withoutComments } from './comments.ts';
import { speaksAgainst } from './explanation.ts';
import type { Known } from './known.ts';
import { lastNumber } from './numbers-in-text.ts';
import { blank, type Extraction } from './phrases.ts';
import { mathSegments, type Segment } from './segments.ts';
import { isStated } from './statement.ts';
import { PLACE, withTail } from './tail.ts';

/** A smallest or largest value may say where it is taken: of other values "when" is a condition. */
const EXTREMUM =
  /\b(?:minimum|maximum|min|max|smallest|largest|least|greatest)\b[^.\n]{0,300}(?:\.\d[^.\n]{0,60})?\.?\s*$/i;

/**
 * The last formula or number. A formula that is only a name does not count if a value stands anywhere. `marked`: the text was named
 * as the answer.
 */
export function lastValue(source: string, known?: Known, marked = false): Extraction | undefined {
  const text = source.slice(-60_000);
  const { text: shown, beside } = known ? withoutComments(text, known) : { text, beside: { also: [] } };
  // "The minimum is 6, attained at x = 2." says 6.
  const tail = shown
    .replace(
      /(?:,\s(?:since|as|attained|achieved|reached)|,?\s(?:because|since(?=\s[a-z]\s?[<>≤≥≠])))\s(?:[^.\n]|\.\d){0,200}\.?\s*$/,
      (why, at: number) => (known && speaksAgainst(why, known, shown.slice(0, at)) ? why : ''),
    )
    .replace(/\s(?:rather than|instead of)\s+\$?[-\d.,/]+\$?\.?\s*$/, '')
    .replace(EXTREMUM, (m) => m.replace(PLACE, ''));
  const segments = mathSegments(tail);
  const plain = blank(tail, segments, '\n');
  const number = lastNumber(plain);
  for (let k = segments.length - 1; k >= 0; k--) {
    const segment = segments[k];
    if (!segment) break;
    if (number && number.start > segment.start && !isBehind(tail.slice(segment.end, number.start), number, known))
      break;
    if (isNameOnly(segment.content) && (number || segments.some((s) => !isNameOnly(s.content)))) continue;
    if (!stated(tail, segment, known, marked)) {
      if (number && number.start > segment.start) break;
      return undefined;
    }
    const about = (): About => ({ equation: segment.content, named: namesBefore(tail, segment.start) });
    return { text: joined(tail, segments, k), by: 'formula', ...beside, about };
  }
  if (!number) return undefined;
  for (const found of known ? candidates(plain, number, known) : [number]) {
    const behind = known && afterEquals(plain, found, known, marked);
    if (behind) return { ...behind, text: withTail(behind.text, tail, found.end), ...beside };
    if (!stated(tail, found, known, marked)) continue;
    const about = (): About => ({ equation: found.content, named: namesBefore(tail, found.start) });
    return { text: withTail(found.content, tail, found.end), by: 'number', ...beside, about };
  }
  return undefined;
}

/** "Change = $20.00 − $12.50 = $7.50", "207 - 17 = 190 jars": the last link of a chain in plain text, which the one before it has to equal. */
function afterEquals(text: string, number: Segment, known: Known, marked: boolean, led = true): Extraction | undefined {
  const end = number.end + (/^[π%]/.exec(text.slice(number.end, number.end + 1))?.[0].length ?? 0);
  const line = text.slice(text.lastIndexOf('\n', end - 1) + 1, end);
  const [, value = ''] = /=\s*([^=\s][^=]{0,39})$/.exec(line) ?? [];
  if (!/^[-−]?[$€£]?(?:\d[\d.,/]*|\.\d+)?(?:√\d+|π)?(?:\/\d+)?%?$/.test(value) || value === '') return undefined;
  const start = end - value.length;
  const reckoned = calculationIn(text.slice(0, start));
  // The whole text is one.
  const calculated = reckoned && (led || text.slice(0, reckoned.start).trim() === '') ? reckoned : undefined;
  const sentence =
    line.split(/[.;?]\s+|!\s+(?=\p{Lu})|,\s+(?:so|hence|thus|therefore|then|and)\s+|\bso\s+/u).at(-1) ?? '';
  const [, all = ''] = /^(.*)=[^=]*$/.exec(sentence) ?? [];
  const before = led ? all.replace(LEADING, '') : all;
  const first = before.split('=')[0] ?? '';
  // A word, or a function of numbers, or numbers alone stand before the first sign: no letter.
  if (
    number.content.includes(' , ') ||
    !(calculated || WORDED.test(first) || !/\p{L}/u.test(first.replace(MEASURED, '').replace(FUNCTION, '')))
  )
    return undefined;
  if (!stated(text, { content: value, start, end, kind: 'number' }, known, marked)) return undefined;
  if (calculated) return { text: value, by: 'number', chain: calculated.link };
  const link = before.split('=').at(-1) ?? '';
  const chain = /\d/.test(link) && !/\p{L}{2}|:/u.test(link) ? link : undefined;
  return { text: value, by: 'number', about: () => ({ equation: `${before}=${value}`, named: true }), chain };
}

/** The answer where the whole text is a chain: "20 + 4 = 24 trailing zeros". */
export function lastLink(text: string, known: Known): Extraction | undefined {
  const number = /=[^=]*\p{L}{2}|\p{L}{2}[^=]*=|\d\s?\p{L}/u.test(text) ? lastNumber(text) : undefined;
  const found = number && afterEquals(text, number, known, false, false);
  return found && number && { ...found, text: withTail(found.text, text, number.end) };
}
/** The words up to the formula that ends the sentence: "so the radius is √25 = 5". */
const LEADING = /^.*(?<![\\\p{L}])\p{L}{2,}:?\s(?=(?:[^\p{L}\\]|[CP]\()*$)/u;
const MEASURED = /(?<=\d\s?)(?:[kcm]?m|k?g|h|s|m?L|km\/h|m\/s)[²³]?(?!\p{L})/gu;
const FUNCTION = /(?<!\p{L})(?:log|ln|lg|sin|cos|tan|gcd|lcm|sqrt|max|min|det)(?![\p{L}_])/gu;
const WORDED = /\p{L}{2}(?:\([\d\s,]+\))?\s*$/u;

/**
 * The numbers that a last sentence may state. One that the question gives, or that belongs to another person or thing, is passed over:
 * "75 minutes to drain 180 gallons", "Ben gets 25 while Sam has 20".
 */
function candidates(text: string, last: Segment, known: Known): readonly Segment[] {
  const equal = lastRight(text, last);
  if (equal) return [equal, last];
  const found = [last];
  for (let at = last; found.length < 4;) {
    const before = lastNumber(text.slice(0, at.start));
    if (!before) break;
    const between = text.slice(before.end, at.start);
    if (/[.!?;:](?:\s|$)|\n/.test(between)) break;
    if (!known.gives?.(at.content) && !isOthers(between, text.slice(at.end, at.end + 40), known)) break;
    found.push((at = before));
  }
  const own = found.at(-1);
  return own && !known.gives?.(own.content) ? [own, ...found.slice(0, -1)] : found;
}
/** "3 x 60 = 180 for the 60 slices": the right side of the sign of equality, where a mere adjunct holds the number at `end`. */
function lastRight(text: string, { start: end, content }: Segment): Segment | undefined {
  const sentence =
    text
      .slice(Math.max(0, end - 400), end)
      .split(/[.!?;:](?=\s)|\n/)
      .at(-1) ?? '';
  const [all = '', value = '', behind = ''] =
    /=\s{0,3}([-−]?[$€£]?\d[\d.,/]{0,40}(?<![.,/])%?)(?=\s)([^=]*)$/.exec(sentence) ?? [];
  if (value === '' || content.includes('=') || STATES.test(behind)) return undefined;
  const start = end - all.length + all.indexOf(value);
  return { content: value, start, end: start + value.length, kind: 'number' };
}
/** Begins another statement, or a reason. */
const STATES =
  /[,<>≤≥]|\b(?:so|thus|hence|therefore|because|since|while|whereas|but|or|is|are|was|were|has|have|had|gives?|equals?|means?)\b/;
/** A number of the question behind a formula, in the same sentence: "$28$ liters are enough for 350 km". */
const isBehind = (between: string, number: Segment, known: Known | undefined): boolean =>
  !/[.!?;:](?:\s|$)|\n/.test(between) &&
  (known?.gives?.(number.content) === true || (known !== undefined && isOthers(between, '', known)));
/** "… and 13 pelicans", "… while Sam has 20". */
const isOthers = (between: string, behind: string, known: Known): boolean =>
  /\b(?:and|while|whereas|but|to)\b/.test(between) &&
  (namesOther(between, known.question ?? '') ||
    countsAnother(/^ (\p{L}+)/u.exec(behind)?.[1] ?? '', known.question ?? ''));

/** An unmarked value counts where a sentence states it, or on a line of its own; without `known` the text is a solution's. */
function stated(text: string, { start, end, content }: Segment, known?: Known, marked = false): true | undefined {
  if (known === undefined) return true;
  const last = Math.max(end, text.startsWith(content, start) ? start + content.length : 0);
  const before = text.slice(Math.max(0, start - 40), start);
  const enumerated =
    (/(?:^|\n)[ \t]*$/.test(before) && before.includes('\n') && /^[.)] +[A-Za-z]/.test(text.slice(end, end + 8))) ||
    (start === 0 && /^\(\d+\) +\p{Lu}\p{Ll}/u.test(text));
  const bare = /(?<!\b(?:ans|i\.e|e\.g|approx|viz))[.!?][ \t]+$/i.test(before) && !content.includes('=');
  if (enumerated || bare || !isStated(text, start, last, known, marked)) return undefined;
  return afterwards(text, end, content, known).withdrawn ? undefined : true;
}

const isNameOnly = (content: string): boolean =>
  /^\s*\\?[A-Za-z]{1,12}\s*(?:_\{?\w{1,4}\}?)?(?:\s*\([A-Za-z, ]{1,8}\))?\s*$/.test(content);

/** The formula at `k` (or all from it on), with its neighbours that "and", "or" or a comma joins to it. */
function joined(text: string, segments: readonly Segment[], k: number): string {
  let [from, to] = [k, k];
  const touches = (a: Segment | undefined, b: Segment | undefined): boolean =>
    a !== undefined && b !== undefined && /^\s*(?:,|,?\s*(?:and|or))\s*$/i.test(text.slice(a.end, b.start));
  while (from > 0 && touches(segments[from - 1], segments[from])) from--;
  while (to < segments.length - 1 && touches(segments[to], segments[to + 1])) to++;
  const parts = segments.slice(from, to + 1).map((s) => s.content.trim().replace(/[.,;]$/, ''));
  const last = segments[to];
  return last ? withTail(parts.join(' , '), text, last.end) : parts.join(' , ');
}
