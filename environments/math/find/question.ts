// The words of a question: what it asks for and what it sets side by side. The asked clause, its head, the thing that is counted,
// the deeds, and the sets of which a statement has to name the right one. Linear; each part is read when it is first asked for, and
// the last questions are remembered.

import { NEUTRAL } from '../read/contrasts.ts';
import { isForeign, isFree, meaningsOf, signsIn } from '../read/free-words.ts';
import { numberWord } from '../read/number-words.ts';
import { isCommon, isDeterminer, isVerb } from '../read/statement-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { remembered } from '../remembered.ts';
import { clauseOf } from './asked.ts';
import {
  isPlural,
  isPreposition,
  type Named,
  namedIn,
  QUANTITY_ROW,
  STOP,
  type Token,
  tokensOf,
  verbsIn,
} from './named.ts';

export interface Join {
  readonly items: readonly string[];
  readonly by: string;
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
  /** Does the clause ask for a number of things? */
  readonly counts: boolean;
  /** Or for a number of units? */
  readonly measures: boolean;
  /** Its words, with the digits of those that are numbers. */
  readonly numbers: ReadonlySet<string>;
  /** The same of the clause alone. */
  readonly clauseNumbers: ReadonlySet<string>;
  /** The words of the clause up to its first preposition that name what is asked for. */
  readonly core: readonly string[];
  /** Groups of words of one meaning that the clause names. */
  readonly meanings: ReadonlySet<number>;
  /** The one that the question is about, where nobody else is named: "A train leaves", "Tom has". */
  readonly agent: string | undefined;
  /** Does the clause speak of somebody or something by a pronoun? */
  readonly refers: boolean;
  readonly foreign: boolean;
  /** Names of the signs in the asked formula: "integral". */
  readonly signs: ReadonlySet<string>;
  /** Things that the clause joins by "and", "or" or "nor". */
  readonly joins: readonly Join[];
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
    counts: () =>
      /\b(?:how many|number|count|total|how much (?!does|do|did|is|are|was|were|will|would|can|should|more|money))/i.test(
        asked.text,
      ),
    measures: () => phraseOf(asked.clause).some(({ written }) => isUnitWord(written)),
    numbers: () => new Set(asked.all.map(({ written }) => numberWord(written.toLowerCase()) ?? written)),
    clauseNumbers: () => new Set(asked.clause.map(({ written }) => numberWord(written.toLowerCase()) ?? written)),
    core: () =>
      asked.head
        .slice(
          asked.head.findLastIndex(
            ({ word }, k) => /^(?:length|valu|measur|number)$/.test(word) && asked.clause[k + 1]?.word === 'of',
          ) + 1,
        )
        .filter(
          ({ word, written }) =>
            /^\p{L}{3,}$/u.test(word) && !isFree(word) && !isUnitWord(written) && !ASKING.test(word),
        )
        .map(({ word }) => word),
    meanings: () => new Set(asked.clause.flatMap(({ word }) => [...meaningsOf(word)])),
    foreign: () => isForeign(asked.text),
    agent: () => agentOf(asked),
    signs: () => signsIn(asked.text),
    joins: () => joinsOf(asked.clause),
    refers: () => asked.clause.some(({ word }) => /^(?:he|she|they|it|its|his|her|their|them|him)$/.test(word)),
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

const isItem = ({ word, written }: Token): boolean =>
  /^(?:\d.*|\p{L}{3,}|\p{Lu})$/u.test(written) && !isFree(word) && !isPreposition(word);

const sortOf = ({ written }: Token): string =>
  /^\d/.test(written) ? 'number' : /^\p{Lu}/u.test(written) ? 'name' : isPlural(written) ? 'plural' : written;

function joinsOf(clause: readonly Token[]): Join[] {
  const joins: { items: string[]; by: string }[] = [];
  for (const [k, { word: by }] of clause.entries()) {
    if (!/^(?:and|or|nor)$/.test(by)) continue;
    const comma = clause[k - 1]?.word === ',' ? 1 : 0;
    const [left, right] = [clause[k - 1 - comma], clause.slice(k + 1, k + 4).find(isItem)];
    if (!left || !right || !isItem(left) || left.word === right.word || sortOf(left) !== sortOf(right)) continue;
    const items = [left.word, right.word];
    // "Toulouse, Charleston and Seattle"
    for (let at = k - 2 - comma; clause[at]?.word === ',' && isItem(clause[at - 1] as Token); at -= 2)
      items.unshift(clause[at - 1]?.word ?? '');
    joins.push({ items, by });
  }
  return joins;
}

function agentOf({ all, names, sets, given }: Asked): string | undefined {
  const start = isDeterminer(all[0]?.word ?? '') ? 1 : -1;
  const end = all.findIndex(
    ({ word, written }, k) =>
      k > 1 && (isVerb(word) || isPreposition(word) || /s$|ed$/.test(written) || STOP.test(word)),
  );
  const agent = start > 0 && end > 1 && end < 5 ? all[end - 1]?.word : names.length === 1 ? names[0] : undefined;
  const isRival = agent === undefined || sets.some((set) => set.includes(agent));
  if (isRival || isUnitWord(agent) || isFree(agent) || !/^\p{L}{3,}$/u.test(agent)) return undefined;
  return [...namedIn([{ word: agent, written: agent }])].some(
    ([row]) => row === QUANTITY_ROW || (given.get(row)?.size ?? 0) > 1,
  )
    ? undefined
    : agent;
}

const wordSet = (tokens: readonly Token[]): ReadonlySet<string> =>
  new Set(tokens.flatMap(({ word, written }) => [word, written]));

function headOf(clause: readonly Token[]): readonly Token[] {
  const start = clause.findIndex(({ word }) => /^(?:how|what|which|who|find|comput|determin|calculat)$/.test(word));
  const end = clause.findIndex(({ word }, k) => k > start + 1 && (isPreposition(word) || STOP.test(word)));
  return clause.slice(Math.max(0, start), end < 0 ? undefined : end);
}

/** Ask for a quantity that a unit names as well. */
const ASKING =
  /^(?:many|much|long|far|tall|old|high|fast|big|larg|percent|every|each|comput|evaluat|determin|calculat|simplify|what|which)$/;
const SMALL =
  /^(?:the|and|how|many|much|what|which|do|are|was|wer|hav|has|can|will|would|should|thes|this|that|there|they|she|his|her|its|their|all|each|any|total|altogether|number|dollar|did|been)$/;
const NAME = /^\p{Lu}\p{Ll}{2,}$/u;
const nobody = (): boolean => false;
const isStrange = (written: string): boolean => /^\p{Ll}{3,}$/u.test(written) && !isCommon(written, nobody);

/** Of "Grandma Olga" the last. */
const namesIn = (all: readonly Token[]): string[] => [
  ...new Set(all.filter((token, k) => isName(token) && !isName(all[k + 1])).map(({ word }) => word)),
];
const isName = (token: Token | undefined): boolean =>
  token !== undefined && NAME.test(token.written) && !isCommon(token.written.toLowerCase(), nobody);

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
  return phraseOf(clause).find(({ written }) => isPlural(written) && !isUnitWord(written))?.word;
}

function phraseOf(clause: readonly Token[]): readonly Token[] {
  const many = clause.findIndex(({ word }, k) => word === 'many' && clause[k - 1]?.word === 'how');
  const behind = many < 0 ? [] : clause.slice(many + 1);
  const end = behind.findIndex(({ word }) => AUXILIARY.test(word) || STOP.test(word) || isPreposition(word));
  return behind.slice(0, end < 0 ? 4 : end);
}
const AUXILIARY =
  /^(?:do|is|are|was|wer|can|could|will|would|should|must|may|might|hav|had|did|need|each|he|she|they|it|the)$/;
