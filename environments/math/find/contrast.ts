// Does a statement speak of another thing than the question asks for? Things exclude each other by a table (Monday and Tuesday, width and
// length, bought and sold) or because the question sets them side by side (machine A and machine B, "36 rolls and 24 buns"). A statement
// that names one of such a set has to name one that the asked clause names as well. Linear in the sentence.

import { LOSSES } from '../read/contrasts.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { stopped } from './obstacle.ts';
import {
  isKind,
  isPreposition,
  type Named,
  namedIn,
  QUANTITY_ROW,
  STOP,
  type Token,
  tokensOf,
  verbsIn,
} from './named.ts';
import { type Asked, readQuestion } from './question.ts';
import { NOUN } from './sentence.ts';

const COUNTS =
  /\bhow (?:many(?! (?:us |more |total )?(?:dollars?|cents?|euros?|pounds?|rupees?|yen|yuan|pesos?|bucks))|far|old|tall|long)\b/i;
const COMPARES = /\b(?:more|fewer|less|differ\p{L}*|than)\b/iu;
const TOTAL = /\b(?:together|both|altogether|combined|in all|in total|total|overall)\b/i;
/** "both bonuses" joins no persons. */
const TOGETHER = /\b(?:together|both(?! \p{L}+s\b)|combined|they)\b/iu;
const LEFT = /\b(?:left|remain(?:s|ed)?|still (?:has|have|had|to))\b/i;
const SHIFTED = /\bwill\b.*\b(?:in|after)\b|\b(?:ago|from now|later|in \d+ (?:years?|months?|weeks?|days?))\b/i;

const no = (rule: string, said: string): true => !stopped(rule, said);
type Some = ReadonlySet<number> | undefined;
const meets = (own: Some, theirs: Some): boolean => [...(own ?? [])].some((group) => theirs?.has(group));

/** `said`: adjuncts, a semicolon, and the clause with a sign in the place of its value. `open`: the value was computed before. */
export function speaksOfAnother(said: string, question: string, value: string, open: boolean): boolean {
  const asked = readQuestion(question);
  const tokens = tokensOf(said);
  const clause = tokens.slice(tokens.findIndex(({ word }) => word === ';') + 1);
  const compares = COMPARES.test(asked.text);
  const behind = clause.slice(clause.findLastIndex(({ word }) => word === NOUN) + 1);
  const longer = behind.some(({ word, written }) => /^\p{Ll}{2,}er$/u.test(written) && asked.wanted.has(word));
  if (
    !open &&
    compares &&
    !longer &&
    !COMPARES.test(said) &&
    !/\b(?:extra|additional|by|beats?|ahead|behind)\b/i.test(said)
  ) {
    const held = tokens.filter(({ word }) => asked.words.has(word) && !isPreposition(word));
    if (held.length > 2) return no('no comparison', said);
  }
  if (!compares && /⟦.*\bthan\b/.test(said)) return no('a comparison', said);
  if (/^[$€£]\s?\d[^$]*$/.test(value) && COUNTS.test(asked.text)) return no('money', said);
  return (
    namesOtherIn(tokens, said, asked, open) ||
    (!open && isOtherNumber(clause, asked) && no('another number', said)) ||
    (!(open && /\bto find\b|\b(?:total|combined|together)\b/.test(said)) &&
      isOtherQuantity(clause, asked) &&
      no('another quantity', said)) ||
    (!open && (isOtherDeed(said, clause, asked) || isTotal(said, tokens, asked))) ||
    (isOtherTime(said, asked.text) && no('another time', said))
  );
}

/** Does a part of a sentence name another person, thing, time or kind? */
export const namesOther = (said: string, question: string): boolean =>
  namesOtherIn(tokensOf(said), said, readQuestion(question));

function namesOtherIn(tokens: readonly Token[], said: string, asked: Asked, open = false): boolean {
  const words = new Set(tokens.flatMap(({ word, written }) => [word, written]));
  const [compares, total] = [COMPARES.test(asked.text), TOTAL.test(asked.text)];
  const missing = asked.content.some((word) => !words.has(word));
  const person = asked.names.some((name) => asked.wanted.has(name));
  // "she" is no other one than Anna.
  const own = namedIn(person || open ? tokens.filter(({ word }) => !/^(?:he|she)$/.test(word)) : tokens);
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
    if (!open && theirs.length === 0 && total && mine.length < set.length) return no('one of them', said);
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

/** "The 9th term" where the 10th is asked for. */
function isOtherNumber(clause: readonly Token[], asked: Asked): boolean {
  const value = clause.findLastIndex(({ word }) => word === NOUN);
  const before = clause.slice(0, Math.max(0, value));
  if (before.some(({ word }) => word === '=' || word === NOUN)) return false;
  return before.some(({ word }) => /^\d/.test(word) && !asked.numbers.has(word));
}

/** Any quantity may be called so. */
const ANY =
  /^(?:the|answer|result|valu|total|amount|quantity|solution|it|this|that|sum|final|trip|⟦|\d.*|figur|\p{L}|there)$/u;
const LINKS = /^(?:is|are|was|wer|be|equal|=|:|hav|measur|cost|weigh)$/;
const until = (tokens: readonly Token[], isEnd: (token: Token, k: number) => boolean): readonly Token[] => {
  const end = tokens.findIndex(isEnd);
  return end < 0 ? tokens : tokens.slice(0, end);
};

const NUMBERS = /^(?:integer|number|prim|divisor|factor|digit|root|solution|valu)/;

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
  const theirs =
    (isLength ? undefined : asked.headed.get(QUANTITY_ROW)) ??
    (asked.measures ? undefined : asked.named.get(QUANTITY_ROW));
  if (own && theirs) return !meets(own, theirs);
  const noun = subject.at(-1);
  if (!noun || asked.wanted.has(noun.word)) return false;
  if (/[\\$^+*/]/.test(asked.text) && !(own && noun.word === 'sum')) return false;
  if (own)
    return (
      (asked.counted !== undefined || /^(?:what (?:is|was|are|were)|find|determine|compute) the /i.test(asked.text)) &&
      namedIn([noun]).has(QUANTITY_ROW) &&
      !(noun.word === 'sum' && asked.counted !== undefined && !NUMBERS.test(asked.counted))
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

/** "sold" where it is asked how many were bought, "has … left" where it is asked how many were given away. */
function isOtherDeed(said: string, tokens: readonly Token[], { text, words, verbs, counted }: Asked): boolean {
  const own = verbsIn(tokens).filter(
    (word) => words.has(word) && !(/\bare there\b/.test(text) && /^(?:keep|own|hold|contain|rais)$/.test(word)),
  );
  const has = /\bha(?:ve|s|d)\b/i;
  if (own.length > 0 && !own.some((verb) => verbs.includes(verb)))
    if (verbs.length > 0 || counted !== undefined || has.test(text)) return no('another deed', said);
  if (own.length === 0 && (has.test(said) || /\b(?:keeps?|kept)\b/.test(said)))
    if (verbs.some((verb) => LOSSES.has(verb))) return no('a loss', said);
  if (LEFT.test(text)) return !LEFT.test(said) && own.length > 0 && no('no rest', said);
  return (
    LEFT.test(said) &&
    verbs.length > 0 &&
    !/\b(?:remain|still|rest|over|end|now|after)/i.test(text) &&
    no('a rest', said)
  );
}

/** "Together they have …" where one of them is asked for. */
function isTotal(said: string, tokens: readonly Token[], { text, wanted, names, sets, named, given }: Asked): boolean {
  if (!TOTAL.test(said) && !TOGETHER.test(said)) return false;
  if (TOTAL.test(text) || /\bthey\b/i.test(text)) return false;
  const single = /\b(?:he|she)\b/.test(text) || sets.some((set) => set.filter((name) => wanted.has(name)).length === 1);
  const several = names.filter((name) => tokens.some(({ word }) => word === name)).length > 1;
  if (single && (several || TOGETHER.test(said))) return no('a total', said);
  const own = namedIn(tokens);
  return TOTAL.test(said) && isNarrowed(named, given, own) && no('a total', said);
}
/** The question names several of a kind, the asked clause one, and the statement none. */
const isNarrowed = (named: Named, given: Named, own: Named): boolean =>
  [...named].some(
    ([row, groups]) => isKind(row) && groups.size === 1 && (given.get(row)?.size ?? 0) > 1 && !own.has(row),
  );

/** "is" where it is asked what will be, "will be" where it is asked what is. */
const isOtherTime = (said: string, asked: string): boolean =>
  SHIFTED.test(asked)
    ? !SHIFTED.test(said) &&
      !/\bthen\b/i.test(said) &&
      /\b(?:is|are|now|currently)\b/i.test(said) &&
      /\b(?:old|age)\b/i.test(asked)
    : (SHIFTED.test(said) || /\bwill then\b/i.test(said)) && !/\b(?:will|after|when|by|until|next)\b/i.test(asked);

/** The contrary of a word of the question: the circumference where the area is asked. */
export function namesContrary(said: string, question: string): boolean {
  const { headed } = readQuestion(question);
  return [...namedIn(tokensOf(said))].some(([row, groups]) => headed.has(row) && !meets(groups, headed.get(row)));
}
