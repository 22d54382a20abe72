// Complex arithmetic over either kind of reals. A number without an imaginary part stays on the real line.

import { spend } from '../limits.ts';
import * as Q from '../rational.ts';
import { NotReal, type Reals, Undefined } from './reals.ts';
import type { ResidueContext } from './residues.ts';

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
  if (a.im === undefined) {
    const sign = reals.sign(a.re);
    if (sign === 0) throw new Undefined('the logarithm of zero');
    if (sign > 0) return { re: reals.ln(a.re), im: undefined };
    if (c.realOnly) throw new NotReal('not real');
    return { re: reals.ln(reals.sub(reals.from(Q.ZERO), a.re)), im: reals.pi };
  }
  const norm = reals.add(reals.mul(a.re, a.re), reals.mul(a.im, a.im));
  const half = reals.from(Q.rational(1n, 2n));
  return { re: reals.mul(half, reals.ln(norm)), im: reals.atan2(a.im, a.re) };
}
