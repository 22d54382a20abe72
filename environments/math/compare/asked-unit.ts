// The unit that a question asks for, and whether an answer has another one: 20 hours for minutes, 15 boys for girls, 7 cm for an area.
// Reads a short text.

import { countsAnother, countsThings } from '../find/contrast.ts';
import { askedOf, SCALED } from '../find/asked.ts';
import { equal } from '../rational.ts';
import { type Unit, unitOf } from '../read/unit-words.ts';
import { remembered } from '../remembered.ts';

const unitIn = (phrase: string): Unit =>
  unitOf(
    phrase.replace(/\bdegrees?\s+(celsius|fahrenheit|[CF])(?![A-Za-z])/gi, (_, scale: string) =>
      scale[0]?.toUpperCase() === 'C' ? 'celsius' : 'fahrenheit',
    ),
  );

/** The question asks for another unit, or for another thing that it counts: 20 hours for minutes, 15 boys for girls. */
export function isOtherUnit(phrase: string, question: string): boolean {
  const own = question === '' ? undefined : unitIn(phrase);
  if (!own) return false;
  if ((own.dimension !== '' && countsThings(question)) || isOtherPower(own.nouns, question)) return true;
  if (own.dimension === '') return [...own.nouns].some((noun) => countsAnother(noun, question));
  const wanted = askedUnit(question);
  if (wanted?.dimension === own.dimension) return !equal(wanted.factor, own.factor);
  if (wanted && !own.dimension.includes(wanted.dimension)) return true;
  if (!wanted && isOtherKind(own.dimension, question)) return true;
  const asked = [...question.matchAll(UNIT_PHRASE)]
    .filter(([said]) => !/^(?:in|a|at|as|us)$/i.test(said))
    .map(([said]) => unitOf(said.replaceAll('$', 'dollars')))
    .filter(({ dimension }) => dimension === own.dimension);
  return asked.length > 0 && !asked.some(({ factor }) => equal(factor, own.factor));
}
/** "cubic units" for an area, "square units" for a volume. */
const isOtherPower = (nouns: ReadonlySet<string>, question: string): boolean => {
  const asked = askedOf(question);
  return (
    (nouns.has('unit^3') && /\barea\b/i.test(asked)) ||
    (nouns.has('unit^2') && /\bvolume\b/i.test(asked) && !/\barea\b/i.test(asked))
  );
};

/** The unit that a question asks for by name: "How many minutes", "in square meters". */
export const askedUnit = remembered((question: string): Unit | undefined => {
  const said = [...askedOf(question).matchAll(ASKED_UNIT)].map((m) => unitIn(m[1] ?? ''));
  const units = said.filter(({ dimension, unknown, nouns }) => dimension !== '' && unknown.length + nouns.size === 0);
  const [unit] = units;
  return unit && units.every((u) => u.dimension === unit.dimension && equal(u.factor, unit.factor)) ? unit : undefined;
});
const UNIT = String.raw`(?:degrees?\s+(?=celsius|fahrenheit))?(?:(?:square|cubic|sq)\s+)?[A-Za-z]+(?:\s?(?:\/|\bper\b|\ban?(?=\s+(?:second|minute|hour|day|week|year)))\s?[A-Za-z]+)?(?:[²³]|\^\d)?`;
const UNIT_PHRASE = new RegExp(`${UNIT}|[$€£]`, 'g');
const ASKED_UNIT = new RegExp(String.raw`\b(?:how many|number of|in)\s+(${UNIT})(?![A-Za-z])`, 'gi');

/** "The area in square feet is": words before a value that name another unit than the asked one, of any kind that is measured. */
const NAMED_UNIT = new RegExp(String.raw`\bin\s+(${UNIT})\s+(?:is|are|was|equals)\b[^.,;:]*$`, 'i');
export function namesOtherUnit(before: string, question: string): boolean {
  const said = NAMED_UNIT.exec(before)?.[1];
  const [own, wanted] = [said === undefined ? undefined : unitIn(said), askedUnit(question)];
  return !!own && !!wanted && own.dimension === wanted.dimension && !equal(own.factor, wanted.factor);
}

/** The units of the quantities that a question measures. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['area', /^length\^2$/],
  ['volume|capacity', /^length\^3$/],
  ['perimeter|circumference|radius|diameter|distance|height|width|hypotenuse', /^length\^1$/],
  ['mass', /^mass\^1$/],
  ['weight', /^(?:mass|force)\^1$/],
  ['speed|velocity', /\^-1/],
  ['angle', /^(?:angle|radian)\^1$/],
  ['cost|price', /^money/],
  ['probability|ratio', /^$/],
  ['temperature', /^(?:celsius|fahrenheit|temperature|angle)\^1$/],
];
const HEAD = String.raw`\b(?:find|what (?:is|was|are)|compute|calculate|determine)\s+(?:the|its|their)\s+(?:(?:total|surface|lateral|average|minimum|maximum|least|largest|smallest|greatest|shortest|final|initial|new)\s+)*`;
const QUANTITIES = KINDS.map(
  ([names, units]) => [new RegExp(String.raw`${HEAD}(?:${names})\b(?!\s+(?:ratio|per|increase))`, 'i'), units] as const,
);
const HOW: readonly (readonly [RegExp, RegExp])[] = [
  [/\bhow (?:far|tall|wide|deep)\b/i, /^length\^1$/],
  [/\bhow fast\b/i, /\^-1/],
  [/\bhow old\b/i, /^(?:time|month|year)\^1$/],
  [/\bhow much (?:does|do|did|will) [^.?]{1,40} weigh\b/i, /^(?:mass|force)\^1$/],
  [
    /\bhow much (?:money\b|(?:does|do|did|will) [^.?]{1,40} (?:cost|pay|earn)\b)|\bwhat does [^.?]{1,40} cost\b/i,
    /^money|^mass\^1$/,
  ],
];

/** 7 cm for an area, 8 kg for "how tall". */
function isOtherKind(dimension: string, question: string): boolean {
  const asked = askedOf(question);
  const kinds = [...QUANTITIES, ...HOW].filter(([form]) => form.test(asked)).map(([, units]) => units);
  return kinds.length === 1 && !kinds.some((units) => units.test(dimension)) && !/\bhow many\b/i.test(asked);
}

/** "How many dozen eggs": of `7 dozen eggs` the 7. */
export function withoutAskedScale(said: string, question: string): string | undefined {
  const [, scale = '', noun = ''] = SCALED.exec(askedOf(question)) ?? [];
  const form =
    /^([^A-Za-z]*?(?:\\[dt]?frac[^A-Za-z]*)?)\s*(?:\\(?:text|mathrm)\s*\{\s*)?([a-z]+?)s?(?:\s+(?:of\s+)?([a-z]+))?\s*\}?[\s.]*$/i;
  const [, value = '', own = '', thing = noun] = form.exec(said.replace(/\s+/g, ' ')) ?? [];
  const isAsked =
    scale !== '' && own.toLowerCase() === scale.toLowerCase() && thing.toLowerCase() === noun.toLowerCase();
  return isAsked && /\d/.test(value) ? value.replace(/\\[ ,;]?\s*$/, '') : undefined;
}
