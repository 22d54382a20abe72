// Real numbers of many digits, made of an arithmetic over BigInt and the elementary functions on it: the last word where
// doubles cannot tell.

import * as Q from '../base/rational.ts';
import {
  type Arithmetic,
  type Big,
  makeArithmetic,
  toNumber,
  BITS_PER_DIGIT,
  negate,
  shift,
  topBit,
  BIG_ZERO,
} from './big-arithmetic.ts';
import { type Reals, NoValue } from './reals.ts';

export interface BigReals extends Reals<Big> {
  abs(a: Big): Big;
  /** Negative, zero or positive as a is below, at or above b. */
  compare(a: Big, b: Big): number;
  isZero(a: Big): boolean;
  readonly bits: number;
  /** The part of their size by which two equal values may differ: all but 15 digits are compared. */
  readonly lastDigits: Big;
}

const byDigits = new Map<number, BigReals>();

/** Reals of at least so many digits, made once per size. */
export function bigReals(digits: number): BigReals {
  const rounded = Math.ceil(digits / 20) * 20;
  let made = byDigits.get(rounded);
  if (!made) byDigits.set(rounded, (made = makeReals(makeArithmetic(rounded))));
  return made;
}

function makeReals(arithmetic: Arithmetic): BigReals {
  const { digits, from, compare } = arithmetic;
  const abs = (a: Big): Big => ({ m: a.m < 0n ? -a.m : a.m, e: a.e });
  const tiny = from(Q.rational(1n, 10n ** BigInt(Math.floor(digits * 0.7))));
  return {
    ...arithmetic,
    ...makeExponentials(arithmetic),
    ...makeAngles(arithmetic),
    cost: Math.ceil(12 * (digits / 100) ** 0.75),
    // Far below the digits only cancellation leads.
    sign: (a) => (compare(abs(a), tiny) <= 0 ? 0 : a.m < 0n ? -1 : 1),
    toNumber,
    abs,
    isZero: (a) => a.m === 0n,
    lastDigits: from(Q.rational(1n, 10n ** BigInt(digits - 15))),
  };
}

const GUARD = 64;

/** A constant as an integer over 2^bits; the longest one made so far is kept. */
function constant(make: (bits: number) => bigint): (bits: number) => bigint {
  let [known, length] = [0n, 0];
  return (bits) => {
    if (bits > length) {
      length = bits + 128;
      known = make(length);
    }
    return known >> BigInt(length - bits);
  };
}

/** atanh(1/n) or atan(1/n) over 2^bits. */
function inverse(n: bigint, bits: number, hyperbolic: boolean): bigint {
  let term = (1n << BigInt(bits)) / n;
  let sum = term;
  for (let k = 3n; term !== 0n; k += 2n) {
    term = hyperbolic ? term / (n * n) : -term / (n * n);
    sum += term / k;
  }
  return sum;
}

const PI = constant((bits) => (16n * inverse(5n, bits + 16, false) - 4n * inverse(239n, bits + 16, false)) >> 16n);
const LN2 = constant(
  (bits) =>
    (18n * inverse(26n, bits + 16, true) -
      2n * inverse(4801n, bits + 16, true) +
      8n * inverse(8749n, bits + 16, true)) >>
    16n,
);

/** The nearest whole number to a/b, for b > 0. */
const nearest = (a: bigint, b: bigint): bigint => {
  const doubled = 2n * a + b;
  const q = doubled / (2n * b);
  return doubled < 0n && q * 2n * b !== doubled ? q - 1n : q;
};

interface Exponentials {
  exp(a: Big): Big;
  ln(a: Big): Big;
}

function makeExponentials(arithmetic: Arithmetic): Exponentials {
  const { bits, round, add, sub, mul, div, fromDouble } = arithmetic;
  const [ONE, TWO] = [round(1n, 0), round(2n, 0)];

  const exp = (a: Big): Big => {
    if (a.m === 0n || topBit(a) < -bits - 8) return ONE;
    if (Math.abs(toNumber(a)) > 200_000) throw new NoValue('an exponential too large');
    const halvings = 8 + (bits >> 6);
    const width = bits + GUARD + halvings;
    const one = 1n << BigInt(width);
    const x = fixed(a, width, bits);
    const turns = nearest(x, LN2(width));
    const r = (x - turns * LN2(width)) >> BigInt(halvings);
    let [sum, term] = [one, one];
    for (let n = 1n; term !== 0n && term !== -1n; n++) {
      term = ((term * r) >> BigInt(width)) / n;
      sum += term;
    }
    for (let k = 0; k < halvings; k++) sum = (sum * sum) >> BigInt(width);
    return round(sum, Number(turns) - width);
  };

  const ln = (a: Big): Big => {
    if (a.m <= 0n) throw new NoValue('the logarithm of no positive number');
    // z·2^turns with z next to one, so that nothing cancels.
    let turns = topBit(a);
    let z: Big = { m: a.m, e: a.e - turns };
    if (toNumber(z) < Math.SQRT1_2) z = { m: z.m, e: z.e + 1 };
    turns = a.e - z.e;
    const guess = topBit(sub(z, ONE)) < -20 ? BIG_ZERO : fromDouble(Math.log(toNumber(z)));
    const rest = sub(guess.m === 0n ? z : mul(z, exp(negate(guess))), ONE);
    const near = add(guess, mul(TWO, oddSeries(arithmetic, div(rest, add(TWO, rest)), 1)));
    return turns === 0 ? near : add(round(LN2(bits + GUARD) * BigInt(turns), -bits - GUARD), near);
  };

  return { exp, ln };
}

interface Angles {
  sin(a: Big): Big;
  cos(a: Big): Big;
  atan2(y: Big, x: Big): Big;
  readonly pi: Big;
}

function makeAngles(arithmetic: Arithmetic): Angles {
  const { digits, bits, round, add, sub, mul, div, fromDouble } = arithmetic;
  const ONE = round(1n, 0);

  /** Sine, or cosine as the sine of a quarter turn more. */
  const sine = (a: Big, quarters: bigint): Big => {
    const size = a.m === 0n ? -Infinity : topBit(a);
    if (size > (digits - 20) * BITS_PER_DIGIT) throw new NoValue('an angle too large for the digits');
    if (size < -(bits >> 1) - 8) return quarters === 0n ? a : ONE;
    const width = bits + GUARD + Math.abs(size);
    const x = fixed(a, width, bits);
    const quarter = PI(width) >> 1n;
    const turns = nearest(x, quarter);
    const r = x - turns * quarter;
    const square = (r * r) >> BigInt(width);
    const which = (((turns + quarters) % 4n) + 4n) % 4n;
    let term = which % 2n === 0n ? r : 1n << BigInt(width);
    let sum = term;
    for (let n = which % 2n === 0n ? 2n : 1n; term !== 0n && term !== -1n; n += 2n) {
      term = -((term * square) >> BigInt(width)) / (n * (n + 1n));
      sum += term;
    }
    return round(which < 2n ? sum : -sum, -width);
  };
  const sin = (a: Big): Big => sine(a, 0n);
  const cos = (a: Big): Big => sine(a, 1n);

  const pi = round(PI(bits + GUARD), -bits - GUARD);
  const atan2 = (y: Big, x: Big): Big => {
    if (y.m === 0n) return x.m < 0n ? pi : BIG_ZERO;
    const scale = Math.max(topBit(y), x.m === 0n ? -Infinity : topBit(x));
    const scaled = (a: Big): number => toNumber({ m: a.m, e: a.e - scale });
    const guess = fromDouble(Math.atan2(scaled(y), scaled(x)));
    const [s, c] = [sin(guess), cos(guess)];
    const rest = div(sub(mul(y, c), mul(x, s)), add(mul(x, c), mul(y, s)));
    return add(guess, oddSeries(arithmetic, rest, -1));
  };

  return { sin, cos, atan2, pi };
}

/** The value as an integer over 2^width. */
const fixed = (a: Big, width: number, bits: number): bigint =>
  a.e + width < -bits - 64 ? 0n : shift(a.m, a.e + width);

/** t + t³/3 + t⁵/5 + …, or with changing signs; for a small t. */
function oddSeries({ bits, round, add, mul, div }: Arithmetic, t: Big, sign: 1 | -1): Big {
  if (t.m === 0n) return t;
  const square = mul(t, t);
  let [sum, power] = [t, t];
  for (let k = 3n; ; k += 2n) {
    power = mul(power, square);
    if (sign < 0) power = negate(power);
    const term = div(power, round(k, 0));
    if (term.m === 0n || topBit(term) < topBit(sum) - bits - 4) return sum;
    sum = add(sum, term);
  }
}
