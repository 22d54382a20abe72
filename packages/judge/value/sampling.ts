// Values of both sides at many points, as doubles with a bound of their error. Points depend on the pair, so no answer can
// prepare for them; every cell in which a formula has one form (cells.ts) contains a point; letters that count by convention
// (n, m, k) are whole, all others are fractions. Not covered: differences below the digits of a double by a coincidence, or in
// a cell that cannot be reached.

import { children, type Node, some } from '../base/ast.ts';
import { cellPoints, guardsOf, type Point } from './cells.ts';
import { type Comparison, type Equality, letters } from './comparison.ts';
import { bits, exact } from './exact.ts';
import { TooBig } from '../base/limits.ts';
import { signsTurned } from './domains.ts';
import type { Complex, Place } from './functions.ts';
import { valueAt, WHOLE } from './numeric.ts';
import * as Q from '../base/rational.ts';
import { type Ball, isKnownZero } from './balls.ts';
import { drawn, residue } from './residues.ts';

// Both signs, below and above one, far from zero: functions are told apart in every regime.
const POINTS =
  '713 2371 -1319 391 1871 -617 3343 1109 7919 -2789 241 1601 -457 1013 2879 547 23911 -1753 881 3041 -9241 149 1427 2153 617389'
    .split(' ')
    .map(BigInt);
const AGREEING_POINTS = 8;
const AGREEING_WHOLE_POINTS = 14;
const WHOLE_ROWS = 40;
const MAX_BITS = 40;
const MAX_LETTERS = 26;
const MOST_ERROR = 1e-10;
const FAR = [Q.rational(-1_000_003n), Q.rational(1_000_003n)];

export function sampled(a: Node, b: Node, c: Comparison): Equality {
  const names = [...letters(b, letters(a))].sort();
  if (names.length > MAX_LETTERS) throw new TooBig('too many letters');
  const open = some(a, isUnevaluated) !== some(b, isUnevaluated);
  const different = open ? 'unknown' : 'different';
  const realOnly = names.length > 0 && !some(a, isImaginary) && !some(b, isImaginary);
  const told = (point: Point): Told => atPoint(a, b, c, point, realOnly);
  const plan = planOf(a, b, names, c, (point) => told(point) === false);
  if (!plan) return different;
  const agreed: Point[] = [];
  let zeros = 0;
  for (const point of plan.points) {
    const word = told(point);
    if (word === false) return different;
    if (word === 'one') return 'unknown';
    if (word === 'zero') zeros++;
    if (word === true || word === 'zero') agreed.push(point);
    if (agreed.length >= plan.enough) break;
  }
  if (!plan.closed || agreed.length < plan.needed || isLong(a, c) || isLong(b, c)) return 'unknown';
  const own = [letters(a), letters(b)] as const;
  // A letter that one side lacks must not matter to the other, however far it goes: min(x, y) is no min(t, y).
  const alone = names.filter((name) => own.some((set) => !set.has(name)));
  for (const point of alone.length > 0 ? agreed : [])
    for (const name of alone)
      for (const far of FAR) if (told(new Map(point).set(name, far)) === false) return different;
  // Zeros alone show something only where nothing else is met.
  return zeros === agreed.length || agreed.length - zeros >= plan.needed ? 'sampled' : 'unknown';
}

interface Plan {
  readonly points: Iterable<Point>;
  /** The points reach every region. */
  readonly closed: boolean;
  readonly enough: number;
  readonly needed: number;
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
  if (names.length === 0) return { points: [new Map()], closed: true, enough: 1, needed: 1 };
  if (guards.length === 0) {
    const whole = counted.size > 0;
    const enough = whole ? AGREEING_WHOLE_POINTS : AGREEING_POINTS;
    return { points: table(), closed, enough, needed: 5 };
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
  const [x, y] = [residue(a, c), residue(b, c)];
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

/** Holds an exact number of more digits than a double has: it is not told from one next to it, as 10¹⁵ + 1 from 10¹⁵. */
function isLong(node: Node, c: Comparison): boolean {
  const own = exact(node, c);
  if (own) return bits(withoutSmallFactors(own.num)) + bits(withoutSmallFactors(own.den)) > MAX_BITS;
  return children(node).some((child) => isLong(child, c));
}

/** Powers of ten, two or three, and factorials, have few digits of their own. */
function withoutSmallFactors(n: bigint): bigint {
  let rest = n;
  for (const prime of [2n, 3n, 5n, 7n]) while (rest !== 0n && rest % prime === 0n) rest /= prime;
  return rest;
}

/** Letters that count something by convention. */
const COUNTING = /^[nmkjNMK]$/;
/** Letters that may count, where a bound or a power of a negative number asks for it. */
const MAY_COUNT = /^[nmkjNMKlpqrs]$/;
/** Letters that count nothing, also in a factorial. */
const MEASURING = /^[tx-z]$/;

type Told = boolean | 'zero' | 'one' | undefined;

/** True or false; `one` when only one side is real here; undefined when a side has no value that can be told. */
function atPoint(a: Node, b: Node, c: Comparison, point: Point, realOnly: boolean): Told {
  const at: Place = { letters: point, c, realOnly };
  const [x, y] = [valueAt(a, at), valueAt(b, at)];
  if (typeof x === 'object' && typeof y === 'object') return same(x, y);
  // ln x² has values where 2 ln x has none: equal where both are real is not equal.
  const one = (x === 'not-real' && typeof y === 'object') || (y === 'not-real' && typeof x === 'object');
  // A count below zero is no part of what was asked.
  const counts = [...point].every(([name, to]) => !(COUNTING.test(name) && to.num < 0n && to.den === 1n));
  return one && counts && !signsTurned(x === 'not-real' ? a : b, at) ? 'one' : undefined;
}

function same(a: Complex, b: Complex): Told {
  const apart = (x: Ball, y: Ball): boolean => Math.abs(x.v - y.v) > 4 * (x.e + y.e);
  if (apart(a.re, b.re) || apart(a.im, b.im)) return false;
  const all = [a.re, a.im, b.re, b.im];
  if (all.every(isKnownZero)) return 'zero';
  // Agreement within a large error says nothing.
  const error = all.reduce((total, { e }) => total + e, 0);
  const size = all.reduce((total, { v }) => total + Math.abs(v), 0);
  return error > MOST_ERROR * size ? undefined : true;
}
