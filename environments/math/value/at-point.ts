// Both sides at one point: the same, apart, or nothing that can be told. Doubles know their error; reals of many digits
// notice what lies below them.

import type { Node } from '../ast.ts';
import type { Big } from './big-arithmetic.ts';
import type { BigReals } from './bigreals.ts';
import type { Complex, NumericContext } from './functions.ts';
import type { Comparison } from './comparison.ts';
import { signsTurned, valueAt } from './domains.ts';
import * as Q from '../rational.ts';
import type { Ball, Reals } from './reals.ts';
import { Hidden } from './watchful.ts';

/** Letters that count something by convention. */
export const COUNTING = /^[nmkjNMK]$/;
/** Letters that may count, where a bound or a power of a negative number asks for it. */
export const MAY_COUNT = /^[nmkjNMKlpqrs]$/;
/** Letters that count nothing, also in a factorial. */
export const MEASURING = /^[tx-z]$/;

export type Told = boolean | 'zero' | 'one' | undefined;
type Same<T> = (a: Complex<T>, b: Complex<T>, reals: Reals<T>) => Told;

/** True or false; `one` when only one side is real here; undefined when a side has no value that can be told. */
export function atPoint<T>(
  a: Node,
  b: Node,
  c: Comparison,
  reals: Reals<T>,
  point: ReadonlyMap<string, Q.Rational>,
  realOnly: boolean,
  same: Same<T>,
): Told {
  const context: NumericContext<T> = { reals, letters: point, symbolic: c.contexts[0], realOnly };
  const [x, y] = [valueAt(a, context), valueAt(b, context)];
  if (typeof x === 'object' && typeof y === 'object') return compared(() => same(x, y, reals));
  // ln x² has values where 2 ln x has none: equal where both are real is not equal.
  const one = (x === 'not-real' && typeof y === 'object') || (y === 'not-real' && typeof x === 'object');
  // A count below zero is no part of what was asked.
  const counts = [...point].every(([name, at]) => !(COUNTING.test(name) && at.num < 0n && at.den === 1n));
  return one && counts && !signsTurned(x === 'not-real' ? a : b, context) ? 'one' : undefined;
}

/** Two values whose difference lies below the digits are not told apart. */
function compared(same: () => Told): Told {
  try {
    return same();
  } catch (error) {
    if (error instanceof Hidden) return undefined;
    throw error;
  }
}

export const sameBall: Same<Ball> = (a, b, r) => {
  const apart = (x: Ball, y: Ball): boolean => Math.abs(x.v - y.v) > 4 * (x.e + y.e) + 1e-290;
  const zero = r.from(Q.ZERO);
  if (apart(a.re, b.re) || apart(a.im ?? zero, b.im ?? zero)) return false;
  // Agreement within a large error says nothing.
  const error = a.re.e + b.re.e + (a.im?.e ?? 0) + (b.im?.e ?? 0);
  const size = Math.abs(a.re.v) + Math.abs(b.re.v) + Math.abs(a.im?.v ?? 0) + Math.abs(b.im?.v ?? 0);
  return error > 1e-6 * size && size > 1e-12 ? undefined : true;
};

/** Equal but for the last digits of the larger one. */
export const sameBig =
  (r: BigReals): Same<Big> =>
  (a, b) => {
    const zero = r.from(Q.ZERO);
    const size = (x: Complex<Big>): Big => bigger(r.abs(x.re), r.abs(x.im ?? zero), r);
    const off = bigger(r.abs(r.sub(a.re, b.re)), r.abs(r.sub(a.im ?? zero, b.im ?? zero)), r);
    if (r.isZero(off)) return r.isZero(size(a)) ? 'zero' : true;
    return r.compare(off, r.mul(bigger(size(a), size(b), r), r.lastDigits)) <= 0;
  };

const bigger = (x: Big, y: Big, r: BigReals): Big => (r.compare(x, y) > 0 ? x : y);
