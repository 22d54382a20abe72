// A set of real numbers is a test and the points at which its result may change: intervals, finite sets, unions, differences,
// and conditions on one unknown. Two sets are the same if their tests agree at the points of both and between them. A
// condition changes at the zeros and poles of the difference of its sides, which is a fraction of polynomials, or x and a
// constant; what these zeros are for any other is left undecided.

import { add, children, mapChildren, neg, type Node, num, type Of, type Relop } from '../base/ast.ts';
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

const ALL: RealSet = { points: [], has: () => true };
const NONE: RealSet = { points: [], has: () => false };

/** Undefined when two points cannot be told apart. */
export function sameReals(a: RealSet, b: RealSet, line: Line): boolean | undefined {
  try {
    return places(a, b, line).every(([x, y]) => a.has(x) === b.has(y));
  } catch (error) {
    if (error instanceof Untold) return undefined;
    throw error;
  }
}

/** The points of both, as each of them names it, and a number in each gap between them. */
function places(a: RealSet, b: RealSet, line: Line): (readonly [Point, Point])[] {
  const points: { at: Point; a?: Point; b?: Point }[] = [];
  const named = [...a.points.map((p) => ({ at: p, a: p })), ...b.points.map((p) => ({ at: p, b: p }))];
  for (const next of named.toSorted((p, q) => p.at.at - q.at.at)) {
    const last = points.at(-1);
    if (last && order(last.at, next.at, line) === 0) points[points.length - 1] = { ...next, ...last };
    else points.push(next);
  }
  const ends = points.map(({ at }) => at.at);
  const gaps = [...ends, Infinity].map((high, k) => inGap(ends[k - 1] ?? -Infinity, high));
  return [...points.map((p) => [p.a ?? p.at, p.b ?? p.at] as const), ...gaps.map((gap) => [gap, gap] as const)];
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
      return node.name === 'R' ? ALL : undefined;
    case 'set':
    case 'list':
      return several(node, line);
    case 'tuple':
      return interval(node, line);
    case 'setop': {
      const [left, right] = [realsOf(node.left, line), realsOf(node.right, line)];
      if (!left || !right) return undefined;
      const has = {
        cup: (p: Point) => left.has(p) || right.has(p),
        cap: (p: Point) => left.has(p) && right.has(p),
        setminus: (p: Point) => left.has(p) && !right.has(p),
      }[node.op];
      return { points: [...left.points, ...right.points], has };
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
  const sets = node.items.map((item) => realsOf(item, line)).filter((set) => set !== undefined);
  if (sets.length < node.items.length) return undefined;
  const conditions = node.items.filter((item) => item.k === 'rel' && !item.ops.includes('in')).length;
  // "x ≥ 1, 5" is no set: a condition and a value.
  if (conditions > 0 && node.items.some((item) => item.k !== 'rel')) return undefined;
  const points = sets.flatMap((set) => set.points);
  const join = node.k === 'list' ? node.join : 'or';
  if (conditions > 0 && join !== 'or') {
    // "x > 1 and x < 3" is both at once; "x < 1, x > 3" can only be either.
    const both: RealSet = { points, has: (p) => sets.every((set) => set.has(p)) };
    if (sameReals(both, NONE, line) !== true) return both;
    if (join === 'and') return undefined;
  }
  return { points, has: (p) => sets.some((set) => set.has(p)) };
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

/** The letter that stands for the unknown number, also where that is written as f(x). */
const UNKNOWN = '\\unknown';
const withUnknown = (item: Node): Node => (item.k === 'apply' ? { k: 'sym', name: UNKNOWN } : item);

/** The numbers that meet a chain of comparisons in one unknown. */
function condition(chain: Of<'rel'>, line: Line): RealSet | undefined {
  const node = { ...chain, items: chain.items.map(withUnknown) };
  const [name, ...others] = letters(node);
  if (name === undefined || others.length > 0) return undefined;
  const links = node.ops.map((op, k) => link(node.items[k]!, op, node.items[k + 1]!, name, line));
  const sets = links.filter((set) => set !== undefined);
  if (sets.length < links.length) return undefined;
  return { points: sets.flatMap((set) => set.points), has: (p) => sets.every((set) => set.has(p)) };
}

function link(left: Node, op: Relop, right: Node, name: string, line: Line): RealSet | undefined {
  const test = HOLDS[op];
  const cases = opened({ k: 'rel', items: [left, right], ops: ['='] }, name);
  const changes = cases.map((equation) => zerosAndPoles(equation, name, line)).filter((own) => own !== undefined);
  if (!test || changes.length === 0 || changes.length < cases.length) return undefined;
  const [zeros, poles] = [changes.flatMap((own) => own.zeros), changes.flatMap((own) => own.poles)];
  const has = (p: Point): boolean => {
    if (poles.some((pole) => order(p, pole, line) === 0)) return false;
    if (zeros.includes(p) && changes.length === 1) return test(0);
    const [x, y] = [left, right].map((side) => pointAt(replaceSymbol(side, name, p.node), line.c));
    if (!x || !y) throw new Untold();
    return test(order(x, y, line));
  };
  return { points: [...zeros, ...poles].filter(({ at }) => Number.isFinite(at)), has };
}

const MAX_CASES = 16;

/** An equation in each way in which its absolute values can open, none where these are too many; a zero of one may be none of it. */
function opened(equation: Of<'rel'>, name: string): readonly Of<'rel'>[] {
  let cases: readonly Of<'rel'>[] = [equation];
  for (;;) {
    const size = find(cases[0]!, (n) => n.k === 'call' && n.name === 'abs' && letters(n).has(name));
    const inner = size?.k === 'call' ? size.args[0] : undefined;
    if (!size || !inner) return cases;
    if (cases.length === MAX_CASES) return [];
    cases = cases.flatMap((one) => [inner, neg(inner)].map((by) => replaceNode(one, size, by) as Of<'rel'>));
  }
}

interface Changes {
  readonly zeros: readonly Point[];
  readonly poles: readonly Point[];
}

function zerosAndPoles({ items }: Of<'rel'>, name: string, { c }: Line): Changes | undefined {
  const [left, right] = items as [Node, Node];
  const all = (nodes: readonly Node[]): Point[] =>
    nodes.map((node) => pointAt(node, c)).filter((point) => point !== undefined);
  const zero = solved(left, right) ?? solved(right, left);
  if (zero) return { zeros: all([zero]), poles: [] };
  const fraction = fractionIn(add([left, neg(right)]), name, c);
  const zeros = fraction && realRoots(fraction.top, c);
  const poles = zeros && realRoots(fraction.bottom, c);
  return poles && { zeros: all(zeros), poles: all(poles) };
}

/** Of `x = √2` and `-x = √2` the x: any constant may be its bound. */
function solved(side: Node, other: Node): Node | undefined {
  if (letters(other).size > 0) return undefined;
  if (side.k === 'sym') return other;
  return side.k === 'neg' && side.arg.k === 'sym' ? neg(other) : undefined;
}

function find(node: Node, test: (n: Node) => boolean): Node | undefined {
  if (test(node)) return node;
  for (const child of children(node)) {
    const found = find(child, test);
    if (found) return found;
  }
  return undefined;
}

const replaceNode = (node: Node, what: Node, by: Node): Node =>
  node === what ? by : mapChildren(node, (child) => replaceNode(child, what, by));
