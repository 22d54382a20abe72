// Real numbers of many digits, made of an arithmetic over BigInt and the elementary functions on it: the last word where
// doubles cannot tell.

import * as Q from '../rational.ts';
import { type Arithmetic, type Big, makeArithmetic, toNumber } from './big-arithmetic.ts';
import { makeAngles, makeExponentials } from './elementary.ts';
import type { Reals } from './reals.ts';

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
