// Arithmetic in the field of p² elements, p + q·i with residues modulo a prime p that leaves 3 when divided by 4. It is a safe
// prime ((p − 1)/2 is prime as well) of 127 bits: no power and no number that fits the limits is zero or one there by the
// prime's own structure, as 2^127 would be for a Mersenne prime.

import type { Rational } from '../base/rational.ts';

export interface Residue {
  readonly re: bigint;
  readonly im: bigint;
}

const P = 90_026_936_291_496_213_734_878_882_899_219_418_619n;

export const residueOf = (re: bigint, im = 0n): Residue => ({ re: mod(re), im: mod(im) });

export const isSame = (a: Residue, b: Residue): boolean => a.re === b.re && a.im === b.im;

function mod(n: bigint): bigint {
  const r = n % P;
  return r < 0n ? r + P : r;
}

export const negative = (a: Residue): Residue => residueOf(-a.re, -a.im);

export const plus = (a: Residue, b: Residue): Residue => residueOf(a.re + b.re, a.im + b.im);

export function times(a: Residue, b: Residue): Residue {
  if (a.im === 0n && b.im === 0n) return residueOf(a.re * b.re);
  return residueOf(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

/** Inverses that are asked for all the time. */
const smallInverses = new Map<bigint, bigint>([[1n, 1n]]);

function inverseMod(n: bigint): bigint {
  const known = smallInverses.get(n);
  if (known !== undefined) return known;
  let [a, b, x, y] = [mod(n), P, 1n, 0n];
  while (b !== 0n) {
    const q = a / b;
    [a, b] = [b, a - q * b];
    [x, y] = [y, x - q * y];
  }
  const found = mod(x);
  if (n < 1000n && n > 0n) smallInverses.set(n, found);
  return found;
}

/** Undefined for zero. */
export function inverse(a: Residue): Residue | undefined {
  if (a.im === 0n) return a.re === 0n ? undefined : residueOf(inverseMod(a.re));
  const inv = inverseMod(mod(a.re * a.re + a.im * a.im));
  return residueOf(a.re * inv, -a.im * inv);
}

export function raise(base: Residue, exp: bigint): Residue | undefined {
  if (exp < 0n) {
    const inv = inverse(base);
    return inv && raise(inv, -exp);
  }
  let result = residueOf(1n);
  let b = base;
  for (let e = exp; e > 0n; e >>= 1n) {
    if (e & 1n) result = times(result, b);
    b = times(b, b);
  }
  return result;
}

export const residueOfRational = (q: Rational): Residue =>
  residueOf(q.den === 1n ? q.num : mod(q.num) * inverseMod(q.den));
