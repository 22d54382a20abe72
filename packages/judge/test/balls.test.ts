// Doubles with a bound of their error, against decimal.js: the bound holds, and what a double would lose is refused.

import { Decimal } from 'decimal.js';
import { describe, expect, test } from 'vitest';
import * as B from '../value/balls.ts';
import { rational } from '../base/rational.ts';
import { randomSource } from '../../../test/support/texts.ts';

const SEED = 41;
const D = Decimal.clone({ precision: 60 });

const whole = (n: number): B.Ball => B.fromRational(rational(BigInt(n)));
/** The value of each operation, where it has one. */
const told = (compute: () => B.Ball): B.Ball | undefined => {
  try {
    return compute();
  } catch (error) {
    if (error instanceof B.Imprecise || error instanceof B.NoValue) return undefined;
    throw error;
  }
};

describe('doubles with a bound of their error', () => {
  test(`lie within the bound of the value that decimal.js has (seed ${SEED})`, () => {
    const random = randomSource(SEED);
    const drawn = (): readonly [bigint, bigint] => [
      BigInt(random(2e9) - 1e9) * 10n ** BigInt(random(4)),
      10n ** BigInt(random(12)) + BigInt(random(1e6)),
    ];
    let count = 0;
    for (let n = 0; n < 200; n++) {
      const [p, q] = [drawn(), drawn()];
      const [a, b] = [B.fromRational(rational(...p)), B.fromRational(rational(...q))];
      const [x, y] = [p, q].map(([num, den]) => new D(String(num)).div(String(den))) as [Decimal, Decimal];
      const cases: [string, () => B.Ball, () => Decimal][] = [
        ['add', () => B.add(a, b), () => x.add(y)],
        ['sub', () => B.sub(a, b), () => x.sub(y)],
        ['mul', () => B.mul(a, b), () => x.mul(y)],
        ['div', () => B.div(a, b), () => x.div(y)],
        ['sqrt', () => B.root(a, 2), () => x.sqrt()],
        ['cbrt', () => B.root(a, 3), () => x.cbrt()],
        ['ln', () => B.ln(a), () => x.ln()],
        ['exp', () => B.exp(a), () => x.exp()],
        ['sin', () => B.sin(a), () => x.sin()],
        ['cos', () => B.cos(a), () => x.cos()],
        ['atan2', () => B.atan2(a, b), () => Decimal.atan2(x, y)],
        ['sinh', () => B.sinh(a), () => x.sinh()],
        ['cosh', () => B.cosh(a), () => x.cosh()],
      ];
      for (const [name, own, theirs] of cases) {
        const ball = told(own);
        if (!ball) continue;
        count++;
        const off = theirs().sub(ball.v).abs();
        expect(off.lte(ball.e), `${name} of ${p.join('/')}, ${q.join('/')}: ${ball.v} ± ${ball.e}, off by ${off}`).toBe(
          true,
        );
      }
    }
    expect(count).toBeGreaterThan(1_200);
  });

  test('refuse a part that they would lose', () => {
    const [one, tiny, small] = [whole(1), ...[20n, 4n].map((n) => B.fromRational(rational(1n, 10n ** n)))] as B.Ball[];
    const lost = [B.exp, B.cos, B.sin, B.sinh, B.cosh].map((f) => () => f(tiny!));
    for (const part of [...lost, () => B.add(one!, tiny!), () => B.atan2(one!, tiny!), () => B.cos(small!)])
      expect(part).toThrow(B.Imprecise);
    expect(() => B.sinh(whole(20))).toThrow(B.Imprecise);
  });

  test('are zero where a sum cancels but for its error, and have no value where they are divided by it', () => {
    const root = B.root(whole(2), 2);
    const zero = B.sub(B.mul(root, root), whole(2));
    expect([zero.v, B.isKnownZero(zero)]).toEqual([0, true]);
    expect(B.isKnownZero(B.mul(zero, whole(10 ** 12)))).toBe(false);
    expect(B.add(whole(5), B.mul(zero, whole(10 ** 9))).e).toBeGreaterThan(1e-7);
    expect(() => B.div(root, zero)).toThrow(B.Undefined);
    expect(() => B.div(root, B.cos(B.div(B.PI, whole(2))))).toThrow(B.Undefined);
  });

  test('become neither zero nor infinite by their range', () => {
    const big = B.exp(whole(600));
    expect(() => B.mul(big, big)).toThrow(B.Imprecise);
    expect(() => B.div(B.div(whole(1), big), big)).toThrow(B.Imprecise);
  });
});
