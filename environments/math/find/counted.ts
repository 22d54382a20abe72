// The thing that a question counts, and whether a number's own words count another: "6 workers" for days, "24 letters" for 3-letter codes,
// "3 mice" for cats. Words of the same meaning and of a wider one count the same thing. Linear; short texts are remembered.

import { lemma } from '../read/contrasts.ts';
import { isFiller, isNoun } from '../read/harmless-words.ts';
import { isVerb } from '../read/statement-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { remembered } from '../remembered.ts';
import { SCALED } from './asked.ts';
import { isPlural, isPreposition, namedIn, QUANTITY_ROW, STOP, type Token, tokensOf } from './named.ts';
import { type Asked, readQuestion } from './question.ts';

/** "How many adult tickets", "the number of socks": the plurals, and the words before them. */
interface Counted {
  readonly things: ReadonlySet<string>;
  readonly beside: ReadonlySet<string>;
  /** Is the question of another language, whose plurals nobody knows? */
  readonly abroad: boolean;
  /** The unit that is asked for: "How many liters of paint". */
  readonly unit: string | undefined;
  /** All that the question counts anywhere: "Let N be the number of ways …". */
  readonly elsewhere: ReadonlySet<string>;
}

const ENDS =
  /^(?:do|is|are|was|wer|can|could|will|would|should|must|may|might|hav|had|did|need|each|he|she|they|it|you|we|i|the|there)$/;
const MOST_WORDS = 6;

const countedIn = remembered((question: string): Counted => {
  const { clause, all } = readQuestion(question);
  const words = phrasesOf(clause);
  const abroad = clause.filter(({ written }, k) => {
    const [before, earlier] = [clause[k - 1], clause[k - 2]];
    const asks = isOf(before) ? earlier : before;
    return MANY_ABROAD.test(asks?.written.toLowerCase() ?? '') && /^(?:\p{L}{3,}s|\p{Lu}\p{L}{2,})$/u.test(written);
  });
  const plurals = [...words.filter(isThing), ...abroad];
  const of = (tokens: readonly Token[]): ReadonlySet<string> => new Set(tokens.map(({ word }) => word));
  const [first] = plurals;
  return {
    things: of(plurals),
    beside: of([...words, ...abroad]),
    abroad: abroad.length > 0,
    unit: first !== undefined && isUnitWord(first.written) ? first.written : undefined,
    elsewhere: of(phrasesOf(all).filter(isThing)),
  };
});
/** "¿Cuántas manzanas …?", "Combien de pommes …?" */
const MANY_ABROAD = /^(?:viele|combien|cu[aá]nt[oa]s|quant[ei]|quant[oa]s|сколько)$/;
const isOf = (token: Token | undefined): boolean => /^(?:de|d)$/.test(token?.written ?? '');
const isThing = ({ written }: Token): boolean => isPlural(written) || (isUnitWord(written) && written.endsWith('s'));

/** "cats catch 100 mice": behind the thing a verb or a number begins something else. */
function upToVerb(phrase: readonly Token[]): readonly Token[] {
  const first = phrase.findIndex(isThing);
  const end = phrase.findIndex(
    ({ word }, k) => k > first && first >= 0 && (isVerb(word) || /^(?:\d.*|catch)$/.test(word)),
  );
  return end < 0 ? phrase : phrase.slice(0, end);
}

function phrasesOf(clause: readonly Token[]): Token[] {
  const words: Token[] = [];
  for (const [k, { word }] of clause.entries()) {
    const before = clause[k - 1]?.word;
    if (!(word === 'many' && before === 'how') && !(word === 'of' && before === 'number')) continue;
    // "How many of the 200 tickets"
    let from = k + 1;
    while (/^(?:of|the|thes|thos|his|her|their|\d.*)$/.test(clause[from]?.word ?? '') && from < k + 4) from++;
    const behind = clause.slice(from, from + MOST_WORDS);
    const end = behind.findIndex((one) => ENDS.test(one.word) || STOP.test(one.word) || isPreposition(one.word));
    const phrase = upToVerb(end < 0 ? behind : behind.slice(0, end));
    words.push(...phrase.filter((one, n) => isPlural(one.written) || !/^\d/.test(phrase[n - 1]?.word ?? '')));
    // "cups of sugar"
    // "How many of the animals are chickens?"
    if (clause[k + 1]?.word === 'of' && /^(?:is|are|was|were?)$/.test(behind[end]?.word ?? ''))
      words.push(...behind.slice(end + 1, end + 2));
    if (behind[end]?.word === 'of') words.push(...behind.slice(end + 1, end + 2));
  }
  return words;
}

const rows = (text: string): readonly ReadonlySet<string>[] =>
  text.split('|').map((row) => new Set(row.trim().split(/\s+/).map(lemma)));

/** Any thing may be called so. */
const ANY = rows('unit thing item object piece element member total different distinct time case number block lap')[0]!;
/** Of each row any may stand for any other. */
const SAME = rows(`
  way arrangement permutation combination choice option selection possibility outcome path route set case sequence order word code string
  number function solution assignment coloring list |
  integer number value solution root zero element | pair triple tuple solution point element quadruple | set subset group |
  game match | kid child | student pupil | picture photo photograph | bike bicycle | cookie biscuit | candy sweet | movie film | gift present |
  chicken hen | region part section area piece | segment line | team group`);
/** Names of many kinds of things, persons apart: each stands for what the question counts, and what the question names for it. */
const WIDE = rows(
  'animal fruit vegetable vehicle flower coin plant insect bird pet toy shape object item thing piece',
)[0]!;
const PERSONS = rows('person people student pupil child kid member friend player')[0]!;
const PEOPLE = rows(
  'person people student pupil child kid member friend player boy girl man woman adult worker guest voter passenger teacher employee visitor',
)[0]!;

/** Say of what kind a thing is. */
const KIND = rows(
  `red blue green yellow white black pink purple brown gold silver small big large new full empty positive negative real complex rational
  irrational whole natural ordered unordered nonzero even odd square cubic cube`,
)[0]!;

/** Of these kinds a question speaks if it counts them. */
const NARROWER = rows(
  'red blue green yellow white black pink purple brown gold silver empty negative complex irrational unordered even odd prime',
)[0]!;

const isSame = (one: string, other: string): boolean =>
  SAME.some((row) => row.has(one) && row.has(other)) || (PERSONS.has(one) && PEOPLE.has(other));

/** Do these words behind a number count another thing than the question? `open`: one that the question names. */
export function countsAnother(said: string, question: string, open = false): boolean {
  const head = headOf(said);
  const narrowed = tokensOf(said).some(({ word }) => NARROWER.has(word) && !readQuestion(question).words.has(word));
  if (narrowed && !countsNothing(question)) return true;
  if (head === undefined) return false;
  const { word: own, written } = head;
  const asked = readQuestion(question);
  const dozens = SCALED.exec(asked.text)?.[2];
  if (dozens !== undefined && lemma(dozens.toLowerCase()) === own) return true;
  if (isUnitWord(written) || ANY.has(own)) return false;
  const { things, beside, unit, abroad } = countedIn(question);
  const isHeld = asked.all.some((one) => one.word === own && (abroad || isPlural(one.written) || isNoun(one.written)));
  if (things.size === 0) return isHeld && asked.headed.has(QUANTITY_ROW);
  // "24 letters" where 3-letter codes are counted.
  if (things.has(own) || beside.has(own)) return false;
  const all = [...things];
  const isSetApart = asked.sets.some((set) => set.includes(own) && all.some((thing) => set.includes(thing)));
  if (isSetApart || isContrary(head, asked)) return true;
  if (all.some((thing) => isSame(own, thing)) || (WIDE.has(own) && !isHeld)) return false;
  const isWide = all.some((thing) => WIDE.has(thing) || (PEOPLE.has(thing) && PEOPLE.has(own)));
  if (!isHeld) return !open && isNoun(written) && !asked.words.has(own) && !isWide;
  return unit !== undefined || !isWide || asked.sets.some((set) => set.includes(own));
}
/** Children where adults are counted. */
const isContrary = (head: Token, { named }: Asked): boolean =>
  [...namedIn([head])].some(([row, groups]) => {
    const theirs = row === QUANTITY_ROW ? undefined : named.get(row);
    return theirs !== undefined && ![...groups].some((group) => theirs.has(group));
  });

/** The last noun before a preposition: of "adult tickets in all" the tickets. */
function headOf(said: string): Token | undefined {
  const words = tokensOf(said);
  const end = words.findIndex(({ word }, k) => k > 0 && (isPreposition(word) || STOP.test(word)));
  return words
    .slice(0, end < 0 ? undefined : end)
    .findLast(
      ({ word, written }) =>
        /^\p{L}{2,}/u.test(word) && !KIND.has(word) && (!isFiller(written.toLowerCase()) || isNoun(written)),
    );
}

/** Does a thing stand behind the number that the question counts nowhere: "3 balls" for a probability? A rate has its own nouns. */
export function namesThing(said: string, question: string): boolean {
  const head = headOf(said);
  if (head === undefined || !isNoun(head.written) || ANY.has(head.word) || /\bper\b|\//.test(said)) return false;
  if (head.word === 'point' && /\b(?:points?|scores?|tests?|exams?|games?)\b/i.test(question)) return false;
  return !isUnitWord(head.written) && !countedIn(question).elsewhere.has(head.word);
}

/** "How many pages" asks for things, and no days or dollars. */
export const countsThings = (question: string): boolean => {
  const { things, unit } = countedIn(question);
  return things.size > 0 && unit === undefined && !things.has('unit') && !SCALED.test(readQuestion(question).text);
};
export const countsNothing = (question: string): boolean => countedIn(question).things.size === 0;
/** "How many total meters": meters. */
export const unitCounted = (question: string): string | undefined => countedIn(question).unit;
