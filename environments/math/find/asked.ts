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
  ['greater above over exceeding', 'less below under fewer'],
  ['mean average', 'median', 'mode', 'variance', 'range'],
  ['gcd gcf hcf', 'lcm'],
  ['sum', 'product', 'difference'],
  ['slope gradient', 'intercept'],
  ['numerator', 'denominator'],
  ['determinant', 'trace', 'rank', 'nullity'],
  ['sin sine', 'cos cosine', 'tan tangent'],
  ['interest', 'amount', 'principal'],
  ['cost', 'change', 'profit', 'revenue'],
  ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'],
].map((family) => family.map((names) => new Set(names.split(' '))));

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];
const NAME = /(?<!\p{L})\p{Lu}\p{Ll}{2,}/gu;
const nobody = (): boolean => false;
const stem = (word: string): string =>
  word
    .toLowerCase()
    .replace(/(?:ies|es|s|e)$/, '')
    .replace(/y$/, '');

/** The contrary of a word of the question: the circumference where the area is asked. */
export function namesContrary(said: string, question: string): boolean {
  const [own, wanted] = [new Set(wordsOf(said)), new Set(wordsOf(askedOf(question)))];
  const holds = (words: ReadonlySet<string>, names: ReadonlySet<string>): boolean =>
    [...names].some((name) => words.has(name));
  return FAMILIES.some((family) => {
    const [mine, theirs] = [own, wanted].map((words) => family.filter((names) => holds(words, names)));
    return (theirs?.length ?? 0) > 0 && (mine?.length ?? 0) > 0 && !mine?.some((names) => theirs?.includes(names));
  });
}

/** `subject`: the words before the value up to the verb. */
export function namesOther(subject: string, question: string, open = false): boolean {
  const asked = askedOf(question);
  const [own, wanted] = [new Set(wordsOf(subject)), new Set(wordsOf(asked))];
  if (namesContrary(subject, question)) return true;
  const people = [...new Set(question.match(NAME))]
    .map((name) => name.toLowerCase())
    .filter((name) => !isCommon(name, nobody));
  const [who, whom] = [people.filter((name) => own.has(name)), people.filter((name) => wanted.has(name))];
  if (who.length > 0 && whom.length > 0 && !who.some((name) => whom.includes(name))) return true;
  if (/[=⟦]/.test(subject)) return false;
  if (!open) {
    const given = new Set(question.match(/\d[\d.,]*(?<![.,])/g));
    const words = new Set(wordsOf(question).map((word) => numberWord(word)));
    return [...subject.matchAll(/(?<![\d.,])\d[\d.,]*(?<![.,])/g)].some(
      ([number]) => !given.has(number) && !words.has(number),
    );
  }
  // A number that was computed before is known: only another one of the asked thing counts.
  return [...subject.matchAll(COUNTED)].some(([, number, noun = '']) => {
    const others = [...asked.matchAll(COUNTED)].filter(([, , thing = '']) => stem(thing) === stem(noun));
    return others.length > 0 && !others.some(([, other]) => other === number);
  });
}
/** "10 workers", "the 9th term" */
const COUNTED = /(?<![\d.,])(\d[\d.,]*(?<![.,]))(?:\s?(?:st|nd|rd|th)(?!\p{L}))?[\s-]+(\p{L}{3,})/gu;

/** "How many dozen eggs" asks for dozens, and no eggs. */
export const SCALED = /\bhow many (dozen|score|hundred|thousand|million|billion)s?(?:\s+(?:of\s+)?([a-z]{3,}))?/i;

/** "How many dimes are there?" is not answered by "25 nickels", where the question speaks of nickels as well. */
export function countsOther(counted: string, question: string): boolean {
  const asked = askedOf(question);
  const dozens = SCALED.exec(asked)?.[2];
  if (dozens !== undefined && stem(dozens) === stem(counted)) return true;
  if (!/\bhow many\b/i.test(asked) || !/^\p{L}{3,}$/u.test(counted)) return false;
  const word = stem(counted);
  const among = (text: string): boolean => wordsOf(text).some((one) => stem(one) === word);
  const [, noun = ''] = /\bhow many (?:more |of the )?(\p{L}+s|people|men|women|children)\b/iu.exec(asked) ?? [];
  const wanted = noun === '' ? '' : stem(noun);
  const before = question.slice(0, question.indexOf(asked));
  return among(question) && !among(asked) && wordsOf(before).some((one) => stem(one) === wanted);
}

const MOST = /\b(?:max(?:imum|imal|imize)?|most|largest|greatest|highest|longest|biggest|at most|up to)\b/i;
const LEAST = /\b(?:min(?:imum|imal|imize)?|least|smallest|fewest|lowest|shortest)\b/i;
/** "At most 11" is the largest number, where that is asked for. */
export function withoutBound(words: string, question: string): string {
  const up = /\b(?:at (?:the )?most|up to|as many as|no more than)\b/gi;
  const down = /\b(?:at (?:the )?least|no (?:fewer|less) than)\b/gi;
  if (question === '' || !/\b(?:at|up|as|no)\s/i.test(words)) return words;
  const asked = askedOf(question);
  return words.replace(MOST.test(asked) ? up : NEVER, 'is').replace(LEAST.test(asked) ? down : NEVER, 'is');
}
const NEVER = /(?!)/g;

const SHIFT =
  /\b(?:ago|from now|later|earlier|hence|in (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?:years?|months?))\b/i;
const CHANGE =
  /\b(?:increas|decreas|grow|gr[eo]w|ris|rose|drop|f[ae]ll|shr[iu]nk|reduc|chang|gain|differ|exceed)\p{L}*\s+by\s*$/iu;
/** "The volume increases by 6" where the volume is asked, "Ben will be 21 in nine years" where his age is. */
export const changesOther = (before: string, question: string): boolean =>
  CHANGE.test(before) &&
  !/\b(?:increas|decreas|grow|chang|gain|drop|rais|rise|reduc|differ|percent|exceed|more|less|by how)/i.test(
    askedOf(question),
  );
export const shiftsOther = (sentence: string, question: string): boolean =>
  SHIFT.test(sentence) && !SHIFT.test(askedOf(question));

const RATE = /\b(?:per\s+(\p{L}{3,})|(?:an?|each|every)\s+(second|minute|hour|day|week|month|year))\b/iu;
/** "$1,800 a week" where the earnings of 4 weeks are asked. */
export function ratesOther(rest: string, question: string): boolean {
  const [, per, each] = RATE.exec(rest) ?? [];
  const noun = (per ?? each)?.toLowerCase();
  if (noun === undefined) return false;
  const asked = askedOf(question).toLowerCase();
  if (/\b(?:speed|rate|pace|fast|velocity|averages?)\b|\/|\b(?:hour|dai|week|month|year)ly\b/.test(asked)) return false;
  return !new RegExp(`\\b(?:per|an?|each|every)\\s+(?:[\\p{L}\\d-]+\\s+|\\d+-)?${noun}`, 'u').test(asked);
}
