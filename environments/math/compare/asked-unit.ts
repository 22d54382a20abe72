// The unit that a question asks for, and whether an answer has another one: 20 hours for minutes, 15 boys for girls. Reads a short text.

import { askedOf, countsOther } from '../find/asked.ts';
import { equal } from '../rational.ts';
import { type Unit, unitOf } from '../read/unit-words.ts';

/** The question asks for another unit, or for another thing that it counts: 20 hours for minutes, 15 boys for girls. */
export function isOtherUnit(phrase: string, question: string): boolean {
  const own = question === '' ? undefined : unitOf(phrase);
  if (!own) return false;
  if (own.dimension === '') return [...own.nouns].some((noun) => countsOther(noun, question));
  const wanted = askedUnit(question);
  if (wanted?.dimension === own.dimension) return !equal(wanted.factor, own.factor);
  if (wanted && !own.dimension.includes(wanted.dimension)) return true;
  const asked = [...question.matchAll(UNIT_PHRASE)]
    .filter(([said]) => !/^(?:in|a|at|as|us)$/i.test(said))
    .map(([said]) => unitOf(said.replaceAll('$', 'dollars')))
    .filter(({ dimension }) => dimension === own.dimension);
  return asked.length > 0 && !asked.some(({ factor }) => equal(factor, own.factor));
}
/** The unit that a question asks for by name: "How many minutes", "in square meters". */
function askedUnit(question: string): Unit | undefined {
  const said = [...askedOf(question).matchAll(ASKED_UNIT)].map((m) => unitOf(m[1] ?? ''));
  const units = said.filter(({ dimension, unknown, nouns }) => dimension !== '' && unknown.length + nouns.size === 0);
  const [unit] = units;
  return unit && units.every((u) => u.dimension === unit.dimension && equal(u.factor, unit.factor)) ? unit : undefined;
}
const UNIT = String.raw`(?:(?:square|cubic|sq)\s+)?[A-Za-z]+(?:\s?(?:\/|\bper\b|\ban?(?=\s+(?:second|minute|hour|day|week|year)))\s?[A-Za-z]+)?(?:[²³]|\^\d)?`;
const UNIT_PHRASE = new RegExp(`${UNIT}|[$€£]`, 'g');
const ASKED_UNIT = new RegExp(String.raw`\b(?:how many|number of|in)\s+(${UNIT})(?![A-Za-z])`, 'gi');
