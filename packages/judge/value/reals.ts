// Two kinds of real numbers behind one interface. `balls` are doubles that carry a bound of their own error:
// fast, and honest about what they cannot tell. `bigReals` (bigreals.ts) have many digits: slower, the last word.

import type { Rational } from '../base/rational.ts';

export interface Reals<T> {
  /** The cost of one function call, next to a double's. */
  readonly cost: number;
  from(q: Rational): T;
  add(a: T, b: T): T;
  sub(a: T, b: T): T;
  mul(a: T, b: T): T;
  div(a: T, b: T): T;
  sqrt(a: T): T;
  /** The root of degree 3 or more of a positive number. */
  root(a: T, degree: number): T;
  exp(a: T): T;
  ln(a: T): T;
  sin(a: T): T;
  cos(a: T): T;
  atan2(y: T, x: T): T;
  readonly pi: T;
  /** −1, 0 or 1; throws Imprecise when the error hides it. */
  sign(a: T): number;
  toNumber(a: T): number;
}

/** The error of a double hides what was asked; more digits may tell. */
export class Imprecise extends Error {}
/** No finite value here. */
export class NoValue extends Error {}
/** Mathematics gives it no value: a division by zero, a pole, the logarithm of zero. */
export class Undefined extends NoValue {}
/** A logarithm or an even root of a negative number, where only real values count. */
export class NotReal extends NoValue {}

export interface Ball {
  readonly v: number;
  readonly e: number;
}

const U = 2 ** -52;
const ball = (v: number, e: number): Ball => {
  if (!Number.isFinite(v) || !Number.isFinite(e)) throw new Imprecise('out of the range of doubles');
  return { v, e: e + Math.abs(v) * U + 1e-300 };
};

function quotient(q: Rational): number {
  const direct = Number(q.num) / Number(q.den);
  if (Number.isFinite(direct) && direct !== 0) return direct;
  if (q.num === 0n) return 0;
  throw new Imprecise('out of the range of doubles');
}

export const balls: Reals<Ball> = {
  cost: 1,
  from: (q) => {
    const v = quotient(q);
    return q.den === 1n && Number.isSafeInteger(v) ? { v, e: 0 } : ball(v, Math.abs(v) * 2 * U);
  },
  add: (a, b) => ball(a.v + b.v, a.e + b.e),
  sub: (a, b) => ball(a.v - b.v, a.e + b.e),
  mul: (a, b) => ball(a.v * b.v, Math.abs(a.v) * b.e + Math.abs(b.v) * a.e + a.e * b.e),
  div: (a, b) => {
    const room = Math.abs(b.v) - b.e;
    if (!(room > 0)) {
      if (b.v === 0 && b.e < 1e-299) throw new Undefined('division by zero');
      throw new Imprecise('division by what may be zero');
    }
    const v = a.v / b.v;
    return ball(v, (a.e + Math.abs(v) * b.e) / room);
  },
  sqrt: (a) => {
    const v = Math.sqrt(Math.max(a.v, 0));
    return ball(v, v > 0 ? Math.min(a.e / v, Math.sqrt(a.e)) : Math.sqrt(a.e));
  },
  root: (a, degree) => {
    const room = a.v - a.e;
    if (!(room > 0)) throw new Imprecise('a root of what may be zero');
    const v = a.v ** (1 / degree);
    return ball(v, v * (a.e / room / degree + (4 + Math.abs(Math.log(a.v))) * U));
  },
  exp: (a) => {
    const v = Math.exp(a.v);
    return ball(v, v * (Math.expm1(a.e) + 2 * U));
  },
  ln: (a) => {
    const room = a.v - a.e;
    if (!(room > 0)) throw new Imprecise('logarithm of what may be zero');
    return ball(Math.log(a.v), a.e / room + 2 * U);
  },
  sin: (a) => ball(Math.sin(a.v), a.e + 2 * U),
  cos: (a) => ball(Math.cos(a.v), a.e + 2 * U),
  atan2: (y, x) => {
    const r = Math.hypot(y.v, x.v);
    if (r <= 2 * (y.e + x.e)) throw new Imprecise('an angle of what may be zero');
    if (x.v < 0 && Math.abs(y.v) <= y.e && y.e > 0) throw new Imprecise('an angle at its cut');
    return ball(Math.atan2(y.v, x.v), (2 * (y.e + x.e)) / r + 2 * U);
  },
  pi: { v: Math.PI, e: 2 * U },
  sign: (a) => {
    if (a.v > a.e) return 1;
    if (a.v < -a.e) return -1;
    if (a.v === 0 && a.e < 1e-299) return 0;
    throw new Imprecise('a sign within the error');
  },
  toNumber: (a) => a.v,
};
