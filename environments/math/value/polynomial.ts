// Polynomials in one letter with exact coefficients: read from an expression, evaluated, and their real zeros written
// as expressions where square roots and rational zeros are enough.

import { call, int, neg, type Node, num } from '../ast.ts';
import { exact, type ExactContext, rootOf } from './exact.ts';
import { spend } from '../limits.ts';
import * as Q from '../rational.ts';

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

function times(a: Polynomial, b: Polynomial, c: ExactContext): Polynomial | undefined {
  if (a.length === 0 || b.length === 0) return [];
  if (a.length + b.length - 2 > MAX_DEGREE) return undefined;
  spend(c.budget, a.length * b.length);
  const result = Array.from({ length: a.length + b.length - 1 }, () => Q.ZERO);
  for (const [i, x] of a.entries())
    for (const [j, y] of b.entries()) result[i + j] = Q.add(result[i + j] ?? Q.ZERO, Q.mul(x, y));
  return trimmed(result);
}

/** The expression as one polynomial over another; undefined if it is none in this letter alone. */
export function fractionIn(node: Node, letter: string, c: ExactContext): Fraction | undefined {
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

export const valueAt = (p: Polynomial, x: Q.Rational): Q.Rational =>
  p.reduceRight((sum, coefficient) => Q.add(Q.mul(sum, x), coefficient), Q.ZERO);

/** All real zeros, each once; undefined where they cannot be written down. The zero polynomial has no such list. */
export function realRoots(polynomial: Polynomial, c: ExactContext): Node[] | undefined {
  let p = trimmed(polynomial);
  if (p.length === 0) return undefined;
  const found: Node[] = [];
  const take = (root: Q.Rational): void => {
    found.push(num(root));
    while (p.length > 1 && Q.isZero(valueAt(p, root))) p = divided(p, root);
  };
  if (Q.isZero(p[0] ?? Q.ONE)) take(Q.ZERO);
  if (p.length > 3)
    for (const root of rationalCandidates(p, c)) if (p.length > 3 && Q.isZero(valueAt(p, root))) take(root);
  return p.length <= 3 ? [...found, ...quadraticRoots(p)] : undefined;
}

/** Without the factor x − root. */
function divided(p: Polynomial, root: Q.Rational): Polynomial {
  const result: Q.Rational[] = [];
  let carry = Q.ZERO;
  for (let k = p.length - 1; k > 0; k--) {
    carry = Q.add(Q.mul(carry, root), p[k] ?? Q.ZERO);
    result.unshift(carry);
  }
  return result;
}

const MAX_DIVIDED = 1_000_000n;
const MAX_CANDIDATES = 600;

/** Every fraction that can be a zero: a divisor of the last coefficient over one of the first. */
function rationalCandidates(p: Polynomial, c: ExactContext): Q.Rational[] {
  const common = p.reduce((lcm, { den }) => (lcm / Q.gcd(lcm, den)) * den, 1n);
  const whole = (k: number): bigint => Q.abs(Q.mul(p[k] ?? Q.ONE, Q.rational(common))).num;
  const [tops, bottoms] = [divisors(whole(0)), divisors(whole(p.length - 1))];
  if (!tops || !bottoms || tops.length * bottoms.length > MAX_CANDIDATES) return [];
  spend(c.budget, tops.length * bottoms.length * 2);
  const all = tops.flatMap((top) => bottoms.map((bottom) => Q.rational(top, bottom)));
  return all.flatMap((q) => [q, Q.neg(q)]);
}

function divisors(n: bigint): bigint[] | undefined {
  if (n > MAX_DIVIDED) return undefined;
  const size = Number(n);
  const found: bigint[] = [];
  for (let d = 1; d * d <= size; d++)
    if (size % d === 0) found.push(...(d * d === size ? [BigInt(d)] : [BigInt(d), BigInt(size / d)]));
  return found;
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
