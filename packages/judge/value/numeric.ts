// The value of an expression at a point, as a complex number. Real where it can be: an odd root of a negative real is real.

import { type Node, some } from '../base/ast.ts';
import { exact, expand, replaceSymbol } from './exact.ts';
import { spend } from '../base/limits.ts';
import {
  type Complex,
  exponential,
  functionValue,
  isReal,
  logarithm,
  negate,
  type Place,
  product,
  quotient,
  real,
  sum,
  whole,
} from './functions.ts';
import * as Q from '../base/rational.ts';
import { fromRational, Imprecise, NotReal, NoValue, ONE, PI, sign, Undefined, ZERO } from './balls.ts';
import type { Comparison } from './comparison.ts';
import { drawn, residue } from './residues.ts';

/** Undefined when the value cannot be told. */
export function valueAt(node: Node, at: Place): Complex | 'not-real' | undefined {
  try {
    return value(node, at);
  } catch (error) {
    if (error instanceof NotReal) return 'not-real';
    if (error instanceof NoValue || error instanceof Imprecise) return undefined;
    throw error;
  }
}

/** −1, 0 or 1; undefined where it is no real number, or cannot be told. */
export function signAt(node: Node, at: Place): number | undefined {
  const found = valueAt(node, at);
  if (typeof found !== 'object' || !isReal(found)) return undefined;
  return Math.abs(found.re.v) > found.re.e || found.re.e === 0 ? Math.sign(found.re.v) : undefined;
}

/** A real constant as a double, if it has one that is known well. */
export function constant(node: Node, c: Comparison): number | undefined {
  if (some(node, (n) => n.k === 'sym' || n.k === 'apply')) return undefined;
  const found = valueAt(node, { letters: new Map(), c, realOnly: true });
  if (typeof found !== 'object' || !isReal(found)) return undefined;
  return found.re.e > Math.abs(found.re.v) * 1e-9 + 1e-12 ? undefined : found.re.v;
}

/** The same as the fraction that the double is. */
export function precise(node: Node, c: Comparison): Q.Rational | undefined {
  const near = constant(node, c);
  return near === undefined ? undefined : Q.fromNumber(near);
}

export function value(node: Node, at: Place): Complex {
  spend(at.c.budget, 2);
  switch (node.k) {
    case 'num':
      return real(fromRational(node.value));
    case 'const':
      if (node.name === 'pi') return real(PI);
      if (node.name === 'e') return real({ v: Math.E, e: 2 ** -52 });
      if (node.name === 'i') return { re: ZERO, im: ONE };
      throw new NoValue('infinity');
    case 'sym':
      return real(fromRational(at.letters.get(node.name) ?? unknown(node.name)));
    case 'neg':
      return negate(value(node.arg, at));
    case 'add':
      return node.items.map((item) => value(item, at)).reduce(sum);
    case 'mul':
      return node.items.map((item) => value(item, at)).reduce(product);
    case 'div':
      return quotient(value(node.top, at), value(node.bottom, at));
    case 'percent':
      return quotient(value(node.arg, at), whole(100));
    case 'pow':
      return power(node, at);
    case 'call':
      return callValue(node, at);
    case 'big': {
      const bounds = { ...node, from: node.from && bind(node.from, at), to: node.to && bind(node.to, at) };
      const terms = expand(bounds, at.c)?.map((term) => value(term, at));
      if (!terms) return atom(node, at);
      return node.op === 'sum' ? terms.reduce(sum, whole(0)) : terms.reduce(product, whole(1));
    }
    default:
      return atom(node, at);
  }
}

/** A value of its own for what cannot be evaluated, drawn from what it is. */
function atom(node: Node, at: Place): Complex {
  const name = residue(node, at.c);
  if (!name) throw new NoValue(`no value for ${node.k}`);
  return real(fromRational(unknown(`${name.re},${name.im}`)));
}

const unknown = (name: string): Q.Rational => Q.rational(3000n + (drawn(name) % 20011n), 10_007n);

/** Letters replaced by their values, for what must become an exact number. */
function bind(node: Node, at: Place): Node {
  let bound = node;
  if (node.k !== 'num')
    for (const [name, by] of at.letters) bound = replaceSymbol(bound, name, { k: 'num', value: by, decimal: false });
  return bound;
}

function power(node: Extract<Node, { k: 'pow' }>, at: Place): Complex {
  const exponent = exact(bind(node.exp, at), at.c);
  const hasLetters = some(node.exp, (n) => n.k === 'sym');
  // 0^n is 1, 0 or nothing, as n stands: no sample speaks for the others.
  if (node.base.k !== 'sym' && node.base.k !== 'const' && hasLetters && isNothing(value(node.base, at)))
    throw new NoValue('a power of zero');
  if (exponent?.den === 1n && exponent.num >= -4096n && exponent.num <= 4096n) {
    let base = value(node.base, at);
    let result = whole(1);
    spend(at.c.budget, 12);
    for (let n = Q.abs(exponent).num; n > 0n; n >>= 1n) {
      if (n & 1n) result = product(result, base);
      if (n > 1n) base = product(base, base);
    }
    return exponent.num < 0n ? quotient(whole(1), result) : result;
  }
  if (node.base.k === 'const' && node.base.name === 'e') return exponential(value(node.exp, at), at);
  const base = value(node.base, at);
  if (isNothing(base)) {
    const exp = value(node.exp, at);
    if (isReal(exp) && sign(exp.re) > 0) return base;
    throw new Undefined('a power of zero');
  }
  // An odd root of a negative number is real, however it is written.
  const isOddRoot = at.realOnly && !hasLetters && exponent !== undefined && exponent.den % 2n === 1n;
  if (isOddRoot && isReal(base) && sign(base.re) < 0) {
    const size = exponential(product(value(node.exp, at), logarithm(negate(base), at)), at);
    return exponent.num % 2n === 0n ? size : negate(size);
  }
  return exponential(product(value(node.exp, at), logarithm(base, at)), at);
}

const isNothing = (a: Complex): boolean => isReal(a) && sign(a.re) === 0;

/** Functions that have values at whole numbers only. */
export const WHOLE = new Set(['factorial', 'doublefactorial', 'binom', 'gcd', 'lcm', 'mod']);

function callValue(node: Extract<Node, { k: 'call' }>, at: Place): Complex {
  if (!WHOLE.has(node.name)) return functionValue(node, at, (arg) => value(arg, at)) ?? atom(node, at);
  const known = exact(bind(node, at), at.c);
  if (!known) throw new NoValue('no whole number');
  return real(fromRational(known));
}
