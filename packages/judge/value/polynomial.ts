// Polynomials in one letter with exact coefficients: read from an expression, evaluated, and their real zeros written
// as expressions where square roots and rational zeros are enough.

import { call, int, neg, type Node, num } from '../base/ast.ts';
import type { Comparison } from './comparison.ts';
import { exact, rootOf } from './exact.ts';
import { spend } from '../base/limits.ts';
import * as Q from '../base/rational.ts';

/** Coefficients from the constant one up; no leading zeros, so the zero polynomial is empty. */
export type Polynomial = readonly Q.Rational[];

export interface Fraction {
  readonly top: Polynomial;
  readonly bottom: Polynomial;
}

const MAX_DEGREE = 12;
const UNIT: Polynomial = [Q.ONE];

function trimmed(p: readonly Q.Rational[]): Polynomial {
  let length = p.length;
  while (length > 0 && Q.isZero(p[length - 1] ?? Q.ZERO)) length--;
  return p.slice(0, length);
}

const plus = (a: Polynomial, b: Polynomial): Polynomial =>
  trimmed(Array.from({ length: Math.max(a.length, b.length) }, (_, k) => Q.add(a[k] ?? Q.ZERO, b[k] ?? Q.ZERO)));

function times(a: Polynomial, b: Polynomial, c: Comparison): Polynomial | undefined {
  if (a.length === 0 || b.length === 0) return [];
  if (a.length + b.length - 2 > MAX_DEGREE) return undefined;
  spend(c.budget, a.length * b.length);
  const result = Array.from({ length: a.length + b.length - 1 }, () => Q.ZERO);
  for (const [i, x] of a.entries())
    for (const [j, y] of b.entries()) result[i + j] = Q.add(result[i + j] ?? Q.ZERO, Q.mul(x, y));
  return trimmed(result);
}

/** The expression as one polynomial over another; undefined if it is none in this letter alone. */
export function fractionIn(node: Node, letter: string, c: Comparison): Fraction | undefined {
  const again = (n: Node): Fraction | undefined => fractionIn(n, letter, c);
  const product = (a: Fraction | undefined, b: Fraction | undefined): Fraction | undefined => {
    const top = a && b && times(a.top, b.top, c);
    const bottom = a && b && times(a.bottom, b.bottom, c);
    return top && bottom && { top, bottom };
  };
  const inverse = (a: Fraction | undefined): Fraction | undefined =>
    a && a.top.length > 0 ? { top: a.bottom, bottom: a.top } : undefined;
  switch (node.k) {
    case 'sym':
      return node.name === letter ? { top: [Q.ZERO, Q.ONE], bottom: UNIT } : undefined;
    case 'neg':
      return product(again(node.arg), { top: [Q.rational(-1n)], bottom: UNIT });
    case 'mul':
      return node.items.map(again).reduce(product, { top: UNIT, bottom: UNIT });
    case 'div':
      return product(again(node.top), inverse(again(node.bottom)));
    case 'add':
      return node.items.map(again).reduce<Fraction | undefined>(
        (a, b) => {
          const left = a && b && times(a.top, b.bottom, c);
          const right = a && b && times(b.top, a.bottom, c);
          const bottom = a && b && times(a.bottom, b.bottom, c);
          return left && right && bottom && { top: plus(left, right), bottom };
        },
        { top: [], bottom: UNIT },
      );
    case 'pow': {
      const exp = exact(node.exp, c);
      if (exp && exp.den === 1n && exp.num >= -12n && exp.num <= 12n && exp.num !== 0n) {
        const base = exp.num < 0n ? inverse(again(node.base)) : again(node.base);
        let result: Fraction | undefined = base;
        for (let n = Q.abs(exp).num; n > 1n; n--) result = product(result, base);
        if (result) return result;
      }
      break;
    }
    default:
  }
  const value = exact(node, c);
  return value && { top: trimmed([value]), bottom: UNIT };
}

export const polynomialAt = (p: Polynomial, x: Q.Rational): Q.Rational =>
  p.reduceRight((sum, coefficient) => Q.add(Q.mul(sum, x), coefficient), Q.ZERO);

/** All real zeros, each once; undefined from the third degree on. The zero polynomial has no such list. */
export function realRoots(polynomial: Polynomial, c: Comparison): Node[] | undefined {
  spend(c.budget, polynomial.length);
  if (polynomial.length === 0) return undefined;
  const low = polynomial.findIndex((q) => !Q.isZero(q));
  const rest = polynomial.slice(low);
  return rest.length > 3 ? undefined : [...(low > 0 ? [int(0)] : []), ...quadraticRoots(rest)];
}

function quadraticRoots(p: Polynomial): Node[] {
  const [c = Q.ZERO, b = Q.ZERO, a = Q.ZERO] = p;
  if (p.length === 2) return [num(Q.neg(Q.div(c, b)))];
  if (p.length < 2) return [];
  const square = Q.sub(Q.mul(b, b), Q.mul(Q.rational(4n), Q.mul(a, c)));
  const [middle, quarter] = [
    Q.neg(Q.div(b, Q.mul(a, Q.rational(2n)))),
    Q.div(square, Q.mul(Q.rational(4n), Q.mul(a, a))),
  ];
  if (quarter.num < 0n) return [];
  if (Q.isZero(quarter)) return [num(middle)];
  const whole = rootOf(quarter, 2);
  const off = whole ? num(whole) : call('root', num(quarter), int(2));
  return [off, neg(off)].map((d) => ({ k: 'add', items: [num(middle), d] }));
}
