// Complex arithmetic over doubles with error bounds, and the named functions: roots, logarithms, trigonometry and its inverses. A
// number whose imaginary part is zero is real.

import { int, type Node } from '../base/ast.ts';
import { spend } from '../base/limits.ts';
import {
  add,
  atan2,
  type Ball,
  compare,
  cos,
  cosh,
  div,
  exp,
  fromRational,
  isZero,
  ln,
  mul,
  negative,
  NotReal,
  NoValue,
  ONE,
  PI,
  root,
  sign,
  sin,
  sinh,
  sub,
  tanh,
  Undefined,
  ZERO,
} from './balls.ts';
import type { Comparison } from './comparison.ts';
import * as Q from '../base/rational.ts';

export interface Complex {
  readonly re: Ball;
  readonly im: Ball;
}

/** Where an expression is evaluated. */
export interface Place {
  readonly letters: ReadonlyMap<string, Q.Rational>;
  readonly c: Comparison;
  /** Values that leave the real line are refused. */
  readonly realOnly: boolean;
}

export const real = (re: Ball): Complex => ({ re, im: ZERO });
export const whole = (n: number | bigint): Complex => real(fromRational(Q.rational(BigInt(n))));
export const isReal = (a: Complex): boolean => isZero(a.im);

/** The real number that it is. */
function realPart(a: Complex): Ball {
  if (!isReal(a)) throw new NoValue('a complex argument');
  return a.re;
}

export const negate = (a: Complex): Complex => ({ re: negative(a.re), im: negative(a.im) });

export const sum = (a: Complex, b: Complex): Complex => ({ re: add(a.re, b.re), im: add(a.im, b.im) });

export const product = (a: Complex, b: Complex): Complex => ({
  re: sub(mul(a.re, b.re), mul(a.im, b.im)),
  im: add(mul(a.re, b.im), mul(a.im, b.re)),
});

export function quotient(a: Complex, b: Complex): Complex {
  if (isReal(b)) return { re: div(a.re, b.re), im: div(a.im, b.re) };
  const norm = add(mul(b.re, b.re), mul(b.im, b.im));
  const top = product(a, { re: b.re, im: negative(b.im) });
  return { re: div(top.re, norm), im: div(top.im, norm) };
}

export function exponential(a: Complex, at: Place): Complex {
  spend(at.c.budget, 20);
  const size = exp(a.re);
  return isReal(a) ? real(size) : { re: mul(size, cos(a.im)), im: mul(size, sin(a.im)) };
}

export function logarithm(a: Complex, at: Place): Complex {
  spend(at.c.budget, 40);
  const x = realPart(a);
  const side = sign(x);
  if (side === 0) throw new Undefined('the logarithm of zero');
  if (side > 0) return real(ln(x));
  if (at.realOnly) throw new NotReal('not real');
  return { re: ln(negative(x)), im: PI };
}

/** Undefined when the function is not known here. */
export function functionValue(
  node: Extract<Node, { k: 'call' }>,
  at: Place,
  evaluate: (arg: Node) => Complex,
): Complex | undefined {
  const [first, second = int(2)] = node.args;
  if (!first) throw new NoValue('a function of nothing');
  spend(at.c.budget, 2);
  switch (node.name) {
    case 'root':
      return rootValue(evaluate(first), second, at);
    case 'abs': {
      const a = evaluate(first);
      if (isReal(a)) return real(sign(a.re) < 0 ? negative(a.re) : a.re);
      return real(root(add(mul(a.re, a.re), mul(a.im, a.im)), 2));
    }
    case 'ln':
      return logarithm(evaluate(first), at);
    case 'log':
      // Without a base: the decimal logarithm, as in school; `ln` is the natural one.
      return over(logarithm(evaluate(first), at), logarithm(whole(10), at));
    case 'logbase':
      return over(logarithm(evaluate(first), at), logarithm(evaluate(second), at));
    case 're':
      return real(evaluate(first).re);
    case 'im':
      return real(evaluate(first).im);
    case 'conj': {
      const a = evaluate(first);
      return { re: a.re, im: negative(a.im) };
    }
    case 'max':
    case 'min': {
      const wanted = node.name === 'max' ? 1 : -1;
      const values = node.args.map((arg) => realPart(evaluate(arg)));
      return real(values.reduce((a, b) => (compare(a, b) * wanted >= 0 ? a : b)));
    }
    case 'floor':
    case 'ceil':
      return stepped(realPart(evaluate(first)), node.name);
    default:
      return trigonometric(node.name, () => realPart(evaluate(first)), at);
  }
}

const over = (a: Complex, b: Complex): Complex => quotient(a, real(realPart(b)));

/** Roots of a higher degree are powers. */
const MAX_ROOT = 8n;

function rootValue(a: Complex, degreeNode: Node, at: Place): Complex {
  if (degreeNode.k !== 'num' || degreeNode.value.den !== 1n) throw new NoValue('a root of unknown degree');
  const degree = degreeNode.value.num;
  if (degree < 1n || degree > 10_000n) throw new NoValue('a root of this degree');
  if (isReal(a)) {
    const side = sign(a.re);
    if (side === 0) return a;
    if (side < 0) {
      if (degree % 2n === 1n) return negate(rootValue(negate(a), degreeNode, at));
      if (at.realOnly) throw new NotReal('not real');
      if (degree === 2n) return { re: ZERO, im: root(negative(a.re), 2) };
    } else if (degree <= MAX_ROOT) return real(root(a.re, Number(degree)));
  }
  return exponential(product(logarithm(a, at), real(fromRational(Q.rational(1n, degree)))), at);
}

function stepped(a: Ball, name: 'floor' | 'ceil'): Complex {
  const near = Math.round(a.v);
  if (!Number.isSafeInteger(near)) throw new NoValue('too large to round');
  const side = compare(a, { v: near, e: 0 });
  if (name === 'floor') return whole(side < 0 ? near - 1 : near);
  return whole(side > 0 ? near + 1 : near);
}

/** `argument` is evaluated only for a function that is known. */
function trigonometric(name: string, argument: () => Ball, at: Place): Complex | undefined {
  spend(at.c.budget, 30);
  if (/^(?:sin|cos|tan|cot|sec|csc)$/.test(name)) {
    const x = argument();
    if (name === 'sin') return real(sin(x));
    if (name === 'cos') return real(cos(x));
    if (name === 'sec') return real(div(ONE, cos(x)));
    if (name === 'csc') return real(div(ONE, sin(x)));
    return real(name === 'tan' ? div(sin(x), cos(x)) : div(cos(x), sin(x)));
  }
  if (/^(?:sinh|cosh|tanh)$/.test(name)) {
    const x = argument();
    if (name === 'tanh') return real(tanh(x));
    return real(name === 'sinh' ? sinh(x) : cosh(x));
  }
  if (!/^arc(?:sin|cos|tan)$/.test(name)) return undefined;
  const x = argument();
  if (name === 'arctan') return real(atan2(x, ONE));
  const room = sub(ONE, mul(x, x));
  if (sign(room) < 0) throw new NotReal('outside the domain');
  const other = root(room, 2);
  return real(name === 'arcsin' ? atan2(x, other) : atan2(other, x));
}
