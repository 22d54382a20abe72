// Values of both sides at many points, as doubles with a bound of their error. Points depend on the pair, so no answer can
// prepare for them; every cell in which a formula has one form (cells.ts) contains a point; letters that count by convention
// (n, m, k) are whole, all others are fractions. Not covered: differences below the digits of a double by a coincidence, or in
// a cell that cannot be reached.

import { children, type Node, some } from '../base/ast.ts';
import { TooBig } from '../base/limits.ts';
import * as Q from '../base/rational.ts';
import { type Ball, isKnownZero } from './balls.ts';
import { cellPoints, guardsOf, type Point } from './cells.ts';
import { type Comparison, type Equality, letters } from './comparison.ts';
import { signsTurned } from './domains.ts';
import { bits, exact } from './exact.ts';
import type { Complex, Place } from './functions.ts';
import { valueAt, WHOLE } from './numeric.ts';
import { drawn, residue } from './residues.ts';

// Both signs, below and above one, far from zero: functions are told apart in every regime. Each is a row of values for the
// letters, and some rows have no value: five that agree are enough, in formulas that few numbers make.
const POINTS =
  '713 2371 -1319 391 1871 -617 3343 1109 7919 -2789 241 1601 -457 1013 2879 547 23911 -1753 881 3041 -9241 149 1427 2153 617389'
    .split(' ')
    .map(BigInt);
const ENOUGH = 5;
const MAX_LETTERS = 26;
const MAX_BITS = 40;
const MOST_ERROR = 1e-10;
const FAR = [Q.rational(-1_000_003n), Q.rational(1_000_003n)];

export function sampled(a: Node, b: Node, c: Comparison): Equality {
  const own = [letters(a), letters(b)] as const;
  const names = [...new Set([...own[0], ...own[1]])].sort();
  if (names.length > MAX_LETTERS) throw new TooBig('too many letters');
  const realOnly = names.length > 0 && !some(a, isImaginary) && !some(b, isImaginary);
  const counted = new Set<string>();
  for (const node of [a, b]) collectCounted(node, counted);
  const guards = guardsOf([a, b], c);
  const guarded = new Set(guards.flatMap((guard) => [...letters(guard)]));
  const rows = rowsOf(seedOf(a, b, c), names, counted, guarded);
  let [agreed, zeros] = [0, 0];
  const told = (point: Point): Told => atPoint(a, b, c, point, realOnly);
  const different = some(a, isUnevaluated) === some(b, isUnevaluated) ? 'different' : 'unknown';
  const differAt = (points: readonly Point[]): Equality | undefined => {
    for (const point of points) {
      const word = told(point);
      if (word === false) return different;
      if (word === 'one') return 'unknown';
      if (word === 'zero') zeros++;
      if (word === true) agreed++;
    }
    return undefined;
  };
  const word = differAt(rows);
  if (word) return word;
  const { points, closed } = cellPoints(guards, c);
  const inCells = differAt(points.map((point, k) => new Map([...(rows[k % rows.length] ?? []), ...point])));
  if (inCells) return inCells;
  if (!closed || [a, b].some((node) => some(node, isStep)) || [...guarded].some((name) => counted.has(name)))
    return 'unknown';
  // A letter that one side lacks must not matter to the other, however far it goes: min(x, y) is no min(t, y).
  for (const name of names.filter((one) => own.some((set) => !set.has(one))))
    for (const row of rows) if (FAR.some((far) => told(new Map(row).set(name, far)) === false)) return different;
  if (isLong(a, c) || isLong(b, c)) return 'unknown';
  // Zeros alone show something only where nothing else is met.
  const enough = names.length === 0 ? 1 : ENOUGH;
  return agreed >= enough || (agreed === 0 && zeros >= enough) ? 'sampled' : 'unknown';
}

/** Values of all letters, row by row. */
function rowsOf(
  seed: bigint,
  names: readonly string[],
  counted: Set<string>,
  guarded: ReadonlySet<string>,
): readonly Point[] {
  if (names.length === 0) return [new Map()];
  for (const name of names) if (COUNTING.test(name) && !guarded.has(name)) counted.add(name);
  return POINTS.map(
    (_, row) =>
      new Map(
        names.map((name, column) => [
          name,
          counted.has(name) ? wholeValue(seed, row, column) : realValue(seed, row, column),
        ]),
      ),
  );
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

/** Small ones first; a count is no part of what was asked below one. */
const wholeValue = (seed: bigint, row: number, column: number): Q.Rational =>
  Q.rational(1n + draw(seed, row, column, row < 12 ? 9n : 24n));

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
  return one && !signsTurned(x === 'not-real' ? a : b, at) ? 'one' : undefined;
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
