// The words of an answer: those that lead to a value, and those behind it. Each is a factor, a unit, a label or a known
// function; a condition is no part of a value.

import { type Node, num, type Relop, some, times } from '../base/ast.ts';
import { type Cursor, isCmd, isSign, peek, type Token } from './tokens.ts';
import { isHarmlessWord, SCALES } from './harmless-words.ts';
import { Unparsed } from '../base/limits.ts';
import { parsePostfix } from './parse-primary.ts';
import * as Q from '../base/rational.ts';
import { isHarmlessPhrase, isUnitWord, unitPhrase } from './unit-words.ts';
import { CONDITION_WORDS, FUNCTIONS, RELATIONS } from './vocabulary.ts';

export const isWord = (token: Token | undefined, ...names: string[]): boolean =>
  token?.t === 'word' && names.includes(token.v.toLowerCase());

export function relop(token: Token | undefined): Relop | undefined {
  if (token?.t === 'cmd') return RELATIONS.get(token.v) as Relop | undefined;
  if (token?.t !== 'sign') return undefined;
  return ['=', '<', '>', '<=', '>=', '!='].includes(token.v) ? (token.v as Relop) : undefined;
}

/** Words that change nothing before a value: "so the total is", "both". A name behind them is no word: `the area A = 5`. */
export const leads = (c: Cursor): boolean => {
  const token = peek(c);
  const next = peek(c, 1);
  return (
    (token?.t === 'text' || token?.t === 'word') &&
    token.v
      .split(/[\s:,]+/)
      .every((word) => word === '' || /^[Aa]$/.test(word) || isHarmlessWord(word.toLowerCase())) &&
    !isSign(next, '=', '^', '_') &&
    relop(next) === undefined
  );
};

const PLAIN: readonly string[] = ['num', 'const', 'mul', 'div', 'pow', 'call'];
export const isPlainNumber = (node: Node): boolean =>
  !some(node, (n) => !PLAIN.includes(n.k) || (n.k === 'const' && n.name !== 'pi'));
const startsArgument = (c: Cursor): boolean => isSign(peek(c, 1), '(', '{', '[', '_') || isCmd(peek(c, 1), '{');

/** Words after a value: a percent sign, a factor, a unit, a known function; anything else ends the value. */
export function parseWords(c: Cursor, left: Node): Node | undefined {
  const token = peek(c);
  if (!token) return undefined;
  const [first = '', ...rest] = token.v.trim().split(/\s+/);
  const lower = first.toLowerCase().replace(/[.,]$/, '');
  // `\text{ million dollars}`: a word that counts is a word of its own.
  const takeFirst = (): void => {
    if (rest.length > 0) c.tokens[c.at] = { ...token, v: rest.join(' ') };
    else c.at++;
  };
  if (/^(?:percent|pct|percentage)$/.test(lower)) {
    takeFirst();
    return { k: 'percent', arg: left };
  }
  if (token.t === 'word' && (lower === 'and' || lower === 'or')) return undefined;
  const scale = SCALES.get(lower);
  if (scale !== undefined) {
    takeFirst();
    return times(left, num(Q.rational(...scale)));
  }
  const minutes = /^(?:min|deg)$/.test(token.v) && isPlainNumber(left) && !startsArgument(c);
  if (token.t === 'word' && !minutes && (FUNCTIONS.has(token.v) || /^(?:(?:pi|inf|infty|infinity)$|sqrt)/.test(lower)))
    return times(left, parsePostfix(c));
  if (CONDITION_WORDS.has(lower)) throw new Unparsed('the answer holds a condition');
  const strong = token.t === 'text';
  const letters = some(left, (n) => n.k === 'sym');
  const known =
    lower === 'sq' || (isHarmlessPhrase(token.v) && (strong || !letters || isUnitWord(token.v) || token.v.length >= 3));
  // Any word may label a number; behind letters an unknown one is part of the name: triangle ABC.
  const label = (strong || (token.sp && (token.v.length >= 3 || lower === 'of'))) && !letters;
  if (!known && !label) {
    if (!strong) return times(left, parsePostfix(c));
    c.at++;
    return times(left, { k: 'text', text: token.v });
  }
  return { k: 'unit', arg: left, unit: unitPhrase(c), strong };
}
