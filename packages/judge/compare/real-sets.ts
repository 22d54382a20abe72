// A set of real numbers is a test and the points at which its result may change: intervals, finite sets, unions, differences,
// and conditions on one unknown. Two sets are the same if their tests agree at the points of both and between them. A
// condition changes at the zeros and poles of the difference of its sides, which is a fraction of polynomials, or x and a
// constant; what these zeros are for any other is left undecided.

import { add, children, ELEMENT, mapChildren, neg, type Node, num, type Of, type Relop, some } from '../base/ast.ts';
import * as Q from '../base/rational.ts';
import { type Comparison, letters } from '../value/comparison.ts';
import { constant } from '../value/numeric.ts';
import { replaceSymbol } from '../value/exact.ts';
import { fractionIn, realRoots } from '../value/polynomial.ts';
import { infinity } from './leaf.ts';
import { type Compare, isSame } from './sameness.ts';

export interface Point {
  readonly node: Node;
  readonly at: number;
}

export interface RealSet {
  readonly points: readonly Point[];
  readonly has: (point: Point) => boolean;
}

/** Two numbers that cannot be told apart. */
class Untold extends Error {}

/** What the sets of one comparison are made with. */
export interface Line {
  readonly c: Comparison;
  readonly same: Compare;
}

/** What is in all of these sets; and in any of them. */
const all = (sets: readonly RealSet[]): RealSet => ({
  points: sets.flatMap((set) => set.points),
  has: (p) => sets.every((set) => set.has(p)),
});
const any = (sets: readonly RealSet[]): RealSet => ({ ...all(sets), has: (p) => sets.some((set) => set.has(p)) });

/** Undefined where one is missing. */
function complete<T>(items: readonly (T | undefined)[]): T[] | undefined {
  const known = items.filter((item) => item !== undefined);
  return known.length < items.length ? undefined : known;
}

/** Undefined when two points cannot be told apart. */
export function sameReals(a: RealSet, b: RealSet, line: Line): boolean | undefined {
  try {
    return places([...a.points, ...b.points], line).every((p) => a.has(p) === b.has(p));
  } catch (error) {
    if (error instanceof Untold) return undefined;
    throw error;
  }
}

/** Each of these points once, and a number in each gap between them. */
function places(points: readonly Point[], line: Line): readonly Point[] {
  const distinct: Point[] = [];
  for (const point of points.toSorted((p, q) => p.at - q.at)) {
    const last = distinct.at(-1);
    if (!last || order(last, point, line) !== 0) distinct.push(point);
  }
  const ends = distinct.map(({ at }) => at);
  return [...distinct, ...[...ends, Infinity].map((high, k) => inGap(ends[k - 1] ?? -Infinity, high))];
}

function inGap(low: number, high: number): Point {
  const from = low > -Infinity ? low : 2 * Math.min(high, 0) - 2;
  const to = high < Infinity ? high : 2 * Math.max(low, 0) + 2;
  const at = (from + to) / 2;
  return { node: num(Q.rational(BigInt(Math.round(at * 2 ** 30)), 2n ** 30n)), at };
}

/** Negative, zero or positive as the first is below, at or above the second: by their doubles where these are clearly apart. */
function order(p: Point, q: Point, { same }: Line): number {
  if (p === q) return 0;
  const gap = p.at - q.at;
  if (Math.abs(gap) > 1e-3 * Math.max(1, Math.abs(p.at))) return gap;
  const word = same(p.node, q.node);
  if (isSame(word)) return 0;
  if (word === 'unknown' || gap === 0) throw new Untold();
  return gap;
}

function pointAt(node: Node, c: Comparison): Point | undefined {
  const sign = infinity(node);
  const at = sign === 0 ? constant(node, c) : sign * Infinity;
  return at === undefined ? undefined : { node, at };
}

/** The set that a node stands for; undefined when it is none that can be computed with. */
export function realsOf(node: Node, line: Line): RealSet | undefined {
  switch (node.k) {
    case 'named':
      return node.name === 'R' ? all([]) : undefined;
    case 'set':
    case 'list':
      return several(node, line);
    case 'tuple':
      return interval(node, line);
    case 'setop': {
      const sides = complete([realsOf(node.left, line), realsOf(node.right, line)]);
      if (!sides || node.op !== 'setminus') return sides && (node.op === 'cup' ? any : all)(sides);
      const [left, right] = sides as [RealSet, RealSet];
      return { ...all(sides), has: (p) => left.has(p) && !right.has(p) };
    }
    case 'rel':
      if (node.ops.length === 1 && node.ops[0] === 'in' && node.items[1]) return realsOf(node.items[1], line);
      return condition(node, line);
    default: {
      const only = pointAt(node, line.c);
      if (!only || !Number.isFinite(only.at)) return undefined;
      return { points: [only], has: (p) => order(p, only, line) === 0 };
    }
  }
}

function several(node: Of<'set'> | Of<'list'>, line: Line): RealSet | undefined {
  // A set that has an interval for its element is no interval.
  if (node.k === 'set' && node.explicit && node.items.some((item) => item.k === 'tuple')) return undefined;
  const sets = complete(node.items.map((item) => realsOf(item, line)));
  if (!sets) return undefined;
  const join = node.k === 'list' ? node.join : 'or';
  if (join === 'or' || node.items.every((item) => item.k !== 'rel' || item.ops.includes('in'))) return any(sets);
  // "x > 1 and x < 3" is both at once; "x < 1, x > 3" can only be either.
  if (sameReals(all(sets), any([]), line) !== true) return all(sets);
  return join === 'and' ? undefined : any(sets);
}

function interval(node: Of<'tuple'>, line: Line): RealSet | undefined {
  const [low, high] = node.items.map((end) => pointAt(end, line.c));
  if (node.items.length !== 2 || !low || !high || !(low.at < high.at)) return undefined;
  const [from, to] = [node.open === '[' ? '<=' : '<', node.close === ']' ? '<=' : '<'] as const;
  return {
    points: [low, high].filter(({ at }) => Number.isFinite(at)),
    has: (p) => HOLDS[from]!(order(low, p, line)) && HOLDS[to]!(order(p, high, line)),
  };
}

/** What an order of two numbers says of a comparison between them. */
const HOLDS: Readonly<Partial<Record<Relop, (sign: number) => boolean>>> = {
  '<': (sign) => sign < 0,
  '>': (sign) => sign > 0,
  '<=': (sign) => sign <= 0,
  '>=': (sign) => sign >= 0,
  '=': (sign) => sign === 0,
  '!=': (sign) => sign !== 0,
};

/** The numbers that meet a chain of comparisons in one unknown. */
function condition(chain: Of<'rel'>, line: Line): RealSet | undefined {
  // The unknown number may be written as f(x).
  const element: Node = { k: 'sym', name: ELEMENT };
  const node = { ...chain, items: chain.items.map((item) => (item.k === 'apply' ? element : item)) };
  const [name, ...others] = letters(node);
  if (name === undefined || others.length > 0) return undefined;
  const sets = complete(node.ops.map((op, k) => link(node.items[k]!, op, node.items[k + 1]!, name, line)));
  return sets && all(sets);
}

function link(left: Node, op: Relop, right: Node, name: string, line: Line): RealSet | undefined {
  const test = HOLDS[op];
  const cases = opened({ k: 'rel', items: [left, right], ops: ['='] }, name);
  const changes = complete(cases.map((equation) => zerosAndPoles(equation, name, line)));
  if (!test || !changes || changes.length === 0) return undefined;
  const [zeros, poles] = [changes.flatMap((own) => own.zeros), changes.flatMap((own) => own.poles)];
  const has = (p: Point): boolean => {
    const isAt = (point: Point): boolean => order(p, point, line) === 0;
    if (poles.some(isAt)) return false;
    if (changes.length === 1 && zeros.some(isAt)) return test(0);
    const [x, y] = [left, right].map((side) => pointAt(replaceSymbol(side, name, p.node), line.c));
    if (!x || !y) throw new Untold();
    return test(order(x, y, line));
  };
  return { points: [...zeros, ...poles].filter(({ at }) => Number.isFinite(at)), has };
}

const MAX_SIZES = 4;

/** An equation in each way in which its absolute values can open, none where these are too many; a zero of one may be none of it. */
function opened(equation: Node, name: string): readonly Node[] {
  const sizes: Node[] = [];
  some(equation, (n) => {
    if (n.k === 'call' && n.name === 'abs' && letters(n).has(name)) sizes.push(n);
    return false;
  });
  if (sizes.length > MAX_SIZES) return [];
  return Array.from({ length: 2 ** sizes.length }, (_, signs) => {
    const open = (node: Node): Node => {
      const inner = mapChildren(node, open);
      const at = sizes.indexOf(node);
      if (at < 0 || inner.k !== 'call') return inner;
      return (signs >> at) & 1 ? neg(inner.args[0]!) : inner.args[0]!;
    };
    return open(equation);
  });
}

interface Changes {
  readonly zeros: readonly Point[];
  readonly poles: readonly Point[];
}

function zerosAndPoles(equation: Node, name: string, { c }: Line): Changes | undefined {
  const [left, right] = children(equation) as [Node, Node];
  const pointsAt = (nodes: readonly Node[]): Point[] =>
    nodes.map((node) => pointAt(node, c)).filter((point) => point !== undefined);
  const zero = solved(left, right) ?? solved(right, left);
  if (zero) return { zeros: pointsAt([zero]), poles: [] };
  const fraction = fractionIn(add([left, neg(right)]), name, c);
  const zeros = fraction && realRoots(fraction.top, c);
  const poles = zeros && realRoots(fraction.bottom, c);
  return poles && { zeros: pointsAt(zeros), poles: pointsAt(poles) };
}

/** Of `x = √2` and `-x = √2` the x: any constant may be its bound. */
function solved(side: Node, other: Node): Node | undefined {
  if (letters(other).size > 0) return undefined;
  if (side.k === 'sym') return other;
  return side.k === 'neg' && side.arg.k === 'sym' ? neg(other) : undefined;
}
