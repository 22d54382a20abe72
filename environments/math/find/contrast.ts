// Does a statement speak of another thing than the question asks for? Things exclude each other by a table (Monday and Tuesday, width and
// length, bought and sold) or because the question sets them side by side (machine A and machine B, "36 rolls and 24 buns"). A statement
// that names one of such a set has to name one that the asked clause names as well. Linear in the sentence.

import { isUnitWord } from '../read/unit-words.ts';
import { stopped } from './obstacle.ts';
import {
  type Asked,
  isPreposition,
  namedIn,
  QUANTITY_ROW,
  readQuestion,
  STOP,
  type Token,
  tokensOf,
} from './question.ts';
import { NOUN } from './sentence.ts';

const COMPARES = /\b(?:more|fewer|less|differ\p{L}*|than)\b/iu;
const TOTAL = /\b(?:together|both|altogether|combined|in all|in total|total|overall)\b/i;

const no = (rule: string, said: string): true => !stopped(rule, said);
type Some = ReadonlySet<number> | undefined;
const meets = (own: Some, theirs: Some): boolean => [...(own ?? [])].some((group) => theirs?.has(group));

/** `said`: adjuncts, a semicolon, and the clause with a sign in the place of its value. */
export function speaksOfAnother(said: string, question: string): boolean {
  const asked = readQuestion(question);
  const tokens = tokensOf(said);
  const clause = tokens.slice(tokens.findIndex(({ word }) => word === ';') + 1);
  const compares = COMPARES.test(asked.text);
  if (compares && !COMPARES.test(said) && !/\b(?:extra|additional|by|beats?|ahead|behind)\b/i.test(said)) {
    const held = tokens.filter(({ word }) => asked.words.has(word) && !isPreposition(word));
    if (held.length > 2) return no('no comparison', said);
  }
  return isOtherQuantity(clause, asked) && no('another quantity', said);
}

/** Does a part of a sentence name another person, thing, time or kind? */
export const namesOther = (said: string, question: string): boolean =>
  namesOtherIn(tokensOf(said), said, readQuestion(question));

function namesOtherIn(tokens: readonly Token[], said: string, asked: Asked): boolean {
  const words = new Set(tokens.flatMap(({ word, written }) => [word, written]));
  const [compares, total] = [COMPARES.test(asked.text), TOTAL.test(asked.text)];
  const missing = asked.content.some((word) => !words.has(word));
  const person = asked.names.some((name) => asked.wanted.has(name));
  // "she" is no other one than Anna.
  const own = namedIn(person ? tokens.filter(({ word }) => !/^(?:he|she)$/.test(word)) : tokens);
  for (const [row, groups] of own) {
    if (row === QUANTITY_ROW) continue;
    const [theirs, given] = [asked.named.get(row), asked.given.get(row)];
    if (theirs && !meets(groups, theirs)) return no('another kind', said);
    const fewer = groups.size < (theirs?.size ?? 0);
    if (fewer && !compares && isJoined(asked.clause, (one) => namedIn([one]).has(row))) return no('a part', said);
    if (!theirs && given && given.size > 1 && meets(groups, given) && (total ? groups.size < given.size : missing))
      return no('one of several', said);
  }
  for (const set of asked.sets) {
    const [mine, theirs] = [words, asked.wanted].map((held) => set.filter((name) => held.has(name)));
    if (!mine || !theirs || mine.length === 0) continue;
    if (theirs.length > 0 && !mine.some((name) => theirs.includes(name)) && !isAntecedent(mine, asked))
      return no('another thing', said);
    if (theirs.length === 0 && total && mine.length < set.length) return no('one of them', said);
    if (mine.length < theirs.length && !compares && isJoined(asked.clause, ({ word }) => theirs.includes(word)))
      return no('a part', said);
  }
  return false;
}

/** "he" of the asked clause may be anybody who stands at the head of a sentence. */
const isAntecedent = (names: readonly string[], { all, clause }: Asked): boolean =>
  clause.some(({ word }) => /^(?:he|she|they|it)$/.test(word)) &&
  all.some(({ word }, k) => names.includes(word) && /^[.?!,]?$/.test(all[k - 1]?.word ?? ''));

/** "April and May": the asked clause wants all of them. */
function isJoined(clause: readonly Token[], isOne: (token: Token) => boolean): boolean {
  const [first, last] = [clause.findIndex(isOne), clause.findLastIndex(isOne)];
  return clause.some(({ word }, k) => word === 'and' && first < k && k < last && k - first < 4);
}

/** Any quantity may be called so. */
const ANY =
  /^(?:the|answer|result|valu|total|amount|quantity|solution|it|this|that|sum|final|trip|⟦|\d.*|figur|\p{L}|there)$/u;
const LINKS = /^(?:is|are|was|wer|be|equal|=|:|hav|measur|cost|weigh)$/;
const until = (tokens: readonly Token[], isEnd: (token: Token, k: number) => boolean): readonly Token[] => {
  const end = tokens.findIndex(isEnd);
  return end < 0 ? tokens : tokens.slice(0, end);
};

/** The speed where the distance is asked for. */
function isOtherQuantity(tokens: readonly Token[], asked: Asked): boolean {
  const value = tokens.findLastIndex(({ word }) => word === NOUN);
  const before = tokens.slice(0, Math.max(0, value));
  const link = before.findLastIndex(({ word }) => LINKS.test(word));
  const changes = link < 0 && before.some(({ word }) => word === 'by');
  const subject = until(
    changes ? [] : before.slice(0, link < 0 ? undefined : link),
    ({ word }, k) => k > 0 && isPreposition(word),
  );
  const behind = until(tokens.slice(value + 1), ({ word }) => isPreposition(word) || STOP.test(word));
  const said = [...subject, ...(link < 0 ? [] : before.slice(link)), ...behind];
  const own = namedIn(said.filter(({ written }) => !isUnitWord(written))).get(QUANTITY_ROW);
  // "The length of the hypotenuse", "the measure of angle A"
  const isLength = asked.head.some(({ word }) => word === 'length' || word === 'long');
  const theirs = (isLength ? undefined : asked.headed.get(QUANTITY_ROW)) ?? asked.named.get(QUANTITY_ROW);
  if (own && theirs) return !meets(own, theirs);
  const noun = subject.at(-1);
  if (!noun || /[\\$^+*/]/.test(asked.text) || asked.wanted.has(noun.word)) return false;
  if (own)
    return (
      (asked.counted !== undefined || /^(?:what (?:is|was|are|were)|find|determine|compute) the /i.test(asked.text)) &&
      namedIn([noun]).has(QUANTITY_ROW) &&
      !(noun.word === 'sum' && asked.counted !== undefined)
    );
  // "The larger number is" where the product is asked for.
  return (
    theirs !== undefined &&
    /^(?:is|are|was|wer|equal)$/.test(before[link]?.word ?? '') &&
    subject.some(({ word }) => word === 'the') &&
    !subject.some(({ word }) => asked.content.includes(word)) &&
    ![...namedIn(subject)].some(([row, groups]) => meets(groups, asked.named.get(row))) &&
    !(asked.counted !== undefined && noun.word === 'number') &&
    !ANY.test(noun.word)
  );
}

/** The contrary of a word of the question: the circumference where the area is asked. */
export function namesContrary(said: string, question: string): boolean {
  const { headed } = readQuestion(question);
  return [...namedIn(tokensOf(said))].some(([row, groups]) => headed.has(row) && !meets(groups, headed.get(row)));
}
