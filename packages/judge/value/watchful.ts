// Reals of many digits that notice a loss: a term, an angle or an exponent so small next to the rest
// that it would change only digits which are not compared. Two values that agree only by such a loss are not shown
// equal. A sum that cancels to its last bits is zero.

import { type Big, topBit, BIG_ZERO } from './big-arithmetic.ts';
import type { BigReals } from './bigreals.ts';
import { NoValue, Undefined } from './reals.ts';

/** Something lies below the digits that are looked at. */
export class Hidden extends Error {}

const NOISE_BITS = 40;

const made = new WeakMap<BigReals, BigReals>();

export function watchful(reals: BigReals): BigReals {
  let found = made.get(reals);
  if (!found) made.set(reals, (found = watch(reals)));
  return found;
}

function watch(reals: BigReals): BigReals {
  const { bits } = reals;
  const room = Math.floor(bits * 0.4);
  const seen = (far: boolean): void => {
    if (far) throw new Hidden('a part lies below the digits');
  };
  const combined = (a: Big, b: Big, result: Big): Big => {
    if (a.m === 0n || b.m === 0n) return result;
    seen(Math.abs(topBit(a) - topBit(b)) > room);
    return result.m !== 0n && topBit(result) < Math.max(topBit(a), topBit(b)) - bits + NOISE_BITS ? BIG_ZERO : result;
  };
  /** Next to a multiple of π only rounding is left. */
  const settled = (a: Big): Big => (a.m !== 0n && topBit(a) < NOISE_BITS - bits ? BIG_ZERO : a);
  const small = (a: Big, by: number): boolean => a.m !== 0n && topBit(a) < -by;
  return {
    ...reals,
    add: (a, b) => combined(a, b, reals.add(a, b)),
    sub: (a, b) => combined(a, b, reals.sub(a, b)),
    exp: (a) => {
      seen(small(a, room));
      return reals.exp(a);
    },
    sin: (a) => {
      seen(small(a, room / 2));
      return settled(reals.sin(a));
    },
    cos: (a) => {
      seen(small(a, room / 2));
      return settled(reals.cos(a));
    },
    atan2: (y, x) => {
      seen(y.m !== 0n && x.m !== 0n && Math.abs(topBit(y) - topBit(x)) > room / 2);
      if (y.m === 0n && x.m === 0n) throw new NoValue('the angle of zero');
      return reals.atan2(y, x);
    },
    div: (a, b) => {
      if (b.m === 0n) throw new Undefined('division by zero');
      return reals.div(a, b);
    },
  };
}
