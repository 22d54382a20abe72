// Exact fractions over BigInt, always in lowest terms with a positive denominator. Sizes are capped
// by the callers before anything is multiplied: nothing here may be given an unbounded exponent.

export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
}

export const ZERO: Rational = { num: 0n, den: 1n };
export const ONE: Rational = { num: 1n, den: 1n };

export function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** `num/den` in lowest terms; `den` must not be zero. */
export function rational(num: bigint, den = 1n): Rational {
  if (den === 1n) return { num, den };
  if (den === 0n) throw new RangeError('a fraction needs a denominator other than zero');
  const g = gcd(num, den);
  const sign = den < 0n ? -1n : 1n;
  return { num: (sign * num) / g, den: (sign * den) / g };
}

export const add = (a: Rational, b: Rational): Rational => rational(a.num * b.den + b.num * a.den, a.den * b.den);
export const neg = (a: Rational): Rational => ({ num: -a.num, den: a.den });
export const sub = (a: Rational, b: Rational): Rational => add(a, neg(b));
export const mul = (a: Rational, b: Rational): Rational => rational(a.num * b.num, a.den * b.den);
export const inv = (a: Rational): Rational => rational(a.den, a.num);
export const div = (a: Rational, b: Rational): Rational => mul(a, inv(b));
export const equal = (a: Rational, b: Rational): boolean => a.num === b.num && a.den === b.den;
export const isZero = (a: Rational): boolean => a.num === 0n;
export const abs = (a: Rational): Rational => (a.num < 0n ? neg(a) : a);

/** Negative, zero or positive as a is below, at or above b. */
export function compare(a: Rational, b: Rational): number {
  const d = a.num * b.den - b.num * a.den;
  return d < 0n ? -1 : d > 0n ? 1 : 0;
}

/** The value of a plain decimal such as `-12.050`: exact, never through a float. */
export function fromDecimal(text: string): Rational | undefined {
  const m = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  if (!m) return undefined;
  const digits = (m[2] ?? '') + (m[3] ?? '');
  if (digits === '') return undefined;
  const value = rational(BigInt(digits), 10n ** BigInt(m[3]?.length ?? 0));
  return m[1] === '-' ? neg(value) : value;
}

/** The fraction that a finite double is. */
export function fromNumber(value: number): Rational {
  let [mantissa, twos] = [value, 0];
  for (; !Number.isInteger(mantissa); twos++) mantissa *= 2;
  return rational(BigInt(mantissa), 1n << BigInt(twos));
}
