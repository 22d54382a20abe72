// The form in which a question asks for its answer: a percentage, a unit, a scale. Nothing else
// of a question changes a verdict but the numbers that it gives (last-value.ts) and the choices that it lists (choices.ts).

import { equal } from '../base/rational.ts';
import { type Unit, unitOf } from './unit-words.ts';
import { remembered } from '../base/remembered.ts';

const ASKS = /\b(?:how|what|which|find|compute|determine|calculate|express|give)\b/i;
/** The sentences of a question that ask. */
const asking = (question: string): string =>
  question
    .split(/[.!?]/)
    .filter((sentence) => ASKS.test(sentence))
    .join(' . ');

export const asksPercent = (question: string): boolean => /percent|%/i.test(asking(question));

const UNIT = String.raw`(?:(?:square|cubic|sq)\s+)?[A-Za-z]+(?:\s?(?:\/|\bper\b)\s?[A-Za-z]+)?(?:[²³]|\^\d)?`;
const ASKED = new RegExp(
  String.raw`\b(?:how many|number of|in)\s+(?:(?:extra|total|more|additional|fewer|full|whole)\s+)?(${UNIT})(?![A-Za-z])`,
  'gi',
);
/** The unit that the question names for its answer: "How many minutes", "in square meters"; undefined without one or of several. */
export const askedUnit = remembered((question: string): Unit | undefined => {
  const units = [...asking(question).matchAll(ASKED)]
    .map(([, phrase = '']) => unitOf(phrase))
    .filter(({ dimension, unknown, nouns }) => dimension !== '' && unknown.length + nouns.size === 0);
  const [unit] = units;
  return unit && units.every((u) => u.dimension === unit.dimension && equal(u.factor, unit.factor)) ? unit : undefined;
});

/** Has a value a unit of another kind than the question asks for: 5 km for hours? Meters per hour are meters. */
export function isOtherKind(own: Unit, wanted: Unit | undefined): boolean {
  return wanted !== undefined && own.dimension !== '' && !own.dimension.includes(wanted.dimension);
}

const SCALE =
  /\bhow many (?:more |additional |total )?(dozen|score|hundred|thousand|million|billion)s?(?:\s+(?:of\s+)?([a-z]{3,}))?/i;

/** "How many dozen eggs": of `7 dozen eggs` the 7. */
export function withoutAskedScale(said: string, question: string): string | undefined {
  const scale = SCALE.exec(question)?.[1]?.toLowerCase();
  const at = scale === undefined ? -1 : said.toLowerCase().indexOf(scale);
  return at > 0 && /\d/.test(said) ? said.slice(0, at).replace(/\\(?:text|mathrm)\s*\{\s*$|[\s~\\]+$/g, '') : undefined;
}
