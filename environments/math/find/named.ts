// The words of a text as a question and a statement are compared by them: tokens, the sets of the tables that they name, and the few
// parts of speech that are needed. Linear.

import { CONTRARIES, KINDS, lemma, NEUTRAL, QUANTITIES } from '../read/contrasts.ts';
import { isVerb } from '../read/statement-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

export interface Token {
  readonly written: string;
  readonly word: string;
}

/** Words, numbers and stops; `⟦` stands for a formula. */
export const tokensOf = (text: string): Token[] =>
  (
    text
      .replace(/\\(?!sin|cos|tan)[A-Za-z]+|(?:sin|cos|tan)\([\d.]+\)|(?<=\p{L})\([^()]{0,80}\)?/gu, ' ')
      .match(/⟦|\d+(?:[.,]\d+)*|\p{L}+(?:[’'](?!s\b)\p{L}+)*|[.,;:?!=()]/gu) ?? []
  ).map((written) => ({ written, word: lemma(written.toLowerCase()) }));

/** Of each row of a table that a text touches, the groups that it names. */
export type Named = ReadonlyMap<number, ReadonlySet<number>>;
const ROWS = [...KINDS, ...CONTRARIES, QUANTITIES];
export const QUANTITY_ROW = ROWS.length - 1;
export const isKind = (row: number): boolean => row < KINDS.length;
export const isQuantity = (word: string): boolean => (INDEX.get(word) ?? []).some(([row]) => row === QUANTITY_ROW);
/** Does a word exclude others by the tables? */
export const isContrast = (word: string): boolean => (INDEX.get(word) ?? []).some(([row]) => row !== QUANTITY_ROW);
/** Does the text name several of the kind of a word: Monday and Tuesday? */
export const isOneOfSeveral = (word: string, given: Named): boolean =>
  (INDEX.get(word) ?? []).some(([row]) => row < KINDS.length && (given.get(row)?.size ?? 0) > 1);
const INDEX = new Map<string, (readonly [row: number, group: number])[]>();
for (const [k, row] of ROWS.entries())
  for (const [n, group] of row.entries())
    for (const word of new Set(group.map(lemma))) INDEX.set(word, [...(INDEX.get(word) ?? []), [k, n]]);

/** "5 m per second", "36 square units" and "may" are neither an ordinal, a shape nor a month. */
const isSense = ({ written, word }: Token, before: Token | undefined, after: Token | undefined): boolean =>
  written === 'means' || written === 'meaning'
    ? false
    : word === 'squar'
      ? !(isUnitWord(after?.written ?? '') || /^(?:unit|root)$/.test(after?.word ?? ''))
      : word === 'second'
        ? !/^(?:per|an?|each|⟦|\d.*)$/.test(before?.word ?? '')
        : !/^(?:may|march)$/.test(written);

export function namedIn(tokens: readonly Token[]): Named {
  const named = new Map<number, Set<number>>();
  for (const [k, token] of tokens.entries())
    for (const [row, group] of INDEX.get(token.word) ?? [])
      if (isSense(token, tokens[k - 1], tokens[k + 1])) named.set(row, (named.get(row) ?? new Set()).add(group));
  return named;
}

export const isPreposition = (word: string): boolean => PREPOSITION.test(word);
const PREPOSITION =
  /^(?:of|in|on|at|for|with|when|if|that|which|who|to|by|from|between|after|before|during|than|per|over|into|under|while|because|since|as|so|without|alone|during|across|up|down|around|along|through|about|dur)$/;
export const STOP = /^[.,;:?!()]$/;
export const isPlural = (written: string): boolean =>
  /^(?:\p{Ll}{2,}[^su]s|people|men|women|children|sheep|fish|mice|geese|feet|teeth|dice|oxen|deer)$/u.test(written);

/** Verbs that say what was done. */
export const verbsIn = (tokens: readonly Token[]): string[] =>
  tokens
    .filter(
      ({ word, written }, k) =>
        (isVerb(word) || /^\p{Ll}{3,}ed$/u.test(written)) &&
        !NEUTRAL.has(word) &&
        !/ings?$/.test(written) &&
        tokens[k - 1]?.word !== 'to' &&
        !(word === 'giv' && /^(?:this|that|which|it|⟦|=)$/.test(tokens[k - 1]?.word ?? '')),
    )
    .map(({ word }) => word);
