// The two sides of a closed clause: its subject, and what stands between its verb and the value. Part of the grammar in statement.ts.
// Linear.

import { isNoun, isRefusing, leadsTo } from '../read/harmless-words.ts';
import { numberWord } from '../read/number-words.ts';
import {
  finds,
  CONDITION,
  isAction,
  isCommon,
  isDenying,
  isDeterminer,
  isFault,
  isForeignNoun,
  isLead,
  isLink,
  isMeta,
  isNegation,
  isOther,
  isTransform,
  NUMBER_WORD,
  opensZone,
  QUANTITY,
} from '../read/statement-words.ts';
import type { Known } from './known.ts';
import type { Word } from './open.ts';
import { NOUN } from './sentence.ts';

/** Nothing of its own is supposed where all words are the question's. */
export const isGiven = (word: string, known: Known): boolean =>
  /^(?:[⟦=:<>≤≥]|[\d.,]+|[a-zα-ω])$/u.test(word) ||
  isLead(word) ||
  isDeterminer(word) ||
  known(word) ||
  known.gives?.(numberWord(word) ?? word) === true;

export function isSubject(words: readonly Word[], link: number, known: Known, marked: boolean): boolean {
  const subject = words.slice(0, Math.max(link, 0));
  const verb = words[link]?.word ?? '';
  const opening = subject.findIndex(({ word }) => !/^(?:so|and|but|now|then|also|[⟦:=])$/.test(word));
  if (CONDITION.has(subject[opening]?.word ?? '') && !subject.every(({ word }) => isLink(word) || isGiven(word, known)))
    return false;
  let [zone, determined, strange] = [false, false, false];
  for (const [k, { word, written }] of subject.entries()) {
    if (/^[<>≤≥]$/.test(word)) return false;
    if (isMeta(word) && (!marked || !zone)) return false;
    if ((isFault(word) || isOther(word) || (known.asked && isTransform(word))) && !known(word)) return false;
    if (zone && known.asked && isNegation(word) && !known(word)) return false;
    if (zone) continue;
    if (isDenying(word)) return false;
    if (opensZone(word) && k > 0) zone = determined;
    else if (isDeterminer(word) || /'s$|s'$/.test(word)) determined = true;
    else if (word === NOUN || word === '=' || word === ':' || isLink(word)) strange = false;
    else if (isCommon(word, known)) {
      if (strange) return false;
      determined ||= (k === 0 && word.length > 1) || /^(?:number|value|sum|total)$/.test(word);
    } else if (isName(written, k, words, known)) continue;
    else if (NUMBER_WORD.test(word)) continue;
    else if (known.asked || strange || !determined || word.endsWith('ly') || !isAction(verb) || finds(verb))
      return false;
    else strange = true;
  }
  return true;
}

/** A capital begins a name; at the head of a clause only where a common word follows. */
const isName = (written: string, k: number, words: readonly Word[], known: Known): boolean =>
  /^\p{Lu}/u.test(written) &&
  (k > 0 || (isCommon(words[1]?.word ?? ':', known) && !/^[=:\d]/.test(words[1]?.word ?? '')));

const COMPANIONS = /^(?:him|her|them|me|us|you|at|in|by|to|out|up|for|with|on|per|back|after)$/;

/** The words between the verb and the value. */
export function isObject(words: readonly Word[], link: string | undefined, known: Known, number: boolean): boolean {
  const lower = words.map(({ word }) => word);
  if (lower.some((word) => isDenying(word) || isRefusing(word))) return false;
  const last = lower.at(-1) ?? '';
  if (isMeta(last) || (number && /^(?:equation|line|option|choice)$/.test(last))) return false;
  if (lower.some((word) => /[^\x00-\x7F]/.test(word) && word !== NOUN && !isForeignNoun(word) && !known(word)))
    return false;
  if (leadsTo(lower.join(' '), true)) return true;
  const action = link !== undefined && (isAction(link) || !isLink(link));
  return words.every(
    ({ word, written }, k) =>
      word === NOUN ||
      /^(?:now|then|currently|still|also)$/.test(word) ||
      leadsTo(word, true) ||
      (action && (COMPANIONS.test(word) || isNoun(word) || known(word) || /^\p{Lu}/u.test(written))) ||
      (word === 'of' && k > 0 && QUANTITY.test(lower[k - 1] ?? '')) ||
      QUANTITY.test(word) ||
      (!number && isCommon(word, known)),
  );
}
