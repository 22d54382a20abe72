// The part of a question that asks, and whether a statement names another thing than it does: another person, the contrary
// (the quotient where the remainder is asked), another count, a number that the question does not hold. Linear.

import { numberWord } from '../read/number-words.ts';
import { isCommon } from '../read/statement-words.ts';

const ASKS =
  /\b(?:how (?:many|much|long|far|old|tall|fast|high|big|large)|what|which|who|when|find|compute|evaluate|determine|calculate|simplify|express|factor|give|in terms of)\b/i;

let last: { readonly question: string; readonly asked: string } | undefined;

/** The sentences of a question that ask; all of it, if none does. */
export function askedOf(question: string): string {
  if (last?.question === question) return last.asked;
  const sentences = question.split(/(?<=[.!?])\s+(?=[\p{Lu}$\\])/u).filter((sentence) => ASKS.test(sentence));
  const asking = sentences.map((sentence) => sentence.slice(ASKS.exec(sentence)?.index ?? 0)).join(' ');
  const asked = asking === '' ? question : asking;
  last = { question, asked };
  return asked;
}

/** Of each family an answer names what the question names. */
const FAMILIES = [
  ['quotient', 'remainder', 'divisor'],
  ['area', 'perimeter', 'circumference', 'volume', 'diameter', 'radius', 'diagonal', 'hypotenuse'],
  [
    'maximum largest greatest larger greater bigger biggest highest longest',
    'minimum smallest least smaller lowest shortest',
  ],
  ['mean average', 'median', 'mode', 'variance', 'range'],
  ['gcd gcf hcf', 'lcm'],
  ['sum', 'product', 'difference'],
  ['slope gradient', 'intercept'],
  ['numerator', 'denominator'],
  ['sin sine', 'cos cosine', 'tan tangent'],
  ['interest', 'amount', 'principal'],
  ['cost', 'change', 'profit', 'revenue'],
  ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'],
].map((family) => family.map((names) => new Set(names.split(' '))));

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];
const NAME = /(?<!\p{L})\p{Lu}\p{Ll}{2,}/gu;
const nobody = (): boolean => false;
const stem = (word: string): string => word.toLowerCase().replace(/(?:ies|es|s|y)$/, '');

/** `subject`: the words before the value up to the verb. */
export function namesOther(subject: string, question: string): boolean {
  const asked = askedOf(question);
  const [own, wanted] = [new Set(wordsOf(subject)), new Set(wordsOf(asked))];
  const holds = (words: ReadonlySet<string>, names: ReadonlySet<string>): boolean =>
    [...names].some((name) => words.has(name));
  if (
    FAMILIES.some((family) => {
      const [mine, theirs] = [
        family.filter((names) => holds(own, names)),
        family.filter((names) => holds(wanted, names)),
      ];
      return theirs.length > 0 && mine.length > 0 && !mine.some((names) => theirs.includes(names));
    })
  )
    return true;
  const people = [...new Set(question.match(NAME))]
    .map((name) => name.toLowerCase())
    .filter((name) => !isCommon(name, nobody));
  const [who, whom] = [people.filter((name) => own.has(name)), people.filter((name) => wanted.has(name))];
  if (who.length > 0 && whom.length > 0 && !who.some((name) => whom.includes(name))) return true;
  if (/[=⟦]/.test(subject)) return false;
  const given = new Set(question.match(/\d[\d.,]*(?<![.,])/g));
  const words = new Set(wordsOf(question).map((word) => numberWord(word)));
  return [...subject.matchAll(/(?<![\d.,])\d[\d.,]*(?<![.,])/g)].some(
    ([number]) => !given.has(number) && !words.has(number),
  );
}

/** "How many dimes are there?" is not answered by "25 nickels", where the question speaks of nickels as well. */
export function countsOther(counted: string, question: string): boolean {
  const asked = askedOf(question);
  if (!/\bhow many\b/i.test(asked) || !/^\p{L}{4,}$/u.test(counted)) return false;
  const word = stem(counted);
  const among = (text: string): boolean => wordsOf(text).some((one) => stem(one) === word);
  const [, noun = ''] = /\bhow many (?:more |of the )?(\p{L}+s|people|men|women|children)\b/iu.exec(asked) ?? [];
  const wanted = noun === '' ? '' : stem(noun);
  const before = question.slice(0, question.indexOf(asked));
  return among(question) && !among(asked) && wordsOf(before).some((one) => stem(one) === wanted);
}
