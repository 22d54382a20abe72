// Values of both sides at many points. Doubles with error bounds can only show a difference; reals of a hundred digits
// decide the rest. Points depend on the pair, so no answer can prepare for them; every cell in which a formula has one
// form (cells.ts) contains a point; letters that count by convention (n, m, k) are whole, all others are fractions.
// Not covered: differences below the digits, or in a cell that cannot be reached.

import { children, type Node, some } from '../base/ast.ts';
import { type BigReals, bigReals } from './bigreals.ts';
import { cellPoints, guardsOf, type Point } from './cells.ts';
import { type Comparison, type Equality, letters } from './comparison.ts';
import { bits, exact } from './exact.ts';
import { TooBig } from '../base/limits.ts';
import { WHOLE } from './numeric.ts';
import * as Q from '../base/rational.ts';
import { balls, type Ball, type Reals } from './reals.ts';
import { drawn, residue } from './residues.ts';
import { watchful, Hidden } from './watchful.ts';
import type { Big } from './big-arithmetic.ts';
import type { Complex, NumericContext } from './functions.ts';
import { signsTurned, valueAt } from './domains.ts';

// Both signs, below and above one, far from zero: functions are told apart in every regime.
const POINTS =
  '713 2371 -1319 391 1871 -617 3343 1109 7919 -2789 241 1601 -457 1013 2879 547 23911 -1753 881 3041 -9241 149 1427 2153 617389'
    .split(' ')
    .map(BigInt);
const AGREEING_POINTS = 8;
const AGREEING_WHOLE_POINTS = 14;
const WHOLE_ROWS = 40;
const DIGITS = 100;
const MAX_DIGITS = 360;
const CONFIRMED_POINTS = 2;
const CONFIRMED_CELLS = 10;
const MAX_LETTERS = 26;
const FAR = [Q.rational(-1_000_003n), Q.rational(1_000_003n)];

export function sampled(a: Node, b: Node, c: Comparison): Equality {
  const names = [...letters(b, letters(a))].sort();
  if (names.length > MAX_LETTERS) throw new TooBig('too many letters');
  const digits = DIGITS + longest(a, c) + longest(b, c);
  // Two values could differ below any precision that is worth its time.
  if (digits > MAX_DIGITS) throw new TooBig('too many digits to tell');
  const open = some(a, isUnevaluated) !== some(b, isUnevaluated);
  const different = open ? 'unknown' : 'different';
  const many = (): BigReals => watchful(bigReals(Math.min(MAX_DIGITS, digits + written(a) + written(b))));
  const realOnly = !some(a, isImaginary) && !some(b, isImaginary);
  if (names.length === 0) return constants(a, b, c, many, different);
  const plan = planOf(a, b, names, c, (point) => atPoint(a, b, c, balls, point, realOnly, sameBall) === false);
  if (!plan) return different;
  const agreed: Point[] = [];
  for (const point of plan.points) {
    const word = atPoint(a, b, c, balls, point, realOnly, sameBall);
    if (word === false) return different;
    if (word === 'one') return 'unknown';
    if (word === true) agreed.push(point);
    if (agreed.length >= plan.enough) break;
  }
  if (!plan.closed || agreed.length < plan.needed) return 'unknown';
  const own = [letters(a), letters(b)] as const;
  // A letter that one side lacks must not matter to the other, however far it goes: min(x, y) is no min(t, y).
  const alone = names.filter((name) => own.some((set) => !set.has(name)));
  for (const point of alone.length > 0 ? agreed : [])
    for (const name of alone)
      for (const far of FAR)
        if (atPoint(a, b, c, balls, new Map(point).set(name, far), realOnly, sameBall) === false) return different;
  const reals = many();
  let [told, zero] = [0, 0];
  for (const point of agreed.slice(0, plan.tries)) {
    const word = atPoint(a, b, c, reals, point, realOnly, sameBig(reals));
    if (word === false) return different;
    if (word === 'one') return 'unknown';
    if (word === 'zero') zero++;
    if (word === true) told++;
    if (told >= plan.confirmed) return 'sampled';
  }
  // Zeros alone show something only where nothing else is met.
  return told >= 3 || (told === 0 && zero >= 3) ? 'sampled' : 'unknown';
}

interface Plan {
  readonly points: Iterable<Point>;
  /** The points reach every region. */
  readonly closed: boolean;
  readonly enough: number;
  readonly needed: number;
  /** Points at which many digits are compared, and how many of them are enough. */
  readonly tries: number;
  readonly confirmed: number;
}

/** Undefined where a plain point tells the two apart, so that no cell need be found. */
function planOf(
  a: Node,
  b: Node,
  names: readonly string[],
  c: Comparison,
  differ: (point: Point) => boolean,
): Plan | undefined {
  const guards = guardsOf([a, b], c);
  const guarded = new Set(guards.flatMap((guard) => [...letters(guard)]));
  const steps = some(a, isStep) || some(b, isStep);
  const counted = new Set<string>();
  for (const node of [a, b]) collectCounted(node, counted);
  const forced = counted.size > 0;
  for (const name of names) if (COUNTING.test(name) && !guarded.has(name)) counted.add(name);
  let closed =
    !steps && guards.every((guard) => letters(guard).size > 0) && ![...guarded].some((name) => counted.has(name));
  const seed = seedOf(a, b, c);
  const rows = counted.size > 0 ? WHOLE_ROWS : POINTS.length;
  const rest = names.filter((name) => !guarded.has(name));
  const made: Point[] = [];
  const rowAt = (row: number): Point =>
    (made[row] ??= new Map(
      names.map((name, column) => [
        name,
        counted.has(name) ? wholeValue(seed, row, column, forced) : realValue(seed, row, column),
      ]),
    ));
  const table = function* (): Generator<Point> {
    for (let row = 0; row < rows; row++) yield rowAt(row);
  };
  if (guards.length === 0) {
    const whole = counted.size > 0;
    const enough = whole ? AGREEING_WHOLE_POINTS : AGREEING_POINTS;
    return { points: table(), closed, enough, needed: 5, tries: 8, confirmed: CONFIRMED_POINTS };
  }
  for (let row = 0; row < 8; row++) if (differ(rowAt(row))) return undefined;
  const cells = cellPoints(guards, c);
  closed &&= cells.closed;
  const points = cells.points.map((point, row) => {
    const full = new Map(point);
    for (const name of rest) full.set(name, rowAt(row % rows).get(name) ?? Q.ONE);
    return full;
  });
  return {
    points: [...points, ...table()],
    closed,
    enough: points.length + rows,
    needed: Math.min(5, points.length),
    // In each cell: a difference below the digits of a double may be in one of them alone.
    tries: Math.max(CONFIRMED_CELLS, points.length),
    confirmed: Math.max(CONFIRMED_CELLS, points.length),
  };
}

const isImaginary = (n: Node): boolean => n.k === 'const' && n.name === 'i';
const UNEVALUATED = new Set(['int', 'iint', 'oint', 'lim', 'sum', 'prod']);
const isUnevaluated = (n: Node): boolean => n.k === 'big' && UNEVALUATED.has(n.op);
const isNegative = (n: Node): boolean => n.k === 'neg' || (n.k === 'num' && n.value.num < 0n);

/** Jumps: no sample reaches all of them. */
const isStep = (n: Node): boolean => n.k === 'call' && /^(floor|ceil|mod|gcd|lcm)$/.test(n.name) && letters(n).size > 0;

/** Letters that only whole numbers can stand for: in factorials, bounds of sums, powers of negative numbers. */
function collectCounted(node: Node, into: Set<string>): void {
  const take = (part: Node | undefined, may: (name: string) => boolean): void => {
    for (const name of part ? letters(part) : []) if (may(name)) into.add(name);
  };
  if (node.k === 'call' && WHOLE.has(node.name)) take(node, (name) => !MEASURING.test(name));
  if (node.k === 'big') for (const bound of [node.from, node.to]) take(bound, (name) => MAY_COUNT.test(name));
  if (node.k === 'pow' && isNegative(node.base)) take(node.exp, (name) => MAY_COUNT.test(name));
  for (const child of children(node)) collectCounted(child, into);
}

function seedOf(a: Node, b: Node, c: Comparison): bigint {
  const [context] = c.contexts;
  const [x, y] = [residue(a, context), residue(b, context)];
  return (x?.re ?? 1n) + (x?.im ?? 0n) + (y?.re ?? 2n) + (y?.im ?? 0n);
}

const draw = (seed: bigint, row: number, column: number, from: bigint): bigint =>
  drawn(`${seed}:${row}:${column}`) % from;

/** Small ones first; both signs only where nothing asks for a natural number. */
function wholeValue(seed: bigint, row: number, column: number, natural: boolean): Q.Rational {
  const size = 1n + draw(seed, row, column, row < 20 ? 9n : 24n);
  return Q.rational(!natural && row % 3 === 2 ? -size : size);
}

function realValue(seed: bigint, row: number, column: number): Q.Rational {
  const n = POINTS[(row + column * 7) % POINTS.length] ?? 1n;
  // A denominator of its own for each point: no period can have all of them.
  return Q.rational(n * (4999n + draw(seed, row, column, 997n)), 5_000_011n + 2n * draw(seed, row, column, 499n));
}

function constants(a: Node, b: Node, c: Comparison, many: () => BigReals, different: Equality): Equality {
  const none: Point = new Map();
  if (atPoint(a, b, c, balls, none, false, sameBall) === false) return different;
  const reals = many();
  const word = atPoint(a, b, c, reals, none, false, sameBig(reals));
  if (word === false) return different;
  // Nothing is shown if only one side is real: arcsin 2 is no number, and so none of all numbers.
  return word === true || word === 'zero' ? 'sampled' : 'unknown';
}

/** Digits of the longest exact number inside: precision grows with it. */
function longest(node: Node, c: Comparison): number {
  const own = exact(node, c);
  if (own) return Math.ceil((bits(own.num) + bits(own.den)) * 0.302);
  return children(node).reduce((max, child) => Math.max(max, longest(child, c)), 0);
}

/** Digits of all numbers written: a coincidence agrees in about as many as were chosen for it. */
function written(node: Node): number {
  const own = node.k === 'num' ? Math.ceil((bits(node.value.num) + bits(node.value.den)) * 0.302) : 0;
  return children(node).reduce((sum, child) => sum + written(child), own);
}

/** Letters that count something by convention. */
const COUNTING = /^[nmkjNMK]$/;
/** Letters that may count, where a bound or a power of a negative number asks for it. */
const MAY_COUNT = /^[nmkjNMKlpqrs]$/;
/** Letters that count nothing, also in a factorial. */
const MEASURING = /^[tx-z]$/;

type Told = boolean | 'zero' | 'one' | undefined;
type Same<T> = (a: Complex<T>, b: Complex<T>, reals: Reals<T>) => Told;

/** True or false; `one` when only one side is real here; undefined when a side has no value that can be told. */
function atPoint<T>(
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

const sameBall: Same<Ball> = (a, b, r) => {
  const apart = (x: Ball, y: Ball): boolean => Math.abs(x.v - y.v) > 4 * (x.e + y.e) + 1e-290;
  const zero = r.from(Q.ZERO);
  if (apart(a.re, b.re) || apart(a.im ?? zero, b.im ?? zero)) return false;
  // Agreement within a large error says nothing.
  const error = a.re.e + b.re.e + (a.im?.e ?? 0) + (b.im?.e ?? 0);
  const size = Math.abs(a.re.v) + Math.abs(b.re.v) + Math.abs(a.im?.v ?? 0) + Math.abs(b.im?.v ?? 0);
  return error > 1e-6 * size && size > 1e-12 ? undefined : true;
};

/** Equal but for the last digits of the larger one. */
const sameBig =
  (r: BigReals): Same<Big> =>
  (a, b) => {
    const zero = r.from(Q.ZERO);
    const size = (x: Complex<Big>): Big => bigger(r.abs(x.re), r.abs(x.im ?? zero), r);
    const off = bigger(r.abs(r.sub(a.re, b.re)), r.abs(r.sub(a.im ?? zero, b.im ?? zero)), r);
    if (r.isZero(off)) return r.isZero(size(a)) ? 'zero' : true;
    return r.compare(off, r.mul(bigger(size(a), size(b), r), r.lastDigits)) <= 0;
  };

const bigger = (x: Big, y: Big, r: BigReals): Big => (r.compare(x, y) > 0 ? x : y);
