// Real numbers of many digits over BigInt: a mantissa of a fixed number of bits times a power of two. Elementary
// functions are computed with guard bits beyond that, so a result is right to its last few bits. No value is
// silently zero or infinite: what leaves the range has no value.

import * as Q from '../rational.ts';
import { NoValue, type Reals, Undefined } from './reals.ts';

/** m·2^e; the mantissa is 0 or as long as its reals' precision. */
export interface Big {
  readonly m: bigint;
  readonly e: number;
}

export interface BigReals extends Reals<Big> {
  abs(a: Big): Big;
  /** Negative, zero or positive as a is below, at or above b. */
  compare(a: Big, b: Big): number;
  isZero(a: Big): boolean;
  readonly bits: number;
  /** The part of their size by which two equal values may differ: all but 15 digits are compared. */
  readonly lastDigits: Big;
}

const BITS_PER_DIGIT = Math.log2(10);
const GUARD = 64;
const MAX_EXPONENT = 4_000_000;
const ZERO: Big = { m: 0n, e: 0 };

export function bitLength(n: bigint): number {
  const hex = (n < 0n ? -n : n).toString(16);
  return hex.length * 4 - Math.clz32(Number.parseInt(hex[0] ?? '0', 16)) + 28;
}

const shift = (m: bigint, by: number): bigint => (by >= 0 ? m << BigInt(by) : m >> BigInt(-by));
const absolute = (m: bigint): bigint => (m < 0n ? -m : m);
/** The exponent just above the value. */
const top = (a: Big): number => a.e + bitLength(a.m);

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

const byDigits = new Map<number, BigReals>();

/** Reals of at least so many digits, made once per size. */
export function bigReals(digits: number): BigReals {
  const rounded = Math.ceil(digits / 20) * 20;
  let made = byDigits.get(rounded);
  if (!made) byDigits.set(rounded, (made = makeReals(rounded)));
  return made;
}

function makeReals(digits: number): BigReals {
  const bits = Math.ceil(digits * BITS_PER_DIGIT) + 16;

  const round = (m: bigint, e: number): Big => {
    if (m === 0n) return ZERO;
    const excess = bitLength(m) - bits;
    if (Math.abs(e + excess) > MAX_EXPONENT) throw new NoValue('out of range');
    if (excess === 0) return { m, e };
    return { m: excess < 0 ? m << BigInt(-excess) : ((m >> BigInt(excess - 1)) + 1n) >> 1n, e: e + excess };
  };
  const from = (q: Q.Rational): Big => {
    if (q.den === 1n) return round(q.num, 0);
    const room = Math.max(0, bits + 2 + bitLength(q.den) - bitLength(q.num));
    return round((q.num << BigInt(room)) / q.den, -room);
  };
  const add = (a: Big, b: Big): Big => {
    if (a.m === 0n) return b;
    if (b.m === 0n) return a;
    const [high, low] = a.e >= b.e ? [a, b] : [b, a];
    // A number below the last bit of the other changes nothing.
    if (top(high) - top(low) > bits + 4) return high;
    return round((high.m << BigInt(high.e - low.e)) + low.m, low.e);
  };
  const negate = (a: Big): Big => ({ m: -a.m, e: a.e });
  const sub = (a: Big, b: Big): Big => add(a, negate(b));
  const mul = (a: Big, b: Big): Big => round(a.m * b.m, a.e + b.e);
  const div = (a: Big, b: Big): Big => {
    if (b.m === 0n) throw new Undefined('division by zero');
    const room = Math.max(0, bits + 2 + bitLength(b.m) - bitLength(a.m));
    return round((a.m << BigInt(room)) / b.m, a.e - b.e - room);
  };
  const compare = (a: Big, b: Big): number => {
    const off = sub(a, b).m;
    return off < 0n ? -1 : off > 0n ? 1 : 0;
  };

  const sqrt = (a: Big): Big => {
    if (a.m <= 0n) return ZERO;
    const room = (a.e - bits) % 2 === 0 ? bits : bits + 1;
    const n = a.m << BigInt(room);
    let x = 1n << BigInt((bitLength(n) + 1) >> 1);
    for (let next = (x + n / x) >> 1n; next < x; next = (x + n / x) >> 1n) x = next;
    return round(x, (a.e - room) / 2);
  };

  const root = (a: Big, degree: number): Big => {
    if (a.m <= 0n) return ZERO;
    const [k, less] = [BigInt(degree), BigInt(degree - 1)];
    // Room for as many bits in the root as a number has.
    const down = bits * degree - bitLength(a.m);
    const room = down + ((((a.e - down) % degree) + degree) % degree);
    const n = shift(a.m, room);
    let x = 1n << BigInt(Math.ceil(bitLength(n) / degree));
    for (let next = (less * x + n / x ** less) / k; next < x; next = (less * x + n / x ** less) / k) x = next;
    return round(x, (a.e - room) / degree);
  };

  const ONE: Big = round(1n, 0);
  const TWO: Big = round(2n, 0);
  const fromDouble = (v: number): Big => {
    if (v === 0) return ZERO;
    const e = Math.floor(Math.log2(Math.abs(v))) - 52;
    return round(BigInt(Math.round(v * 2 ** -e)), e);
  };
  const toNumber = (a: Big): number => {
    if (a.m === 0n) return 0;
    const cut = bitLength(a.m) - 60;
    const half = Math.trunc((a.e + cut) / 2);
    return Number(shift(a.m, -cut)) * 2 ** half * 2 ** (a.e + cut - half);
  };
  /** The value as an integer over 2^width. */
  const fixed = (a: Big, width: number): bigint => (a.e + width < -bits - 64 ? 0n : shift(a.m, a.e + width));

  const exp = (a: Big): Big => {
    if (a.m === 0n || top(a) < -bits - 8) return ONE;
    if (Math.abs(toNumber(a)) > 200_000) throw new NoValue('an exponential too large');
    const halvings = 8 + (bits >> 6);
    const width = bits + GUARD + halvings;
    const one = 1n << BigInt(width);
    const x = fixed(a, width);
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

  /** t + t³/3 + t⁵/5 + …, or with changing signs; for a small t. */
  const oddSeries = (t: Big, sign: 1 | -1): Big => {
    if (t.m === 0n) return t;
    const square = mul(t, t);
    let [sum, power] = [t, t];
    for (let k = 3n; ; k += 2n) {
      power = mul(power, square);
      if (sign < 0) power = negate(power);
      const term = div(power, round(k, 0));
      if (term.m === 0n || top(term) < top(sum) - bits - 4) return sum;
      sum = add(sum, term);
    }
  };

  const ln = (a: Big): Big => {
    if (a.m <= 0n) throw new NoValue('the logarithm of no positive number');
    // z·2^turns with z next to one, so that nothing cancels.
    let turns = top(a);
    let z: Big = { m: a.m, e: a.e - turns };
    if (toNumber(z) < Math.SQRT1_2) z = { m: z.m, e: z.e + 1 };
    turns = a.e - z.e;
    const guess = top(sub(z, ONE)) < -20 ? ZERO : fromDouble(Math.log(toNumber(z)));
    const rest = sub(guess.m === 0n ? z : mul(z, exp(negate(guess))), ONE);
    const near = add(guess, mul(TWO, oddSeries(div(rest, add(TWO, rest)), 1)));
    return turns === 0 ? near : add(round(LN2(bits + GUARD) * BigInt(turns), -bits - GUARD), near);
  };

  /** Sine, or cosine as the sine of a quarter turn more. */
  const sine = (a: Big, quarters: bigint): Big => {
    const size = a.m === 0n ? -Infinity : top(a);
    if (size > (digits - 20) * BITS_PER_DIGIT) throw new NoValue('an angle too large for the digits');
    if (size < -(bits >> 1) - 8) return quarters === 0n ? a : ONE;
    const width = bits + GUARD + Math.abs(size);
    const x = fixed(a, width);
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
    if (y.m === 0n) return x.m < 0n ? pi : ZERO;
    const scale = Math.max(top(y), x.m === 0n ? -Infinity : top(x));
    const scaled = (a: Big): number => toNumber({ m: a.m, e: a.e - scale });
    const guess = fromDouble(Math.atan2(scaled(y), scaled(x)));
    const [s, c] = [sin(guess), cos(guess)];
    const rest = div(sub(mul(y, c), mul(x, s)), add(mul(x, c), mul(y, s)));
    return add(guess, oddSeries(rest, -1));
  };

  const tiny = from(Q.rational(1n, 10n ** BigInt(Math.floor(digits * 0.7))));
  return {
    cost: Math.ceil(12 * (digits / 100) ** 0.75),
    from,
    add,
    sub,
    mul,
    div,
    sqrt,
    root,
    exp,
    ln,
    sin,
    cos,
    atan2,
    pi,
    // Far below the digits only cancellation leads.
    sign: (a) => (compare({ m: absolute(a.m), e: a.e }, tiny) <= 0 ? 0 : a.m < 0n ? -1 : 1),
    toNumber,
    abs: (a) => ({ m: absolute(a.m), e: a.e }),
    compare,
    isZero: (a) => a.m === 0n,
    bits,
    lastDigits: from(Q.rational(1n, 10n ** BigInt(digits - 15))),
  };
}
