// Arithmetic over BigInt: a mantissa of a fixed number of bits times a power of two. No value is silently zero or infinite:
// what leaves the range has no value.

import type * as Q from '../base/rational.ts';
import { NoValue, Undefined } from './reals.ts';

/** m·2^e; the mantissa is 0 or as long as its reals' precision. */
export interface Big {
  readonly m: bigint;
  readonly e: number;
}

export const BIG_ZERO: Big = { m: 0n, e: 0 };
export const BITS_PER_DIGIT = Math.log2(10);
const MAX_EXPONENT = 4_000_000;

export function bitLength(n: bigint): number {
  const hex = (n < 0n ? -n : n).toString(16);
  return hex.length * 4 - Math.clz32(Number.parseInt(hex[0] ?? '0', 16)) + 28;
}

export const shift = (m: bigint, by: number): bigint => (by >= 0 ? m << BigInt(by) : m >> BigInt(-by));
/** The exponent just above the value. */
export const topBit = (a: Big): number => a.e + bitLength(a.m);
export const negate = (a: Big): Big => ({ m: -a.m, e: a.e });

export function toNumber(a: Big): number {
  if (a.m === 0n) return 0;
  const cut = bitLength(a.m) - 60;
  const half = Math.trunc((a.e + cut) / 2);
  return Number(shift(a.m, -cut)) * 2 ** half * 2 ** (a.e + cut - half);
}
export type Arithmetic = ReturnType<typeof makeArithmetic>;

export function makeArithmetic(digits: number) {
  const bits = Math.ceil(digits * BITS_PER_DIGIT) + 16;

  const round = (m: bigint, e: number): Big => {
    if (m === 0n) return BIG_ZERO;
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
    if (topBit(high) - topBit(low) > bits + 4) return high;
    return round((high.m << BigInt(high.e - low.e)) + low.m, low.e);
  };
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
    if (a.m <= 0n) return BIG_ZERO;
    const room = (a.e - bits) % 2 === 0 ? bits : bits + 1;
    const n = a.m << BigInt(room);
    let x = 1n << BigInt((bitLength(n) + 1) >> 1);
    for (let next = (x + n / x) >> 1n; next < x; next = (x + n / x) >> 1n) x = next;
    return round(x, (a.e - room) / 2);
  };

  const root = (a: Big, degree: number): Big => {
    if (a.m <= 0n) return BIG_ZERO;
    const [k, less] = [BigInt(degree), BigInt(degree - 1)];
    // Room for as many bits in the root as a number has.
    const down = bits * degree - bitLength(a.m);
    const room = down + ((((a.e - down) % degree) + degree) % degree);
    const n = shift(a.m, room);
    let x = 1n << BigInt(Math.ceil(bitLength(n) / degree));
    for (let next = (less * x + n / x ** less) / k; next < x; next = (less * x + n / x ** less) / k) x = next;
    return round(x, (a.e - room) / degree);
  };

  const fromDouble = (v: number): Big => {
    if (v === 0) return BIG_ZERO;
    const e = Math.floor(Math.log2(Math.abs(v))) - 52;
    return round(BigInt(Math.round(v * 2 ** -e)), e);
  };
  return { digits, bits, round, from, fromDouble, add, sub, mul, div, compare, sqrt, root };
}
