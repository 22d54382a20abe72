// Many digits, against decimal.js: the last word on equality must be right to its last digits.

import { Decimal } from 'decimal.js';
import { describe, expect, test } from 'vitest';
import type { Big } from '../value/big-arithmetic.ts';
import { bigReals } from '../value/bigreals.ts';
import { rational } from '../base/rational.ts';
import { NoValue } from '../value/reals.ts';
import { randomSource } from '../../../test/support/texts.ts';

const SEED = 41;

/** Exact: a mantissa times a power of two. */
function decimal(a: Big, D: typeof Decimal): Decimal {
  const m = new D(a.m.toString());
  return a.e >= 0 ? m.mul(new D(2).pow(a.e)) : m.div(new D(2).pow(-a.e));
}

describe('real numbers of many digits', () => {
  test.each([40, 100, 300])(`agree with decimal.js in %i digits (seed ${SEED})`, (digits) => {
    const r = bigReals(digits);
    const D = Decimal.clone({ precision: digits + 30 });
    const random = randomSource(SEED + digits);
    for (let n = 0; n < (digits > 200 ? 15 : 60); n++) {
      // Of every size, and next to one.
      const scale = 10n ** BigInt(random(31));
      const q = rational(BigInt(random(2e9) - 1e9), n % 2 === 0 ? scale : 10n ** 9n - BigInt(n));
      const p = rational(BigInt(1 + random(1e9)) + (n % 3 === 0 ? 10n ** 25n : 0n), n % 3 === 0 ? 10n ** 25n : 977n);
      const [a, b] = [r.from(q), r.from(p)];
      // What was rounded on the way in is what both compute with.
      const [x, y] = [decimal(a, D), decimal(b, D)];
      const pairs: [string, Big, Decimal][] = [
        ['add', r.add(a, b), x.add(y)],
        ['sub', r.sub(a, b), x.sub(y)],
        ['mul', r.mul(a, b), x.mul(y)],
        ['div', r.div(a, b), x.div(y)],
        ['sqrt', r.sqrt(b), y.sqrt()],
        ['ln', r.ln(b), y.ln()],
        ['atan2', r.atan2(a, b), x.div(y).atan()],
      ];
      if (x.abs().lt(5_000)) pairs.push(['exp', r.exp(a), x.exp()]);
      if (x.abs().lt(1e9)) pairs.push(['sin', r.sin(a), x.sin()], ['cos', r.cos(a), x.cos()]);
      for (const [name, own, theirs] of pairs) {
        const off = decimal(own, D).sub(theirs).abs();
        const most = theirs.abs().mul(new D(10).pow(-digits));
        expect(off.lte(most), `${name} of ${q.num}/${q.den}, ${p.num}/${p.den}`).toBe(true);
      }
    }
  });

  test('an angle lies in its quarter of the plane', () => {
    const r = bigReals(40);
    for (const y of [-1n, 0n, 1n])
      for (const x of y === 0n ? [-1n, 1n] : [-1n, 0n, 1n]) {
        const angle = r.toNumber(r.atan2(r.from(rational(y)), r.from(rational(x))));
        expect(angle).toBeCloseTo(Math.atan2(Number(y), Number(x)), 12);
      }
  });

  test('what leaves the range has no value, and is neither zero nor infinite', () => {
    const r = bigReals(40);
    const big = r.exp(r.from(rational(199_999n)));
    const grow = (): Big => Array.from({ length: 20 }).reduce<Big>((a) => r.mul(a, a), big);
    const shrink = (): Big => Array.from({ length: 20 }).reduce<Big>((a) => r.div(r.div(a, big), big), r.div(big, big));
    expect(grow).toThrow(NoValue);
    expect(shrink).toThrow(NoValue);
    expect(() => r.exp(r.from(rational(200_001n)))).toThrow(NoValue);
    expect(() => r.sin(r.from(rational(10n ** 21n)))).toThrow(NoValue);
  });
});
