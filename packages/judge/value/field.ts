// Arithmetic in the field of p² elements, p + q·i with residues modulo a prime p that leaves 3 when divided by 4.
// Both primes are safe primes ((p − 1)/2 is prime as well) of 127 bits: no power and no number that fits the limits
// is zero or one there by the prime's own structure, as 2^127 would be for a Mersenne prime.

import type { Rational } from '../base/rational.ts';

export interface Residue {
  readonly re: bigint;
  readonly im: bigint;
}

export interface Field {
  readonly p: bigint;
  mod(n: bigint): bigint;
  plus(a: Residue, b: Residue): Residue;
  times(a: Residue, b: Residue): Residue;
  inverseMod(n: bigint): bigint;
  /** Undefined for zero. */
  inverse(a: Residue): Residue | undefined;
  raise(base: Residue, exp: bigint): Residue | undefined;
  from(q: Rational): Residue;
  /** One of the two roots of a prime, always the same, so that products of roots stay consistent. */
  rootOfPrime(prime: bigint): Residue;
}

export const NUMBER_FIELDS: readonly [Field, Field] = [
  makeField(90_026_936_291_496_213_734_878_882_899_219_418_619n),
  makeField(150_003_448_148_660_011_263_480_426_514_485_628_559n),
];

function makeField(p: bigint): Field {
  const mod = (n: bigint): bigint => {
    const r = n % p;
    return r < 0n ? r + p : r;
  };
  const plus = (a: Residue, b: Residue): Residue => ({ re: mod(a.re + b.re), im: mod(a.im + b.im) });
  const times = (a: Residue, b: Residue): Residue => {
    if (a.im === 0n && b.im === 0n) return { re: mod(a.re * b.re), im: 0n };
    return { re: mod(a.re * b.re - a.im * b.im), im: mod(a.re * b.im + a.im * b.re) };
  };
  const powMod = (base: bigint, exp: bigint): bigint => {
    let result = 1n;
    let b = mod(base);
    for (let e = exp; e > 0n; e >>= 1n) {
      if (e & 1n) result = (result * b) % p;
      b = (b * b) % p;
    }
    return result;
  };

  /** Inverses that are asked for all the time. */
  const smallInverses = new Map<bigint, bigint>([[1n, 1n]]);
  const inverseMod = (n: bigint): bigint => {
    const known = smallInverses.get(n);
    if (known !== undefined) return known;
    let [a, b, x, y] = [mod(n), p, 1n, 0n];
    while (b !== 0n) {
      const q = a / b;
      [a, b] = [b, a - q * b];
      [x, y] = [y, x - q * y];
    }
    const found = mod(x);
    if (n < 1000n && n > 0n) smallInverses.set(n, found);
    return found;
  };
  const inverse = (a: Residue): Residue | undefined => {
    if (a.im === 0n) return a.re === 0n ? undefined : { re: inverseMod(a.re), im: 0n };
    const inv = inverseMod(mod(a.re * a.re + a.im * a.im));
    return { re: mod(a.re * inv), im: mod(-a.im * inv) };
  };
  const raise = (base: Residue, exp: bigint): Residue | undefined => {
    if (exp < 0n) {
      const inv = inverse(base);
      return inv && raise(inv, -exp);
    }
    if (base.im === 0n) return { re: powMod(base.re, exp), im: 0n };
    let result: Residue = { re: 1n, im: 0n };
    let b = base;
    for (let e = exp; e > 0n; e >>= 1n) {
      if (e & 1n) result = times(result, b);
      b = times(b, b);
    }
    return result;
  };

  const roots = new Map<bigint, Residue>();
  const rootOfPrime = (prime: bigint): Residue => {
    let root = roots.get(prime);
    if (!root) {
      const candidate = powMod(prime, (p + 1n) / 4n);
      root =
        mod(candidate * candidate) === mod(prime)
          ? { re: candidate, im: 0n }
          : { re: 0n, im: powMod(p - mod(prime), (p + 1n) / 4n) };
      if (roots.size < 10_000) roots.set(prime, root);
    }
    return root;
  };
  const from = (q: Rational): Residue => ({
    re: q.den === 1n ? mod(q.num) : mod(mod(q.num) * inverseMod(q.den)),
    im: 0n,
  });
  return { p, mod, plus, times, inverseMod, inverse, raise, from, rootOfPrime };
}
