// Signs and brackets beside a value: degrees and primes (`12° 30' 15"`, `25°C`, `f'`), names that take
// brackets (f', f^{-1}), the modulus of a congruence, the dot and the cross of vectors.

import { call, mul, type Node, num, some } from '../base/ast.ts';
import { div as divide, fromDecimal, rational } from '../base/rational.ts';
import { type Cursor, isCmd, isSign, peek, type Token } from './tokens.ts';
import { FUNCTION_LETTERS } from './vocabulary.ts';

/** How many tokens of a degree sign stand there, behind the `^`. */
export function degreeAhead(c: Cursor, ahead: number): number {
  if (isCmd(peek(c, ahead), 'circ', 'degree')) return 1;
  const braced = isSign(peek(c, ahead), '{') && isCmd(peek(c, ahead + 1), 'circ', 'degree');
  return braced && isSign(peek(c, ahead + 2), '}') ? 3 : 0;
}

export function isDegree(c: Cursor): boolean {
  const length = degreeAhead(c, 0);
  c.at += length;
  return length > 0;
}

/** `90°`, or `12° 30'` and `25°C`. */
export function degrees(c: Cursor, arg: Node): Node {
  const token = peek(c);
  if (token?.t === 'id' && /^[CF]$/.test(token.v)) {
    c.at++;
    return { k: 'unit', arg, unit: `degree${token.v}`, strong: true };
  }
  const parts: Node[] = [arg];
  for (const [mark, share] of [
    ["'", 60n],
    ['"', 3600n],
  ] as const) {
    const part = peek(c);
    if (part?.t !== 'num' || !isPrime(peek(c, 1), mark)) continue;
    parts.push(num(divide(fromDecimal(part.v) ?? rational(0n), rational(share))));
    c.at += 2;
  }
  return { k: 'deg', arg: parts.length === 1 ? arg : { k: 'add', items: parts } };
}

const isPrime = (token: Token | undefined, mark: string): boolean =>
  isSign(token, mark) || (isSign(token, "'") && mark === '"');

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
