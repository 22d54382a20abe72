// Real numbers as doubles that carry a bound of their own error, and say so where they cannot tell. They are exact enough to show
// equality because they refuse what a double would lose: a term so small next to the rest that it changes only the last digits, and
// an argument so small that a function is the beginning of its series there. A sum that cancels to within a small error is
// zero, and keeps that error.

import type { Rational } from '../base/rational.ts';

export interface Ball {
  readonly v: number;
  /** The value is within so much of `v`. */
  readonly e: number;
}

/** The error of a double hides what was asked. */
export class Imprecise extends Error {}
/** No finite value here. */
export class NoValue extends Error {}
/** Mathematics gives it no value: a division by zero, a pole, the logarithm of zero. */
export class Undefined extends NoValue {}
/** A logarithm or an even root of a negative number, where only real values count. */
export class NotReal extends NoValue {}

const U = 2 ** -52;
/** Smaller next to the rest, a part could be lost. */
const HIDDEN = 1e-12;
/** What is left of a sum that cancelled to an error as small is zero. */
const SETTLED = 1e-9;

export const ZERO: Ball = { v: 0, e: 0 };
export const ONE: Ball = { v: 1, e: 0 };
export const PI: Ball = { v: Math.PI, e: U };

function ball(v: number, e: number): Ball {
  const size = Math.abs(v);
  const error = e + size * U;
  // No value becomes zero or infinite unnoticed.
  if (!(size < 1e290 && error < 1e290 && (size > 1e-290 || error > 1e-290)))
    throw new Imprecise('out of the range of doubles');
  return { v, e: error };
}

/** Zero where nothing is left of values of this size but their error. */
const settled = (v: number, e: number, size = 1): Ball =>
  Math.abs(v) <= e && e <= SETTLED * size ? { v: 0, e } : ball(v, e);

function refuse(isHidden: boolean): void {
  if (isHidden) throw new Imprecise('a part lies below the digits of a double');
}

const isTiny = ({ v }: Ball, next: number): boolean => v !== 0 && Math.abs(v) < HIDDEN * next;

/** So small that the term of this order in a function's series there is lost. */
const isFlat = (v: number, order: number): boolean => v !== 0 && Math.abs(v) ** order < HIDDEN;

export const isZero = ({ v }: Ball): boolean => v === 0;

/** A zero that nothing has multiplied up by much. */
export const isKnownZero = ({ v, e }: Ball): boolean => v === 0 && e <= 1e-6;

/** A sum or product of whole numbers. */
const isExact = (v: number, a: Ball, b: Ball): boolean => a.e === 0 && b.e === 0 && Number.isSafeInteger(v);

export function fromRational({ num, den }: Rational): Ball {
  if (num === 0n) return ZERO;
  const v = Number(num) / Number(den);
  return den === 1n && Number.isSafeInteger(v) ? { v, e: 0 } : ball(v, Math.abs(v) * U);
}

export const negative = (a: Ball): Ball => ({ v: -a.v, e: a.e });

export function add(a: Ball, b: Ball): Ball {
  const v = a.v + b.v;
  if (isZero(a) || isZero(b)) return { v, e: a.e + b.e };
  if (isExact(v, a, b)) return { v, e: 0 };
  const size = Math.max(Math.abs(a.v), Math.abs(b.v));
  refuse(isTiny(a, size) || isTiny(b, size));
  return settled(v, a.e + b.e + size * U, size);
}

export const sub = (a: Ball, b: Ball): Ball => add(a, negative(b));

export function mul(a: Ball, b: Ball): Ball {
  const v = a.v * b.v;
  if (isExact(v, a, b)) return { v, e: 0 };
  const e = Math.abs(a.v) * b.e + Math.abs(b.v) * a.e + a.e * b.e;
  return isZero(a) || isZero(b) ? { v: 0, e } : ball(v, e);
}

export function div(a: Ball, b: Ball): Ball {
  if (isZero(b)) throw new Undefined('division by zero');
  const room = Math.abs(b.v) - b.e;
  if (!(room > 0)) throw new Imprecise('division by what may be zero');
  if (isZero(a)) return { v: 0, e: a.e / room };
  const v = a.v / b.v;
  return ball(v, (a.e + Math.abs(v) * b.e) / room);
}

/** −1, 0 or 1. */
export function sign(a: Ball): number {
  if (Math.abs(a.v) <= a.e && !isZero(a)) throw new Imprecise('a sign within the error');
  return Math.sign(a.v);
}

/** −1, 0 or 1 as a is below, at or above b. */
export function compare(a: Ball, b: Ball): number {
  const size = Math.max(Math.abs(a.v), Math.abs(b.v));
  return sign(settled(a.v - b.v, a.e + b.e + size * U, size));
}

/** The root of a number that is not negative. */
export function root(a: Ball, degree: number): Ball {
  if (isZero(a)) return a;
  const room = a.v - a.e;
  if (!(room > 0)) throw new Imprecise('a root of what may be zero');
  refuse(isFlat(a.v - 1, 2) && Math.abs(a.v - 1) > a.e);
  if (degree === 2) return ball(Math.sqrt(a.v), a.e / Math.sqrt(room));
  const v = a.v ** (1 / degree);
  return ball(v, v * (a.e / room / degree + (4 + Math.abs(Math.log(a.v))) * U));
}

export function exp(a: Ball): Ball {
  refuse(isFlat(a.v, 2));
  const v = Math.exp(a.v);
  return ball(v, v * (Math.expm1(a.e) + 2 * U));
}

export function ln(a: Ball): Ball {
  const room = a.v - a.e;
  if (!(room > 0)) throw new Imprecise('a logarithm of what may be zero');
  refuse(isFlat(a.v - 1, 2) && Math.abs(a.v - 1) > a.e);
  const v = Math.log(a.v);
  return settled(v, a.e / room + 2 * U * Math.abs(v));
}

export function sin(a: Ball): Ball {
  refuse(isFlat(a.v, 2));
  const v = Math.sin(a.v);
  return settled(v, a.e + 2 * U * Math.abs(v));
}

export function cos(a: Ball): Ball {
  refuse(isFlat(a.v, 4));
  return settled(Math.cos(a.v), a.e + 2 * U);
}

export function atan2(y: Ball, x: Ball): Ball {
  if (isZero(y) && isZero(x)) throw new NoValue('the angle of zero');
  if (isZero(y)) return sign(x) < 0 ? PI : { v: 0, e: y.e / Math.abs(x.v) };
  refuse(isFlat(x.v / y.v, 3) || isFlat(y.v / x.v, x.v < 0 ? 3 : 2));
  const r = Math.hypot(y.v, x.v);
  if (r <= 2 * (y.e + x.e)) throw new Imprecise('an angle of what may be zero');
  if (x.v < 0 && Math.abs(y.v) <= y.e) throw new Imprecise('an angle at its cut');
  const v = Math.atan2(y.v, x.v);
  return ball(v, (2 * (Math.abs(x.v) * y.e + Math.abs(y.v) * x.e + y.e * x.e)) / r ** 2 + 2 * U * Math.abs(v));
}

/** Then one of the two powers of e that it is made of is lost. */
const isOnePower = ({ v }: Ball): boolean => Math.exp(-2 * Math.abs(v)) < HIDDEN;

export function sinh(a: Ball): Ball {
  refuse(isFlat(a.v, 2) || isOnePower(a));
  const v = Math.sinh(a.v);
  return ball(v, a.e * Math.cosh(Math.abs(a.v) + a.e) + 4 * U * Math.abs(v));
}

export function cosh(a: Ball): Ball {
  refuse(isFlat(a.v, 4) || isOnePower(a));
  const v = Math.cosh(a.v);
  return ball(v, a.e * Math.cosh(Math.abs(a.v) + a.e) + 4 * U * v);
}

export function tanh(a: Ball): Ball {
  // It is 1 but for the last digits.
  refuse(Math.exp(-2 * Math.abs(a.v)) < 1e-6);
  return div(sinh(a), cosh(a));
}
