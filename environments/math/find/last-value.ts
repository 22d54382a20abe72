// The last value that running text states: a formula or a number. Numbers of the question behind it, a restatement in brackets
// and a check at the end are passed over. Of a solution the last value counts as it stands. Linear.

import { afterwards } from './afterwards.ts';
import { namesBefore } from './around-box.ts';
import { speaksAgainst } from './explanation.ts';
import type { Known } from './known.ts';
import { lastNumber } from './numbers-in-text.ts';
import { blank, type Extraction } from './phrases.ts';
import { mathSegments, type Segment } from './segments.ts';
import { isStated } from './statement.ts';
import { PLACE, withTail } from './tail.ts';
import { isUnitWord } from '../read/unit-words.ts';

/** A smallest or largest value may say where it is taken: of other values "when" is a condition. */
const EXTREMUM =
  /\b(?:minimum|maximum|min|max|smallest|largest|least|greatest)\b[^.\n]{0,300}(?:\.\d[^.\n]{0,60})?\.?\s*$/i;

/**
 * The last formula or number. A formula that is only a name does not count if a value stands anywhere. `marked`: the text was named
 * as the answer.
 */
export function lastValue(source: string, known?: Known, marked = false): Extraction | undefined {
  const text = source.slice(-60_000);
  const { text: shown, also } = known ? withoutAsides(withoutCheck(text, known)) : { text, also: [] };
  // "The minimum is 6, attained at x = 2." says 6.
  const tail = shown
    .replace(
      /(?:,\s(?:since|as|attained|achieved|reached)|,?\s(?:because))\s[^.\n]{0,200}\.?\s*$/,
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
    if (number && number.start > segment.start) break;
    if (isNameOnly(segment.content) && (number || segments.some((s) => !isNameOnly(s.content)))) continue;
    if (!stated(tail, segment, known, marked)) return undefined;
    const about = { equation: segment.content, named: namesBefore(tail, segment.start) };
    return { text: joined(tail, segments, k), by: 'formula', also, about };
  }
  const behind = number && known ? afterEquals(plain, number, known, marked) : undefined;
  if (behind && number) return { ...behind, text: withTail(behind.text, tail, number.end), also };
  const own = number && known ? notGiven(plain, number, known) : undefined;
  const found = own && stated(tail, own, known, marked) ? own : number;
  if (!found || (found !== own && !stated(tail, found, known, marked))) return undefined;
  const about = { equation: found.content, named: namesBefore(tail, found.start) };
  return { text: withTail(found.content, tail, found.end), by: 'number', also, about };
}

/** "Change = $20.00 − $12.50 = $7.50", "207 - 17 = 190 jars": the last link of a chain in plain text, which the one before it has to equal. */
function afterEquals(text: string, number: Segment, known: Known, marked: boolean): Extraction | undefined {
  const line = text.slice(text.lastIndexOf('\n', number.end - 1) + 1, number.end);
  const sentence =
    line.split(/[.;?]\s+|!\s+(?=\p{Lu})|,\s+(?:so|hence|thus|therefore|then|and)\s+|\bso\s+/u).at(-1) ?? '';
  const [, before = '', value = ''] = /^(.*)=\s*([^=]{1,40})$/.exec(sentence) ?? [];
  const first = before.split('=')[0] ?? '';
  if (value === '' || !/^[-−]?[$€£]?\d[\d.,/]*%?$/.test(value)) return undefined;
  // A word, or a function of numbers, or numbers alone stand before the first sign: no letter.
  if (number.content.includes(' , ') || !(WORDED.test(first) || !/\p{L}/u.test(first.replace(MEASURED, ''))))
    return undefined;
  const start = number.end - value.length;
  if (!stated(text, { content: value, start, end: number.end, kind: 'number' }, known, marked)) return undefined;
  const link = before.split('=').at(-1) ?? '';
  const chain = /\p{L}{2}/u.test(link) ? undefined : link;
  return { text: value, by: 'number', about: { equation: sentence, named: true }, chain };
}

/** The answer where the whole text is a chain: "20 + 4 = 24 trailing zeros". */
export function lastLink(text: string, known: Known): Extraction | undefined {
  const number = /=[^=]*\p{L}{2}|\p{L}{2}[^=]*=|\d\s?\p{L}/u.test(text) ? lastNumber(text) : undefined;
  const found = number && afterEquals(text, number, known, false);
  return found && number && { ...found, text: withTail(found.text, text, number.end) };
}
const MEASURED = /(?<=\d\s?)(?:[kcm]?m|k?g|h|s|m?L|km\/h|m\/s)[²³]?(?!\p{L})/gu;
const WORDED = /\p{L}{2}(?:\([\d\s,]+\))?\s*$/u;

/** "75 minutes to drain 180 gallons": the number before one that the question gives, in the same sentence. */
function notGiven(text: string, last: Segment, known: Known): Segment | undefined {
  let at: Segment | undefined = last;
  for (let n = 0; n < 3 && at && known.gives?.(at.content); n++) {
    const before: Segment | undefined = lastNumber(text.slice(0, at.start));
    if (!before || /[.!?;:](?:\s|$)|\n/.test(text.slice(before.end, at.start))) return undefined;
    at = before;
  }
  return at === last ? undefined : at;
}

const CHECK =
  /(?:^|[.!]\s+|\n\s*)(?:check(?:ing)?|verif(?:y|ying|ication)|to (?:double[- ]?)?(?:check|verify)|let(?:[’']s| us| me) (?:double[- ]?)?(?:check|verify))\b[^\n]*$/i;

/** A check behind the statement is none itself, unless it concludes something. */
function withoutCheck(text: string, known: Known): string {
  const check = CHECK.exec(text.slice(-1_000).trimEnd())?.[0];
  if (check === undefined || /\b(?:so|therefore|hence|thus|answer|but|actually)\b/i.test(check)) return text;
  const before = text.trimEnd().slice(0, -check.length);
  return /\d/.test(before) && !speaksAgainst(check.replace(/^[\s.!]+/, ''), known, before) ? `${before}.` : text;
}

const ASIDE =
  /(?<=[\d½⅓¼¾][°%π²³)]{0,3}(?:\s\p{L}{2,20}){0,2})\s\((or |≈ ?|about |approximately |i\.?e\.?,? |that is,? )?([^()\n]{1,60})\)/gu;

/** "75 minutes (1 hour 15 minutes)", "36π (≈ 113.1)": the same value once more. */
function withoutAsides(text: string): { readonly text: string; readonly also: readonly string[] } {
  const also: string[] = [];
  const shown = text.replace(ASIDE, (all, lead: string | undefined, aside: string) => {
    const words = aside.match(/\p{L}{2,}/gu) ?? [];
    if (
      !/^(?:\d|[$€£])[^,]*$/.test(aside) ||
      !words.every((word) => isUnitWord(word) || /^(?:square|cubic|and|per)$/.test(word))
    )
      return all;
    if (!/≈|about|approximately/.test(lead ?? '')) also.push(aside);
    return '';
  });
  return { text: shown, also };
}

/** An unmarked value counts where a sentence states it, or on a line of its own; without `known` the text is a solution's. */
function stated(text: string, { start, end, content }: Segment, known?: Known, marked = false): true | undefined {
  if (known === undefined) return true;
  const last = Math.max(end, text.startsWith(content, start) ? start + content.length : 0);
  const before = text.slice(Math.max(0, start - 40), start);
  const enumerated =
    /(?:^|\n)[ \t]*$/.test(before) && before.includes('\n') && /^[.)] +[A-Za-z]/.test(text.slice(end, end + 8));
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
