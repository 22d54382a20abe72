// The value that stands last where nothing is marked: the last formula or number of the last sentence that has one. A number that
// the question holds yields to one of the same sentence that it does not hold, unless a calculation ends in it. Linear: the last
// characters of a text are read.

import { percentBehind } from './percent.ts';
import { numbersIn } from './numbers-in-text.ts';
import { unitBehind } from './unit-behind.ts';
import { mathSegments, type Segment } from './segments.ts';

const REACH = 20_000;
/** A sentence ends before a capital, a bracket or emphasis; a point within a number or before a small letter ends none. */
const SENTENCE = /(?<=[.!?][)*"]?)\s+(?=[\p{Lu}[*(\uE000])|(?<=[.!?;])\s+(?=\p{Lo})|\n+|(?<=！)/u;
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
  for (const { start } of sentences(plain).toReversed()) {
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

function sentences(text: string): { readonly start: number }[] {
  const starts = [{ start: 0 }];
  for (const { index, 0: gap } of text.matchAll(new RegExp(SENTENCE, 'gu'))) starts.push({ start: index + gap.length });
  return starts;
}
