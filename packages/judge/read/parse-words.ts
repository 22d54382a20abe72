// Words and signs beside a value: words that lead to it, those behind it (a factor, a unit, a label, a known function), degrees and primes
// (`12° 30' 15"`, `25°C`, `f'`), names that take brackets, the modulus of a congruence, the dot and the cross of vectors.

import { add, call, mul, type Node, num, type Relop, some, times } from '../base/ast.ts';
import { type Cursor, isCmd, isSign, peek, type Token } from './cursor.ts';
import { isHarmlessWord, SCALES } from './harmless-words.ts';
import * as Q from '../base/rational.ts';
import { isHarmlessPhrase, isUnitWord, unitPhrase } from './unit-words.ts';
import { FUNCTION_LETTERS, FUNCTIONS, RELATIONS } from './vocabulary.ts';

export const isWord = (token: Token | undefined, ...names: string[]): boolean =>
  token?.t === 'word' && names.includes(token.v.toLowerCase());

export function relop(token: Token | undefined): Relop | undefined {
  if (token?.t === 'cmd') return RELATIONS.get(token.v) as Relop | undefined;
  if (token?.t !== 'sign') return undefined;
  return ['=', '<', '>', '<=', '>=', '!='].includes(token.v) ? (token.v as Relop) : undefined;
}

/** Words that change nothing before a value: "so the total is", "both". A name behind them is no word: `the area A = 5`. */
export function leads(c: Cursor): boolean {
  const [token, next] = [peek(c), peek(c, 1)];
  if ((token?.t !== 'text' && token?.t !== 'word') || isSign(next, '^', '_') || relop(next)) return false;
  return (token.v.match(/[^\s:,]+/g) ?? []).every((word) => isHarmlessWord(word.toLowerCase()));
}

const PLAIN: readonly string[] = ['num', 'const', 'mul', 'div', 'pow', 'call'];
export const isPlainNumber = (node: Node): boolean =>
  !some(node, (n) => !PLAIN.includes(n.k) || (n.k === 'const' && n.name !== 'pi'));

/** Words after a value: a percent sign, a factor, a unit, a known function; anything else ends the value. */
export function parseWords(c: Cursor, left: Node): Node | undefined {
  const token = peek(c)!;
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
  const minutes = /^(?:min|deg)$/.test(token.v) && isPlainNumber(left);
  if (token.t === 'word' && !minutes && (FUNCTIONS.has(token.v) || /^(?:(?:pi|inf|infty|infinity)$|sqrt)/.test(lower)))
    return times(left, c.parsePostfix(c));
  const strong = token.t === 'text';
  const letters = some(left, (n) => n.k === 'sym');
  const known =
    lower === 'sq' || (isHarmlessPhrase(token.v) && (strong || !letters || isUnitWord(token.v) || token.v.length >= 3));
  // Any word may label a number; behind letters an unknown one is part of the name: triangle ABC.
  const label = (strong || (token.sp && (token.v.length >= 3 || lower === 'of'))) && !letters;
  if (!known && !label) {
    if (!strong) return times(left, c.parsePostfix(c));
    c.at++;
    return times(left, { k: 'text', text: token.v });
  }
  return { k: 'unit', arg: left, unit: unitPhrase(c) ?? '', strong };
}

/** How many tokens of a degree sign stand there, behind the `^`. */
export function degreeAhead(c: Cursor, ahead = 0): number {
  if (isCmd(peek(c, ahead), 'circ', 'degree')) return 1;
  const isBraced = isSign(peek(c, ahead), '{') && isCmd(peek(c, ahead + 1), 'circ', 'degree');
  return isBraced && isSign(peek(c, ahead + 2), '}') ? 3 : 0;
}

const SHARES = { "'": 60n, '"': 3600n };

/** `90°`, or `12° 30'` and `25°C`. */
export function degrees(c: Cursor, arg: Node): Node {
  const token = peek(c);
  if (token?.t === 'id' && /^[CF]$/.test(token.v)) {
    c.at++;
    return { k: 'unit', arg, unit: `degree${token.v}`, strong: true };
  }
  const parts: Node[] = [arg];
  for (const [mark, share] of Object.entries(SHARES)) {
    const part = peek(c);
    if (part?.t !== 'num' || !isSign(peek(c, 1), mark)) continue;
    parts.push(num(Q.div(Q.fromDecimal(part.v) ?? Q.rational(0n), Q.rational(share))));
    c.at += 2;
  }
  return { k: 'deg', arg: add(parts) };
}

/** f', f^{-1}, f_2, P_n: behind these a bracket holds an argument; behind V_0 a factor. */
export function isNamedFunction(node: Node): boolean {
  if (node.k === 'pow')
    return node.base.k === 'sym' ? FUNCTION_LETTERS.has(node.base.name) : isNamedFunction(node.base);
  const [base, index] = node.k === 'call' && /^(prime|index)$/.test(node.name) ? node.args : [];
  if (base?.k !== 'sym') return base !== undefined && isNamedFunction(base);
  return index === undefined || FUNCTION_LETTERS.has(base.name) || (index.k === 'sym' && /^[A-Z]$/.test(base.name));
}

/** Behind ≡ a remainder is the modulus, however it is written. */
export const congruence = (node: Node): Node =>
  node.k === 'call' && node.name === 'mod' ? { ...node, name: 'pmod' } : node;

/** Between vectors a dot and a cross are operators of their own, and no product of numbers. */
export function vectorProduct(left: Node, right: Node, token: Token | undefined): Node | undefined {
  const last = left.k === 'mul' ? left.items.at(-1) : left;
  if (token?.t !== 'cmd' || !last || !(isNabla(last) || (isVector(last) && isVector(right)))) return undefined;
  const product = call(token.v === 'times' ? 'cross' : 'dot', last, right);
  return left.k === 'mul' ? mul([...left.items.slice(0, -1), product]) : product;
}

const isNabla = (node: Node): boolean => node.k === 'sym' && node.name === 'nabla';
const isVector = (node: Node): boolean =>
  some(
    node,
    (n) =>
      (n.k === 'call' && (n.name === 'bold' || n.name.startsWith('\\'))) ||
      (n.k === 'sym' && /^(vec |nabla$)/.test(n.name)),
  );
