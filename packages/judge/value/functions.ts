// Complex arithmetic over either kind of reals, and the named functions: roots, logarithms, trigonometry and its inverses,
// all built from exp, ln, sin, cos and atan2 of the reals given. A number without an imaginary part stays on the real line.

import { int, type Node } from '../base/ast.ts';
import { spend } from '../base/limits.ts';
import { NotReal, NoValue, type Reals, Undefined } from './reals.ts';
import type { ResidueContext } from './residues.ts';
import * as Q from '../base/rational.ts';

export interface Complex<T> {
  readonly re: T;
  /** Undefined on the real line. */
  readonly im: T | undefined;
}

export interface NumericContext<T> {
  readonly reals: Reals<T>;
  readonly letters: ReadonlyMap<string, Q.Rational>;
  readonly symbolic: ResidueContext;
  readonly realOnly: boolean;
}

export const negate = <T>(a: Complex<T>, r: Reals<T>): Complex<T> => {
  const zero = r.from(Q.ZERO);
  return { re: r.sub(zero, a.re), im: a.im === undefined ? undefined : r.sub(zero, a.im) };
};

export const sum = <T>(a: Complex<T>, b: Complex<T>, r: Reals<T>): Complex<T> => ({
  re: r.add(a.re, b.re),
  im: a.im === undefined ? b.im : b.im === undefined ? a.im : r.add(a.im, b.im),
});

export const product = <T>(a: Complex<T>, b: Complex<T>, r: Reals<T>): Complex<T> => {
  if (a.im === undefined && b.im === undefined) return { re: r.mul(a.re, b.re), im: undefined };
  if (a.im === undefined) return { re: r.mul(a.re, b.re), im: r.mul(a.re, b.im as T) };
  if (b.im === undefined) return { re: r.mul(a.re, b.re), im: r.mul(a.im, b.re) };
  return { re: r.sub(r.mul(a.re, b.re), r.mul(a.im, b.im)), im: r.add(r.mul(a.re, b.im), r.mul(a.im, b.re)) };
};

export const quotient = <T>(a: Complex<T>, b: Complex<T>, r: Reals<T>): Complex<T> => {
  if (b.im === undefined) {
    return { re: r.div(a.re, b.re), im: a.im === undefined ? undefined : r.div(a.im, b.re) };
  }
  const norm = r.add(r.mul(b.re, b.re), r.mul(b.im, b.im));
  const top = product(a, { re: b.re, im: r.sub(r.from(Q.ZERO), b.im) }, r);
  return { re: r.div(top.re, norm), im: top.im === undefined ? undefined : r.div(top.im, norm) };
};

export function exponential<T>(a: Complex<T>, c: NumericContext<T>): Complex<T> {
  const { reals } = c;
  spend(c.symbolic.budget, 20 * c.reals.cost);
  const size = reals.exp(a.re);
  if (a.im === undefined) return { re: size, im: undefined };
  return { re: reals.mul(size, reals.cos(a.im)), im: reals.mul(size, reals.sin(a.im)) };
}

export function logarithm<T>(a: Complex<T>, c: NumericContext<T>): Complex<T> {
  const { reals } = c;
  spend(c.symbolic.budget, 40 * c.reals.cost);
  if (a.im !== undefined) throw new NoValue('the logarithm of a complex number');
  const sign = reals.sign(a.re);
  if (sign === 0) throw new Undefined('the logarithm of zero');
  if (sign > 0) return { re: reals.ln(a.re), im: undefined };
  if (c.realOnly) throw new NotReal('not real');
  return { re: reals.ln(reals.sub(reals.from(Q.ZERO), a.re)), im: reals.pi };
}

/** Undefined when the function is not known here. */
export function functionValue<T>(
  node: Extract<Node, { k: 'call' }>,
  c: NumericContext<T>,
  evaluate: (arg: Node) => Complex<T>,
): Complex<T> | undefined {
  const [first, second = int(2)] = node.args;
  if (!first) throw new NoValue('a function of nothing');
  const r = c.reals;
  spend(c.symbolic.budget, 2 * c.reals.cost);
  switch (node.name) {
    case 'root':
      return rootValue(evaluate(first), second, c);
    case 'abs':
      return absolute(evaluate(first), r);
    case 'ln':
      return logarithm(evaluate(first), c);
    case 'log':
      // Without a base: the decimal logarithm, as in school; `ln` is the natural one.
      return over(logarithm(evaluate(first), c), logarithm(realOf(10n, r), c), r);
    case 'logbase':
      return over(logarithm(evaluate(first), c), logarithm(evaluate(second), c), r);
    case 're':
      return { re: evaluate(first).re, im: undefined };
    case 'im':
      return { re: evaluate(first).im ?? r.from(Q.ZERO), im: undefined };
    case 'conj': {
      const a = evaluate(first);
      return { re: a.re, im: a.im === undefined ? undefined : r.sub(r.from(Q.ZERO), a.im) };
    }
    case 'max':
    case 'min': {
      const values = node.args.map(evaluate);
      if (values.some((v) => v.im !== undefined)) throw new NoValue('complex numbers have no order');
      const wanted = node.name === 'max' ? 1 : -1;
      return values.reduce((a, b) => (r.sign(r.sub(a.re, b.re)) * wanted >= 0 ? a : b));
    }
    case 'floor':
    case 'ceil':
      return stepped(evaluate(first), node.name, c);
    default:
      return trigonometric(node.name, evaluate, first, c);
  }
}

const realOf = <T>(n: bigint, r: Reals<T>): Complex<T> => ({ re: r.from(Q.rational(n)), im: undefined });

function over<T>(a: Complex<T>, b: Complex<T>, r: Reals<T>): Complex<T> {
  if (b.im !== undefined) throw new NoValue('a complex base');
  return { re: r.div(a.re, b.re), im: a.im === undefined ? undefined : r.div(a.im, b.re) };
}

function absolute<T>(a: Complex<T>, r: Reals<T>): Complex<T> {
  if (a.im !== undefined) return { re: r.sqrt(r.add(r.mul(a.re, a.re), r.mul(a.im, a.im))), im: undefined };
  return { re: r.sign(a.re) < 0 ? r.sub(r.from(Q.ZERO), a.re) : a.re, im: undefined };
}

/** Roots of a higher degree are powers. */
const MAX_ROOT = 8n;

function rootValue<T>(a: Complex<T>, degreeNode: Node, c: NumericContext<T>): Complex<T> {
  const r = c.reals;
  if (degreeNode.k !== 'num' || degreeNode.value.den !== 1n) throw new NoValue('a root of unknown degree');
  const degree = degreeNode.value.num;
  if (degree < 1n || degree > 10_000n) throw new NoValue('a root of this degree');
  if (a.im === undefined) {
    const sign = r.sign(a.re);
    if (sign === 0) return a;
    if (sign < 0) {
      const size = rootValue({ re: r.sub(r.from(Q.ZERO), a.re), im: undefined }, degreeNode, c);
      if (degree % 2n === 1n) return { re: r.sub(r.from(Q.ZERO), size.re), im: undefined };
      if (c.realOnly) throw new NotReal('not real');
      if (degree === 2n) return { re: r.from(Q.ZERO), im: size.re };
    } else if (degree <= MAX_ROOT) {
      spend(c.symbolic.budget, Number(degree) * r.cost);
      return { re: degree === 2n ? r.sqrt(a.re) : r.root(a.re, Number(degree)), im: undefined };
    }
  }
  const log = logarithm(a, c);
  const share = r.from(Q.rational(1n, degree));
  return exponential({ re: r.mul(log.re, share), im: log.im === undefined ? undefined : r.mul(log.im, share) }, c);
}

function stepped<T>(a: Complex<T>, name: string, c: NumericContext<T>): Complex<T> {
  const r = c.reals;
  if (a.im !== undefined) throw new NoValue('complex numbers have no order');
  const near = Math.round(r.toNumber(a.re));
  if (!Number.isSafeInteger(near)) throw new NoValue('too large to round');
  const side = r.sign(r.sub(a.re, r.from(Q.rational(BigInt(near)))));
  const down = side < 0 ? near - 1 : near;
  const up = side > 0 ? near + 1 : near;
  return realOf(BigInt(name === 'floor' ? down : up), r);
}

const TRIG = /^(sin|cos|tan|cot|sec|csc)$/;

function trigonometric<T>(
  name: string,
  evaluate: (arg: Node) => Complex<T>,
  first: Node,
  c: NumericContext<T>,
): Complex<T> | undefined {
  const r = c.reals;
  spend(c.symbolic.budget, 30 * c.reals.cost);
  const one = r.from(Q.ONE);
  const two = r.from(Q.rational(2n));
  const real = (re: T): Complex<T> => ({ re, im: undefined });
  if (TRIG.test(name)) {
    const a = evaluate(first);
    if (a.im !== undefined) throw new NoValue('trigonometry of a complex number');
    if (name === 'sin') return real(r.sin(a.re));
    if (name === 'cos') return real(r.cos(a.re));
    const [sin, cos] = [r.sin(a.re), r.cos(a.re)];
    const bottom = name === 'tan' || name === 'sec' ? cos : sin;
    if (r.sign(bottom) === 0) throw new Undefined('a pole');
    if (name === 'tan') return real(r.div(sin, cos));
    if (name === 'cot') return real(r.div(cos, sin));
    return real(r.div(one, bottom));
  }
  if (/^(?:sinh|cosh|tanh)$/.test(name)) {
    const a = evaluate(first);
    if (a.im !== undefined) throw new NoValue('a complex argument');
    const up = r.exp(a.re);
    const down = r.div(one, up);
    const [sinh, cosh] = [r.div(r.sub(up, down), two), r.div(r.add(up, down), two)];
    if (name === 'sinh') return real(sinh);
    if (name === 'cosh') return real(cosh);
    return real(r.div(sinh, cosh));
  }
  if (!/^arc(?:sin|cos|tan)$/.test(name)) return undefined;
  const a = evaluate(first);
  if (a.im !== undefined) throw new NoValue('a complex argument');
  const x = a.re;
  if (name === 'arctan') return real(r.atan2(x, one));
  const room = r.sub(one, r.mul(x, x));
  if (r.sign(room) < 0) throw new NotReal('outside the domain');
  const other = r.sqrt(room);
  return real(name === 'arcsin' ? r.atan2(x, other) : r.atan2(other, x));
}
