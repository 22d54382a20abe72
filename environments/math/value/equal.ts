// Are two expressions equal? Four layers, each of which may settle it: exact fractions, residues of the normal
// form, doubles that know their error (which can only tell apart), many decimals (the last word). Seeded, so
// the same pair gets the same word in every process. Never a float `==`.

import { children, type Node, some } from '../ast.ts';
import { type Big, type BigReals, bigReals } from './bigreals.ts';
import type { Complex, NumericContext } from './complex.ts';
import { bits, exact, type ExactContext } from './exact.ts';
import { type Budget, LIMITS, TooBig } from '../limits.ts';
import { value } from './numeric.ts';
import * as Q from '../rational.ts';
import { type Ball, balls, Imprecise, NoValue, type Reals } from './reals.ts';
import { residue, type ResidueContext } from './residues.ts';

/** How equality was shown, or why it was not. */
export type Equality = 'exact' | 'form' | 'sampled' | 'different' | 'unknown';

export interface Comparison extends ExactContext {
  readonly budget: Budget;
  readonly contexts: readonly [ResidueContext, ResidueContext];
}

export function newComparison(): Comparison {
  const budget = { left: LIMITS.steps };
  const memo = new Map<Node, Q.Rational | null>();
  const context = (seed: number): ResidueContext => ({ budget, memo, seed, opaque: false, residues: new Map() });
  return { budget, memo, contexts: [context(1), context(2)] };
}

export function equalExpressions(a: Node, b: Node, c: Comparison): Equality {
  const left = exact(a, c);
  const right = exact(b, c);
  if (left && right) return Q.equal(left, right) ? 'exact' : 'different';
  const form = sameForm(a, b, c);
  if (form) return form;
  return sampled(a, b, c);
}

/** Two exact residues in agreement prove the normal forms equal; in disagreement they differ, unless opaque. */
function sameForm(a: Node, b: Node, c: Comparison): Equality | undefined {
  let same = true;
  let opaque = false;
  for (const context of c.contexts) {
    context.opaque = false;
    // Memoised residues hide what they met: opacity is a property of the trees.
    opaque ||= isOpaque(a, c) || isOpaque(b, c);
    const x = residue(a, context);
    const y = x && residue(b, context);
    if (!x || !y) return undefined;
    if (x.re !== y.re || x.im !== y.im) {
      same = false;
      break;
    }
  }
  if (same) return 'form';
  return opaque ? undefined : 'different';
}

/** Holds anything beyond fractions of polynomials in letters, i, π, e and roots of rationals? */
function isOpaque(node: Node, c: ExactContext): boolean {
  if (node.k === 'call') {
    if (exact(node, c)) return false;
    const [first, second] = node.args;
    const arg = first && exact(first, c);
    if (!(node.name === 'root' && arg && second?.k === 'num' && second.value.num === 2n && second.value.den === 1n))
      return true;
    return arg.num * arg.den > 1_000_000n || arg.num < -1_000_000n;
  }
  if (node.k === 'pow') {
    const exp = exact(node.exp, c);
    return !(exp && exp.den === 1n) || isOpaque(node.base, c);
  }
  if (node.k === 'apply' || node.k === 'big') return !exact(node, c);
  return children(node).some((child) => isOpaque(child, c));
}

export function letters(node: Node, into = new Set<string>(), bound: readonly string[] = []): Set<string> {
  if (node.k === 'sym' && !bound.includes(node.name)) into.add(node.name);
  if (node.k === 'big') {
    for (const n of [node.from, node.to]) if (n) letters(n, into, bound);
    letters(node.body, into, [...bound, node.variable]);
    return into;
  }
  // An unknown function's value is drawn as a whole: its letters are inside its name.
  if (node.k === 'apply' || (node.k === 'call' && (node.name === 'index' || node.name === 'prime'))) return into;
  for (const child of children(node)) letters(child, into, bound);
  return into;
}

const WHOLE = new Set(['factorial', 'doublefactorial', 'binom', 'gcd', 'lcm', 'mod', 'pmod']);
const UNEVALUATED = new Set(['int', 'iint', 'oint', 'lim', 'sum', 'prod']);

// Both signs, below and above one, far from zero: functions are told apart in every regime.
const POINTS: readonly bigint[] = [
  713n,
  2371n,
  -1319n,
  391n,
  1871n,
  -617n,
  3343n,
  1109n,
  7919n,
  -2789n,
  241n,
  1601n,
  -457n,
  1013n,
  2879n,
  547n,
  23_911n,
  -1753n,
  881n,
  3041n,
  -9_241n,
  149n,
  1427n,
  2153n,
  617_389n,
];
const WHOLE_POINTS: readonly bigint[] = [5n, 3n, 8n, 4n, 7n, 6n, 11n, 9n, 13n, 10n, 12n, 2n, 14n, 16n, 15n, 17n];
const AGREEING_POINTS = 8;
const MAX_DIGITS = 300;
const CONFIRMED_POINTS = 2;

function sampled(a: Node, b: Node, c: Comparison): Equality {
  const names = [...letters(b, letters(a))].sort();
  if (names.length > 26) throw new TooBig('too many letters');
  const whole = names.length > 0 && (some(a, isWhole) || some(b, isWhole));
  const imaginary = some(a, isImaginary) || some(b, isImaginary);
  const digits = 40 + longest(a, c) + longest(b, c);
  // Two values could differ below any precision that is worth its time.
  if (digits > MAX_DIGITS) throw new TooBig('too many digits to tell');
  const open = some(a, isUnevaluated) !== some(b, isUnevaluated);
  const different = open ? 'unknown' : 'different';
  if (names.length === 0) return constants(a, b, c, digits, different);
  const agreed: Map<string, Q.Rational>[] = [];
  let blurred = 0;
  for (const point of points(names, whole, a, b)) {
    const word = atPoint(a, b, c, balls, point, !imaginary, sameBall);
    if (word === false) return different;
    if (word === true) agreed.push(point);
    if (word === undefined) blurred++;
    if (agreed.length >= AGREEING_POINTS) break;
  }
  const needed = whole ? 4 : 5;
  if (agreed.length < needed) return blurred > 0 || agreed.length > 0 ? 'unknown' : different;
  const many = bigReals(digits);
  for (const point of agreed.slice(0, CONFIRMED_POINTS)) {
    const word = atPoint(a, b, c, many, point, !imaginary, sameBig(many, digits));
    if (word === false) return different;
    if (word !== true) return 'unknown';
  }
  return 'sampled';
}

const isWhole = (n: Node): boolean =>
  (n.k === 'call' && WHOLE.has(n.name)) ||
  (n.k === 'big' && (n.op === 'sum' || n.op === 'prod')) ||
  // (−1)ⁿ means a whole n.
  (n.k === 'pow' && isNegative(n.base) && some(n.exp, (m) => m.k === 'sym'));
const isNegative = (n: Node): boolean => n.k === 'neg' || (n.k === 'num' && n.value.num < 0n);
const isImaginary = (n: Node): boolean => n.k === 'const' && n.name === 'i';
const isUnevaluated = (n: Node): boolean => n.k === 'big' && UNEVALUATED.has(n.op);

function constants(a: Node, b: Node, c: Comparison, digits: number, different: Equality): Equality {
  const none = new Map<string, Q.Rational>();
  if (atPoint(a, b, c, balls, none, false, sameBall) === false) return different;
  const reals = bigReals(digits);
  const word = atPoint(a, b, c, reals, none, false, sameBig(reals, digits));
  if (word !== undefined) return word ? 'sampled' : different;
  // A difference next to nothing is either what rounding left, which more digits shrink, or a true small value.
  const few = difference(a, b, c, reals);
  const more = bigReals(digits * 3);
  const many = few && difference(a, b, c, more);
  if (!few || !many) return 'unknown';
  const part = (exponent: number): Big => more.from(Q.rational(1n, 10n ** BigInt(exponent)));
  if (more.isZero(many) || more.compare(many, more.mul(few, part(20))) < 0) return 'sampled';
  const change = more.abs(more.sub(few, many));
  return more.compare(change, more.mul(many, part(6))) <= 0 ? different : 'unknown';
}

/** How far apart two complex numbers are, by the sum of both parts. */
function distance(x: Complex<Big>, y: Complex<Big>, r: BigReals): Big {
  const zero = r.from(Q.ZERO);
  return r.add(r.abs(r.sub(x.re, y.re)), r.abs(r.sub(x.im ?? zero, y.im ?? zero)));
}

function difference(a: Node, b: Node, c: Comparison, reals: BigReals): Big | undefined {
  let off: Big | undefined;
  atPoint(a, b, c, reals, new Map(), false, (x, y) => {
    off = distance(x, y, reals);
    return true;
  });
  return off;
}

type Same<T> = (a: Complex<T>, b: Complex<T>, reals: Reals<T>) => boolean | undefined;

/** True or false; undefined when neither side or not both sides have a value that can be told here. */
function atPoint<T>(
  a: Node,
  b: Node,
  c: Comparison,
  reals: Reals<T>,
  point: ReadonlyMap<string, Q.Rational>,
  realOnly: boolean,
  same: Same<T>,
): boolean | undefined {
  const context: NumericContext<T> = { reals, letters: point, symbolic: c.contexts[0], realOnly };
  try {
    return same(value(a, context), value(b, context), reals);
  } catch (error) {
    if (error instanceof NoValue || error instanceof Imprecise) return undefined;
    throw error;
  }
}

const sameBall: Same<Ball> = (a, b, r) => {
  const apart = (x: Ball, y: Ball): boolean => Math.abs(x.v - y.v) > 4 * (x.e + y.e) + 1e-290;
  const zero = r.from(Q.ZERO);
  if (apart(a.re, b.re) || apart(a.im ?? zero, b.im ?? zero)) return false;
  // Agreement within a large error says nothing.
  const error = a.re.e + b.re.e + (a.im?.e ?? 0) + (b.im?.e ?? 0);
  const size = Math.abs(a.re.v) + Math.abs(b.re.v) + Math.abs(a.im?.v ?? 0) + Math.abs(b.im?.v ?? 0);
  return error > 1e-6 * size && size > 1e-12 ? undefined : true;
};

const sameBig =
  (r: BigReals, digits: number): Same<Big> =>
  (a, b) => {
    const origin: Complex<Big> = { re: r.from(Q.ZERO), im: undefined };
    const off = distance(a, b, r);
    if (r.isZero(off)) return true;
    const [x, y] = [distance(a, origin, r), distance(b, origin, r)];
    const scale = r.compare(x, y) > 0 ? x : y;
    const part = (exponent: number): Big => r.from(Q.rational(1n, 10n ** BigInt(exponent)));
    if (r.compare(scale, part(20)) < 0) return undefined;
    return r.compare(off, r.mul(scale, part(digits - 15))) <= 0;
  };

function points(names: readonly string[], whole: boolean, a: Node, b: Node): Map<string, Q.Rational>[] {
  const table = whole ? WHOLE_POINTS : POINTS;
  const result = table.map((_, row) => {
    const point = new Map<string, Q.Rational>();
    names.forEach((name, column) => {
      const n = table[(row + column * 7) % table.length] ?? 1n;
      point.set(
        name,
        whole
          ? Q.rational(n + BigInt(Math.floor((row + column * 7) / table.length)))
          : Q.rational(n + BigInt(column * 37), 1000n),
      );
    });
    return point;
  });
  if (whole) return result;
  // Beyond the numbers that occur: where absolute values and maxima change sides.
  const breaks = new Set<string>();
  collect(a, breaks);
  collect(b, breaks);
  const extra = [...breaks].slice(0, 6).flatMap((text) => {
    const n = BigInt(text);
    return [n * 1313n, n * -1717n].map(
      (v) => new Map(names.map((name, k) => [name, Q.rational(v + BigInt(k * 211), 1000n)])),
    );
  });
  return [...result.slice(0, 4), ...extra, ...result.slice(4)];
}

function collect(node: Node, into: Set<string>): void {
  if (node.k === 'num' && node.value.den === 1n) {
    const n = node.value.num < 0n ? -node.value.num : node.value.num;
    if (n > 2n && n < 1_000_000_000n) into.add(n.toString());
  }
  for (const child of children(node)) collect(child, into);
}

/** Digits of the longest exact number inside: precision grows with it. */
function longest(node: Node, c: ExactContext): number {
  const own = exact(node, c);
  if (own) return Math.ceil((bits(own.num) + bits(own.den)) * 0.302);
  return children(node).reduce((max, child) => Math.max(max, longest(child, c)), 0);
}
