// The last statement without a box is a closed world: each word of the clause that holds the value is free, a unit, a word of the clause
// that asks, or another word for one. A thing, person, time, deed, condition or number of another clause of the question, or of nowhere,
// makes it a statement about something else. Other languages than English are left out. Linear in the clause.

import { isForeign, isFree, isGeneric, isPointing, meaningsOf, withoutIdioms } from '../read/free-words.ts';
import { speaksOfAnother } from './contrast.ts';
import {
  type Clause,
  meets,
  otherComparison,
  otherCount,
  otherFunction,
  otherPart,
  otherTerms,
  otherTime,
  otherWay,
  isIntroduced,
  isSameKind,
} from './contradictions.ts';
import { stopped } from './obstacle.ts';
import { LOSSES } from '../read/contrasts.ts';
import { isLink, isVerb } from '../read/statement-words.ts';
import { numberWord } from '../read/number-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { isContrast, isOneOfSeveral, isPreposition, QUANTITY_ROW, STOP, type Token, tokensOf } from './named.ts';
import { type Asked, readQuestion } from './question.ts';
import { NOUN } from './sentence.ts';

/** Questions in English have one. */
export const isClosedWorld = (question: string): boolean => question !== '' && !readQuestion(question).foreign;

const TENS =
  /\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-(?:one|two|three|four|five|six|seven|eight|nine)\b/gi;

/** Is a clause about what the question asks for? `said`: adjuncts, a semicolon, and the clause with a sign in the place of its value. */
export function isAbout(said: string, question: string, value: string, computed = false): boolean {
  if (speaksOfAnother(said, question, value, computed)) return false;
  if (computed) return true;
  const odd = unaccounted(said, question, value);
  return odd === undefined || stopped('a word from elsewhere', `${odd} in ${said}`);
}

/** The first word of `said` for which the asked clause has no place; undefined where all are accounted for. */
function unaccounted(said: string, question: string, value: string): string | undefined {
  const asked = readQuestion(question);
  if (!isClosedWorld(question) || isForeign(said)) return undefined;
  const tokens = tokensOf(
    withoutIdioms(said)
      .replace(/[’'](?:ll|d|ve|re|s|m)\b/gi, ' ')
      .replace(TENS, (all) => numberWord(all.toLowerCase()) ?? all),
  );
  const end = tokens.findIndex(({ word }) => word === ';');
  const adjuncts = tokens.slice(0, Math.max(0, end));
  const clause = ownClause(tokens.slice(end + 1), adjuncts, asked);
  return (
    adjuncts.find(
      ({ word, written }, k) =>
        isNumber(word, written) &&
        isUnitWord(adjuncts[k + 1]?.written ?? '') &&
        !isHeldNumber(written, asked) &&
        !isOnlyMeasure(written, adjuncts[k + 1], asked),
    )?.written ??
    otherCount(clause.tokens, asked) ??
    otherFunction(said, asked) ??
    otherWay(clause.tokens, asked) ??
    otherPart(tokens, asked) ??
    otherComparison(clause.tokens, asked) ??
    otherTime(tokens, asked) ??
    otherTerms(clause, asked) ??
    // "forty-five dollars ($45)"
    clause.tokens.find(
      (token, k) => token.written !== value.replace(/[^\d.]/g, '') && !isAccounted(token, k, clause, asked),
    )?.written
  );
}

/** Without a heading ("Add 3:"), a calculation as its subject ("Dividing by 3 gives") and the steps of one. */
function ownClause(all: readonly Token[], adjuncts: readonly Token[], asked: Asked): Clause {
  const end = all.findLastIndex(({ word }) => word === NOUN);
  // "log(x) = 5 means x = 2^5 ="
  const colon = all.findLastIndex(
    ({ word }, k) =>
      k < end - 1 &&
      (word === ':' || (/^(?:mean|imply)$/.test(word) && [all.slice(0, k), all.slice(k)].every(hasLink))),
  );
  const first = all.findIndex(({ word }, k) => word === '=' && k > colon && k < end);
  const before = withoutMethod(all.slice(colon + 1, first < 0 ? Math.max(0, end) : first));
  const tokens = [...before, ...all.slice(Math.max(0, end))];
  const next = tokens[before.length + 1];
  // "The bakery sold 37 on Monday."
  const elided = (!next || isPreposition(next.word) || STOP.test(next.word)) && before.some(({ word }) => isVerb(word));
  return {
    tokens,
    value: before.length,
    equated: first >= 0,
    covers: coversCore([...adjuncts, ...tokens], asked, elided),
  };
}

const hasLink = (tokens: readonly Token[]): boolean => tokens.some(({ word }) => word === '=');

/** "By Vieta's formulas the sum is", "After combining like terms we get", "Moving the point four places gives" */
function withoutMethod(tokens: readonly Token[]): readonly Token[] {
  const start = tokens.findIndex(({ word }) => !/^(?:so|then|thus|henc|and|now|therefor)$/.test(word));
  const { word = '', written = '' } = tokens[start] ?? {};
  const gerund = /^\p{L}{2,}ing$/u.test(written.toLowerCase());
  if (!gerund && !/^(?:by|after|us)$/.test(word)) return tokens;
  if (tokens.some(({ written }, k) => isUnitWord(written) && /^\d/.test(tokens[k - 1]?.word ?? ''))) return tokens;
  const from = gerund
    ? tokens.findLastIndex((token) => /^(?:giv|yield|leav|get|result|is|equal|produc|obtain|we|do)$/.test(token.word))
    : tokens.findIndex(
        (token, k) => k > start + 1 && /^(?:we|i|he|she|it|they|there|this|the|you)$/i.test(token.written),
      );
  return from < 0 ? tokens : tokens.slice(gerund ? from + 1 : from);
}

function isAccounted(token: Token, k: number, clause: Clause, asked: Asked): boolean {
  const { word, written } = token;
  if (word === NOUN || STOP.test(word) || /^(?:=|th|st|nd|rd|\p{Ll})$/u.test(word)) return true;
  const { tokens, value, covers, equated } = clause;
  const [before, after] = [tokens[k - 1], tokens[k + 1]];
  const isAsked = asked.wanted.has(word) || asked.wanted.has(written);
  // "The number of digits" where their sum is asked.
  if (/^(?:number|count)$/.test(word) && after?.word === 'of' && k < value) return isAsked || asked.counts;
  if (isAsked || asked.signs.has(word)) return true;
  if (isNumber(word, written)) return isAccountedNumber(k, clause, asked);
  if (/^\p{Lu}{1,4}$/u.test(written) && !/^[AI]$/.test(written))
    return (
      equated ||
      isUnitWord(written) ||
      meets(meaningsOf(word), asked.meanings) ||
      (covers && asked.words.has(written) && !hasLabel(written, asked))
    );
  // "the hour hand" where the minute hand is asked for
  if (isUnitWord(written) || /^(?:squar|cubic)$/.test(word))
    return k > value ? true : !asked.wanted.has(after?.word ?? '') && !/^(?:of|root)$/.test(after?.word ?? '');
  if (word === 'still')
    return tokens.slice(k, k + 4).every((one) => one.word !== 'to') || meets(meaningsOf(word), asked.meanings);
  if (isOfForm(k, clause, asked) || isSameKind(token, asked)) return true;
  if (k > value && k < value + 3 && isGeneric(word)) return true;
  if (isFree(word) || meets(meaningsOf(word), asked.meanings) || isAdverb(written)) return true;
  if (/^(?:left|end)$/.test(word) && /^(?:with|up)$/.test(after?.word ?? '')) return true;
  if (/^(?:remain|remaining|rest)$/.test(word) && k === value - 1) return coversCore(tokens, asked, true);
  if (word === 'every' && isUnitWord(after?.written ?? '')) return asked.wanted.has(after?.word ?? '');
  // Comparing, sharing out and joining words have to be the question's.
  if (/^(?:than|more|les|few|fewer|each|every|per|both|neither|nor|either|twic|half)$/.test(word))
    return word === 'both' && asked.joins.length > 0;
  // "the three cities"
  if (before && isNumber(before.word, before.written) && isPointing(tokens[k - 2]?.word ?? ''))
    return !isContrast(word);
  // "How much sugar": in cups.
  if (
    k === value + 1 &&
    /\bhow much\b/i.test(asked.text) &&
    asked.counts &&
    asked.phrase.size === 0 &&
    asked.words.has(word)
  )
    return true;
  if (!asked.words.has(word) && !asked.words.has(written))
    return !isContrast(word) && covers && isHarmlessHere(k, clause, asked);
  if (isOneOfSeveral(word, asked.given)) return false;
  if (holdsAll(asked.names, tokens) && asked.names.includes(word)) return true;
  if (
    asked.core.length === 0 &&
    k < value &&
    (isVerb(word) || !(asked.refers || tokens.slice(0, k).some((one) => isPreposition(one.word))))
  )
    return false;
  const joined = before?.word === 'and' || after?.word === 'and';
  if (joined && k < value && asked.clause.some((one) => one.word === 'they')) return true;
  // "Originally the laptop cost": "its"
  const meant =
    /^\p{Lu}\p{Ll}/u.test(written) ||
    (isPointing(before?.word ?? '') && asked.wanted.has('its') && isIntroduced(written, asked));
  return (covers && !joined) || (asked.refers && k < value && meant);
}

/** "50 minutes": in the question, where no other number has this unit. */
function isOnlyMeasure(written: string, unit: Token | undefined, asked: Asked): boolean {
  const found = [...asked.text.matchAll(/(\d[\d.,]*|\p{L}+)[ -]+(\p{L}+)/gu)].filter(
    ([, number = '', name = '']) => isNumber(number, number) && tokensOf(name)[0]?.word === unit?.word,
  );
  return found.length === 1 && numberOf(found[0]![1]!) === numberOf(written);
}

function isAccountedNumber(k: number, { tokens, value, covers, equated }: Clause, asked: Asked): boolean {
  const { word, written } = tokens[k] as Token;
  const [before = '', after] = [tokens[k - 1]?.word, tokens[k + 1]];
  if (isHeldNumber(written, asked) || (equated && k < value)) return true;
  if (word === 'one' && isUnitWord(after?.written ?? '')) return asked.wanted.has(after?.word ?? '');
  if (word === 'one') return !isPlainNoun(after) || /^(?:the|larg|small)/.test(before);
  if (/^(?:st|nd|rd|th)$/.test(after?.word ?? '')) return false;
  // "the two numbers", "in three tosses"
  if (isUnitWord(after?.written ?? ''))
    return (isPointing(before) && /^\p{L}/u.test(written)) || (covers && isOnlyMeasure(written, after, asked));
  const given =
    asked.numbers.has(numberOf(written)) && isPreposition(before) && covers && !asked.wanted.has(after?.word ?? '');
  return isPointing(before) || given || (k < value && tokens.slice(k, value).some((token) => token.word === NOUN));
}

/** Words that are accounted for by their place. */
function isOfForm(k: number, { tokens, value, covers }: Clause, asked: Asked): boolean {
  const { word, written } = tokens[k] as Token;
  const [before = '', after] = [tokens[k - 1]?.word, tokens[k + 1]];
  if (word === asked.agent) return isPointing(before) || /^\p{Lu}/u.test(written);
  if (word === 'each')
    return asked.clause.some((one, n) => one.word === 'one' && asked.clause[n + 1]?.word === after?.word);
  // "than Anna", the only other one
  if (word === 'than')
    return (
      /\bhow (?:many|much) (?:more|fewer|less)\b/i.test(asked.text) &&
      !asked.wanted.has(word) &&
      asked.names.length === 2 &&
      asked.names.includes(after?.word ?? '')
    );
  if (/^(?:together|combin|jointly)$/.test(word))
    return asked.wanted.has('they') && !/\b(?:each|every)\b/.test(asked.text);
  if (/^differ(?:enc)?$/.test(word)) return asked.wanted.has('than');
  if (word === 'length') return covers && !asked.named.has(QUANTITY_ROW);
  if (word === 'gam' || word === 'sport') return /^(?:neither|both|either)$/.test(before);
  if (/^(?:finish|complet)$/.test(word)) return k > value && before === 'to';
  if (word === 'way') return before === 'the' && tokens[k - 2]?.word === 'all';
  return (
    word === 'last' && asked.words.has(word) && isUnitWord(after?.written ?? '') && asked.words.has(after?.word ?? '')
  );
}

/** Does the question ask for another point, angle or segment by name? */
const hasLabel = (written: string, asked: Asked): boolean =>
  asked.clause.some(
    (token) =>
      /^\p{Lu}+$/u.test(token.written) && token.written.length === written.length && !/^[AI]$/.test(token.written),
  );
const isAdverb = (written: string): boolean =>
  written.endsWith('ly') && written.length > 4 && !/^(?:dai|week|month|year|hour|quarter)ly$/i.test(written);

/**
 * A word of nowhere, where the statement names all that is asked for: a verb or a subject before "13 cows", and a place behind it, "in her
 * purse".
 */
function isHarmlessHere(k: number, { tokens, value }: Clause, asked: Asked): boolean {
  const { word, written } = tokens[k] as Token;
  if (k > value) {
    // "loaves of bread", of which the question does not speak
    if (tokens[k - 1]?.word === 'of' && k - value <= 4 && tokens[k + 1]?.word !== 'of') return true;
    const place = tokens.slice(value, k).findLastIndex(({ word }) => isPreposition(word)) + value;
    return (
      place > value &&
      k - place <= (tokens[k - 1]?.word === 's' ? 4 : 3) &&
      /^(?:in|on|at)$/.test(tokens[place]?.word ?? '') &&
      !asked.wanted.has(tokens[k + 1]?.word ?? '')
    );
  }
  if (asked.core.length === 0 || LOSSES.has(word)) return false;
  if (isVerb(word) || /^\p{Ll}{3,}ed$/u.test(written)) return true;
  // "The circle encloses an area of": the only verb.
  if (
    /^\p{Ll}{3,}s$/u.test(written) &&
    !tokens.slice(0, value).some((token) => isVerb(token.word) || isLink(token.word))
  )
    return true;
  const counted =
    asked.counted !== undefined && tokens.slice(value + 1, value + 4).some((token) => token.word === asked.counted);
  return (
    counted && !asked.wanted.has(tokens[k + 1]?.word ?? '') && [...asked.phrase].every((one) => coversWord(one, tokens))
  );
}
const holdsAll = (names: readonly string[], tokens: readonly Token[]): boolean =>
  names.length > 1 && names.every((name) => tokens.some(({ word }) => word === name));

const isNumber = (word: string, written: string): boolean => /^\d/.test(word) || numberOf(written) !== written;
const numberOf = (written: string): string =>
  /^\d/.test(written) ? written : (numberWord(written.toLowerCase()) ?? ORDINALS.get(written.toLowerCase()) ?? written);
const ORDINALS: ReadonlyMap<string, string> = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ').map((word, k) => [word, String(k + 1)]),
);
const isHeldNumber = (written: string, asked: Asked): boolean => asked.clauseNumbers.has(numberOf(written));
const isPlainNoun = (token: Token | undefined): boolean =>
  token !== undefined && /^\p{L}{3,}$/u.test(token.word) && !isFree(token.word) && !isPreposition(token.word);

const coversWord = (word: string, tokens: readonly Token[], names: readonly string[] = []): boolean =>
  isFree(word) ||
  (names.includes(word) && tokens.some((token) => /^(?:he|she|they|it)$/.test(token.word))) ||
  tokens.some((token) => token.word === word || meets(meaningsOf(token.word), meaningsOf(word)));
/** Does the statement name what is asked for? `elided`: but for the counted thing, as in "he sells the remaining 190". */
const coversCore = (tokens: readonly Token[], asked: Asked, elided = false): boolean =>
  asked.core.every((word) => (elided && word === asked.counted) || coversWord(word, tokens, asked.names));
