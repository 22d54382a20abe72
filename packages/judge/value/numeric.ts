// The value of an expression as a complex number, over either kind of reals. Real where it can be: an odd
// root of a negative real is real; `real` mode refuses values that leave the real line.

import { type Node, some } from '../base/ast.ts';
import { exact, expand, replaceSymbol } from './exact.ts';
import { spend } from '../base/limits.ts';
import {
  type Complex,
  exponential,
  functionValue,
  logarithm,
  negate,
  type NumericContext,
  product,
  quotient,
  sum,
} from './functions.ts';
import * as Q from '../base/rational.ts';
import { NoValue, Undefined } from './reals.ts';
import { drawn, residue } from './residues.ts';

export function value<T>(node: Node, c: NumericContext<T>): Complex<T> {
  spend(c.symbolic.budget, 2);
  const { reals } = c;
  const real = (re: T): Complex<T> => ({ re, im: undefined });
  const small = (n: number): T => reals.from(Q.rational(BigInt(n)));
  switch (node.k) {
    case 'num':
      return real(reals.from(node.value));
    case 'const':
      if (node.name === 'pi') return real(reals.pi);
      if (node.name === 'e') return real(reals.exp(small(1)));
      if (node.name === 'i') return { re: small(0), im: small(1) };
      throw new NoValue('infinity');
    case 'sym':
      return real(reals.from(c.letters.get(node.name) ?? unknown(node.name)));
    case 'neg':
      return negate(value(node.arg, c), reals);
    case 'add':
      return node.items.map((item) => value(item, c)).reduce((a, b) => sum(a, b, reals));
    case 'mul':
      return node.items.map((item) => value(item, c)).reduce((a, b) => product(a, b, reals));
    case 'div':
      return quotient(value(node.top, c), value(node.bottom, c), reals);
    case 'percent':
      return quotient(value(node.arg, c), real(small(100)), reals);
    case 'pow':
      return power(node, c);
    case 'call':
      return callValue(node, c);
    case 'big': {
      const bounds = { ...node, from: node.from && bind(node.from, c), to: node.to && bind(node.to, c) };
      const terms = expand(bounds, c.symbolic);
      if (!terms) return atom(node, c);
      const start = real(small(node.op === 'sum' ? 0 : 1));
      return terms
        .map((t) => value(t, c))
        .reduce((a, b) => (node.op === 'sum' ? sum(a, b, reals) : product(a, b, reals)), start);
    }
    default:
      return atom(node, c);
  }
}

/** A value of its own for what cannot be evaluated, drawn from what it is. */
function atom<T>(node: Node, c: NumericContext<T>): Complex<T> {
  const name = residue(node, c.symbolic);
  if (!name) throw new NoValue(`no value for ${node.k}`);
  return { re: c.reals.from(unknown(`${name.re},${name.im}`)), im: undefined };
}

const unknown = (name: string): Q.Rational => Q.rational(3000n + (drawn(name) % 20011n), 10_007n);

/** Letters replaced by their values, for bounds that must become whole numbers. */
function bind<T>(node: Node, c: NumericContext<T>): Node {
  let bound = node;
  for (const [name, by] of c.letters) bound = replaceSymbol(bound, name, { k: 'num', value: by, decimal: false });
  return bound;
}

function power<T>(node: Extract<Node, { k: 'pow' }>, c: NumericContext<T>): Complex<T> {
  const { reals } = c;
  const exponent = exact(bindIfLetters(node.exp, c), c.symbolic);
  // 0^n is 1, 0 or nothing, as n stands: no sample speaks for the others.
  if (node.base.k !== 'sym' && node.base.k !== 'const' && some(node.exp, (n) => n.k === 'sym')) {
    const base = value(node.base, c);
    if (base.im === undefined && reals.sign(base.re) === 0) throw new NoValue('a power of zero');
  }
  if (exponent?.den === 1n && exponent.num >= -4096n && exponent.num <= 4096n) {
    let base = value(node.base, c);
    let result: Complex<T> = { re: reals.from(Q.ONE), im: undefined };
    const times = exponent.num < 0n ? -exponent.num : exponent.num;
    spend(c.symbolic.budget, 12);
    for (let n = times; n > 0n; n >>= 1n) {
      if (n & 1n) result = product(result, base, reals);
      if (n > 1n) base = product(base, base, reals);
    }
    return exponent.num < 0n ? quotient({ re: reals.from(Q.ONE), im: undefined }, result, reals) : result;
  }
  if (node.base.k === 'const' && node.base.name === 'e') return exponential(value(node.exp, c), c);
  const base = value(node.base, c);
  if (base.im === undefined && reals.sign(base.re) === 0) {
    const exp = value(node.exp, c);
    if (exp.im === undefined && reals.sign(exp.re) > 0) return base;
    throw new Undefined('a power of zero');
  }
  // An odd root of a negative number is real, however it is written.
  if (
    c.realOnly &&
    !some(node.exp, (n) => n.k === 'sym') &&
    exponent &&
    exponent.den % 2n === 1n &&
    base.im === undefined &&
    reals.sign(base.re) < 0
  ) {
    const size = exponential(product(value(node.exp, c), logarithm(negate(base, reals), c), reals), c);
    return exponent.num % 2n === 0n ? size : negate(size, reals);
  }
  return exponential(product(value(node.exp, c), logarithm(base, c), reals), c);
}

function bindIfLetters<T>(node: Node, c: NumericContext<T>): Node {
  return c.letters.size > 0 && node.k !== 'num' ? bind(node, c) : node;
}

/** Functions that have values at whole numbers only. */
export const WHOLE = new Set(['factorial', 'doublefactorial', 'binom', 'gcd', 'lcm', 'mod']);

function callValue<T>(node: Extract<Node, { k: 'call' }>, c: NumericContext<T>): Complex<T> {
  const known = exact(bindIfLetters(node, c), c.symbolic);
  if (known) return { re: c.reals.from(known), im: undefined };
  if (WHOLE.has(node.name)) throw new NoValue('no whole number');
  return functionValue(node, c, (arg) => value(arg, c)) ?? atom(node, c);
}
