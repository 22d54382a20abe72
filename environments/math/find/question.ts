// The words of a question: what it asks for and what it sets side by side. The asked clause, its head, the thing that is counted,
// the deeds, and the sets of which a statement has to name the right one. Linear; each part is read when it is first asked for, and
// the last questions are remembered.

import { CONTRARIES, KINDS, lemma, NEUTRAL, QUANTITIES } from '../read/contrasts.ts';
import { numberWord } from '../read/number-words.ts';
import { isCommon, isDeterminer, isVerb } from '../read/statement-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { remembered } from '../remembered.ts';
import { clauseOf } from './asked.ts';

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
const INDEX = new Map<string, (readonly [row: number, group: number])[]>();
for (const [k, row] of ROWS.entries())
  for (const [n, group] of row.entries())
    for (const word of new Set(group.map(lemma))) INDEX.set(word, [...(INDEX.get(word) ?? []), [k, n]]);

/** "5 m per second", "36 square units" and "may" are neither an ordinal, a shape nor a month. */
const isSense = ({ written, word }: Token, before: Token | undefined, after: Token | undefined): boolean =>
  word === 'squar'
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

export interface Asked {
  readonly text: string;
  readonly all: readonly Token[];
  readonly clause: readonly Token[];
  readonly words: ReadonlySet<string>;
  readonly wanted: ReadonlySet<string>;
  /** Words of the clause that say something. */
  readonly content: readonly string[];
  readonly given: Named;
  readonly named: Named;
  /** Of the clause up to its first preposition: "how much does Anna pay". */
  readonly headed: Named;
  readonly head: readonly Token[];
  readonly names: readonly string[];
  /** Names, labels, things that are counted or joined side by side. */
  readonly sets: readonly (readonly string[])[];
  /** The thing of "how many". */
  readonly counted: string | undefined;
  /** All words behind "how many" up to the verb: "different positive integers". */
  readonly phrase: ReadonlySet<string>;
  /** Does the phrase hold the counted thing, and no unit? */
  readonly isPlain: boolean;
  readonly verbs: readonly string[];
  /** Its words, with the digits of those that are numbers. */
  readonly numbers: ReadonlySet<string>;
}

/** Each part is computed when it is first read. */
function lazily<T extends object>(parts: { readonly [K in keyof T]: () => T[K] }): T {
  const whole = {} as T;
  for (const key of Object.keys(parts) as (keyof T)[])
    Object.defineProperty(whole, key, {
      configurable: true,
      get: () => {
        const value = parts[key]();
        Object.defineProperty(whole, key, { value });
        return value;
      },
    });
  return whole;
}

function read(question: string): Asked {
  const asked: Asked = lazily<Asked>({
    text: () => clauseOf(question),
    all: () => tokensOf(question),
    clause: () => tokensOf(asked.text),
    head: () => headOf(asked.clause),
    words: () => wordSet(asked.all),
    wanted: () => wordSet(asked.clause),
    content: () =>
      asked.clause
        .filter(({ word, written }) => /^\p{L}{3,}$/u.test(word) && !SMALL.test(word) && !isUnitWord(written))
        .map(({ word }) => word),
    given: () => namedIn(asked.all),
    named: () => namedIn(asked.clause),
    headed: () => namedIn(asked.head),
    names: () => namesIn(asked.all),
    sets: () => setsOf(asked.all).filter((set) => set.length > 1),
    counted: () => countedIn(asked.clause),
    phrase: () => new Set(phraseOf(asked.clause).map(({ word }) => word)),
    isPlain: () => {
      const said = phraseOf(asked.clause).map(({ written }) => written);
      return said.some(isPlural) && !said.some(isUnitWord);
    },
    verbs: () => verbsIn(asked.clause),
    numbers: () => new Set(asked.all.map(({ word }) => numberWord(word) ?? word)),
  });
  return asked;
}

const short = remembered(read);
let last: { readonly question: string; readonly asked: Asked } | undefined;
/** Of a text that is too long to be remembered for long, the last one is. */
export function readQuestion(question: string): Asked {
  if (last?.question !== question) last = { question, asked: short(question) };
  return last.asked;
}

const wordSet = (tokens: readonly Token[]): ReadonlySet<string> =>
  new Set(tokens.flatMap(({ word, written }) => [word, written]));

function headOf(clause: readonly Token[]): readonly Token[] {
  const start = clause.findIndex(({ word }) => /^(?:how|what|which|who|find|comput|determin|calculat)$/.test(word));
  const end = clause.findIndex(({ word }, k) => k > start + 1 && (isPreposition(word) || STOP.test(word)));
  return clause.slice(Math.max(0, start), end < 0 ? undefined : end);
}

export const isPreposition = (word: string): boolean => PREPOSITION.test(word);
const PREPOSITION =
  /^(?:of|in|on|at|for|with|when|if|that|which|who|to|by|from|between|after|before|during|than|per|over|into|under|while|because|since|as|so|without|alone)$/;
const SMALL =
  /^(?:the|and|how|many|much|what|which|do|are|was|wer|hav|has|can|will|would|should|thes|this|that|there|they|she|his|her|its|their|all|each|any|total|altogether|number|dollar|did|been)$/;
export const STOP = /^[.,;:?!()]$/;
const NAME = /^\p{Lu}\p{Ll}{2,}$/u;
const nobody = (): boolean => false;
const isStrange = (written: string): boolean => /^\p{Ll}{3,}$/u.test(written) && !isCommon(written, nobody);

const namesIn = (all: readonly Token[]): string[] => [
  ...new Set(
    all.filter(({ written }) => NAME.test(written) && !isCommon(written.toLowerCase(), nobody)).map(({ word }) => word),
  ),
];

/** Names; labels behind a noun; nouns that numbers count; nouns that "and" joins; kinds of one noun, and objects of one verb. */
function setsOf(all: readonly Token[]): string[][] {
  const [labels, counted]: [string[], string[]] = [[], []];
  const joined: string[][] = [];
  const kinds = new Map<string, string[]>();
  const put = (key: string, kind: string): unknown => kinds.set(key, [...(kinds.get(key) ?? []), kind]);
  for (const [k, { word, written }] of all.entries()) {
    const [before, after] = [all[k - 1], all[k + 1]];
    if (/^[A-Z]$/.test(written) && /^\p{L}{3,}$/u.test(before?.word ?? '') && after?.word !== '=') labels.push(written);
    const noun = /^\d/.test(word) ? pluralAt(all, k + 1) : undefined;
    if (noun !== undefined) counted.push(noun);
    if (isPlural(written)) {
      const other = /^(?:and|or|,)$/.test(after?.word ?? '') ? pluralAt(all, k + 2, 2) : undefined;
      const set = joined.find((one) => one.includes(word));
      if (other !== undefined && set) set.push(other);
      else if (other !== undefined) joined.push([word, other]);
      if (before && isStrange(before.written)) put(word, before.word);
    }
    if (after && isVerb(word) && !NEUTRAL.has(word) && isStrange(after.written)) put(`${word} …`, after.word);
    // "a cone and a cylinder"
    if (word === 'and' && isDeterminer(after?.word ?? '') && isDeterminer(all[k - 2]?.word ?? ''))
      joined.push([before?.word ?? '', all[k + 2]?.word ?? '']);
  }
  const things = [counted, ...joined, ...kinds.values()].map((set) =>
    set.filter((word) => !isUnitWord(word) && !isUnitWord(`${word}s`)),
  );
  return [namesIn(all), labels, ...things].map((set) => [...new Set(set)]);
}

export const isPlural = (written: string): boolean =>
  /^(?:\p{Ll}{2,}[^su]s|people|men|women|children|sheep|fish|mice|geese|feet|teeth|dice|oxen|deer)$/u.test(written);

/** The plural within the next words: "8 blue marbles". */
function pluralAt(all: readonly Token[], from: number, reach = 3): string | undefined {
  for (const { word, written } of all.slice(from, from + reach)) {
    if (STOP.test(word) || /^(?:is|are|was|wer|be)$/.test(word) || isPreposition(word)) return undefined;
    if (isPlural(written) && !isUnitWord(written)) return word;
  }
  return undefined;
}

/** "How many faulty bottles are made": bottles. */
function countedIn(clause: readonly Token[]): string | undefined {
  const many = clause.findIndex(({ word }, k) => word === 'many' && clause[k - 1]?.word === 'how');
  return many < 0 ? undefined : pluralAt(clause, many + 1, 4);
}

function phraseOf(clause: readonly Token[]): readonly Token[] {
  const many = clause.findIndex(({ word }, k) => word === 'many' && clause[k - 1]?.word === 'how');
  const behind = many < 0 ? [] : clause.slice(many + 1);
  const end = behind.findIndex(({ word }) => AUXILIARY.test(word) || STOP.test(word) || isPreposition(word));
  return behind.slice(0, end < 0 ? 4 : end);
}
const AUXILIARY =
  /^(?:do|is|are|was|wer|can|could|will|would|should|must|may|might|hav|had|did|need|each|he|she|they|it|the)$/;

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
