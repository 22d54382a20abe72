// Contradictions between a clause and the clause that asks, which no single word shows: another thing counted, a part of what is joined,
// another comparison, another time, fewer terms. Linear in the clause.

import { isFree, meaningsOf } from '../read/free-words.ts';
import { isUnitWord } from '../read/unit-words.ts';
import { isPlural, isPreposition, namedIn, QUANTITY_ROW, STOP, type Token } from './named.ts';
import type { Asked } from './question.ts';
import { NOUN } from './sentence.ts';

export interface Clause {
  readonly tokens: readonly Token[];
  readonly value: number;
  /** Does the value end an equation? Its links but the first are left out. */
  readonly equated: boolean;
  readonly covers: boolean;
}
export const meets = <T>(own: ReadonlySet<T>, theirs: ReadonlySet<T>): boolean =>
  [...own].some((one) => theirs.has(one));

/** "6 workers" where days are asked for, "13 divisors" where nothing is counted. */
export function otherCount(clause: readonly Token[], asked: Asked): string | undefined {
  const value = clause.findLastIndex(({ word }) => word === NOUN);
  const behind = clause.slice(value + 1);
  const end = behind.findIndex(({ word }) => isPreposition(word) || STOP.test(word) || ENDS_NOUN.test(word));
  const noun = behind.slice(0, end < 0 ? 3 : Math.min(end, 3)).findLast(({ written }) => isPlural(written));
  if (!noun || isUnitWord(noun.written) || asked.phrase.has(noun.word)) return undefined;
  if (isFree(noun.word) && !(asked.phrase.size > 0 && asked.wanted.has(noun.written))) return undefined;
  const meanings = new Set([...asked.phrase].flatMap((word) => [...meaningsOf(word)]));
  if (meets(meaningsOf(noun.word), meanings)) return undefined;
  if (asked.phrase.size === 0) return asked.counts || asked.wanted.has(noun.word) ? undefined : noun.written;
  return asked.measures || asked.wanted.has(noun.word) ? noun.written : undefined;
}
const ENDS_NOUN = /^(?:is|are|was|wer|can|will|would|hav|has|had)$/;

/** Things that the asked clause joins come all or not at all, and joined in the same way: "4 or 6", "April and May". */
export function otherPart(tokens: readonly Token[], asked: Asked): string | undefined {
  for (const { items, by } of asked.joins) {
    const found = items.filter((item) => tokens.some(({ word, written }) => word === item || written === item));
    if (found.length === 0) continue;
    if (found.length < items.length) return found[0];
    const at = tokens.findLastIndex(({ word }) => word === items.at(-1));
    const own = tokens.slice(Math.max(0, at - 3), at).findLast(({ word }) => /^(?:and|or|nor)$/.test(word))?.word;
    if (
      own !== undefined &&
      own !== by &&
      !(by === 'nor' && tokens.some(({ word }) => /^(?:not|neither|no)$/.test(word)))
    )
      return own;
  }
  return undefined;
}

/** "got on" where it is asked how many got off. */
export const otherWay = (tokens: readonly Token[], asked: Asked): string | undefined =>
  asked.wanted.has('off') && !tokens.some(({ word }) => word === 'off') && tokens.some(({ word }) => word === 'on')
    ? 'on'
    : undefined;

/** "more than Ben" where it is asked how many more than Anna. */
export function otherComparison(clause: readonly Token[], asked: Asked): string | undefined {
  const [own, theirs] = [clause, asked.clause].map((tokens) => {
    const than = tokens.findIndex(({ word }) => word === 'than');
    return than < 0 ? undefined : tokens[than + 1];
  });
  return own && theirs && own.word !== theirs.word && asked.wanted.has(own.word) && !/^the$/.test(own.word)
    ? own.written
    : undefined;
}

/** "He is 4 years old" where it is asked how old he was nine years ago, "after the dress" where it is asked what was there at first. */
export function otherTime(tokens: readonly Token[], asked: Asked): string | undefined {
  const find = (form: RegExp): string | undefined => tokens.find(({ word }) => form.test(word))?.written;
  if (asked.wanted.has('ago') && !find(/^(?:ago|then|was|wer|had)$/)) return find(/^(?:is|are|now)$/);
  return AT_FIRST.test(asked.text) && !find(/^(?:first|origin.*|initial.*|begin.*|start.*|before)$/)
    ? find(/^(?:after|end|now|finally|left)$/)
    : undefined;
}
const AT_FIRST =
  /\bat first\b|\b(?:originally|initially)\b|\bto (?:begin|start) with\b|\b(?:in|at) the (?:beginning|start)\b/i;

const APPLIED = /\b([f-hF-H])\s?(\((?:[^()=]|\([^()=]*\)){1,40}\))/g;
/** "g(5) is" where f(5) is asked for. In "f(g(5)) = f(24) =" the inner one is known already. */
export function otherFunction(said: string, asked: Asked): string | undefined {
  if (!/\b[f-hF-H]\s?\(/.test(said)) return undefined;
  const left = said.slice(said.indexOf(';') + 1).split(NOUN)[0] ?? '';
  const [own, theirs] = [left.split('=')[0] ?? '', asked.text].map((text) =>
    [...text.matchAll(APPLIED)].map(([, name, of = '']) => ({ name, of: of.replace(/\s/g, '') })),
  );
  if (!own?.length || !theirs?.length) return undefined;
  const isTheirs = ({ name, of }: { name?: string | undefined; of: string }): boolean =>
    theirs.some((one) => one.name === name && (one.of === of || one.of.indexOf('(', 1) > 0));
  const odd = own.find((one) => !isTheirs(one)) ?? (own.length < theirs.length ? own[0] : undefined);
  return odd && `${odd.name}${odd.of}`;
}

/** "30% of 150 is" where more is asked for, in numbers alone. */
export function otherTerms({ tokens, value, equated }: Clause, asked: Asked): string | undefined {
  const [own, theirs] = [tokens.slice(0, value), asked.clause].map(
    (said) => new Set(said.filter(({ word }) => /^\d/.test(word)).map(({ word }) => word)),
  );
  if (equated || !own || !theirs || own.size === 0 || !/%|\b(?:plus|minus|times)\b/.test(asked.text)) return undefined;
  if (asked.core.length > 0) return undefined;
  return [...theirs].every((number) => own.has(number)) ? undefined : [...own][0];
}

/** "A laptop costs …" */
export const isIntroduced = (written: string, { all }: Asked): boolean =>
  all.some((one, k) => one.written === written && /^an?$/i.test(all[k - 1]?.written ?? ''));

/** "rose" where the increase is asked for. */
export const isSameKind = (token: Token, asked: Asked): boolean =>
  [...namedIn([token])].some(([row, groups]) => row !== QUANTITY_ROW && meets(groups, asked.named.get(row) ?? NONE));
const NONE: ReadonlySet<number> = new Set();
