// Sets of real numbers: intervals, finite sets, unions, complements and solved inequalities, all as one form:
// the break points in order, and whether each point and each gap between them belongs. Two sets are equal if
// their forms are.

import { add, children, int, mul, neg, type Node, type Of, type Relop } from './ast.ts';
import { type Comparison, letters } from './equal.ts';
import { exact, replaceSymbol } from './exact.ts';
import { double, infinity, type Word } from './leaf.ts';
import * as Q from './rational.ts';

interface Break {
  readonly node: Node;
  readonly at: number;
}

export interface Region {
  readonly breaks: readonly Break[];
  /** gap, point, gap, point, …, gap: twice as many as breaks, plus one. */
  readonly inside: readonly boolean[];
}

export type SamePoint = (a: Node, b: Node) => Word;

const ALL: Region = { breaks: [], inside: [true] };
const NONE: Region = { breaks: [], inside: [false] };

/** The set that a node stands for, or undefined when it is none that can be computed with. */
export function regionOf(node: Node, c: Comparison, same: SamePoint): Region | undefined {
  switch (node.k) {
    case 'named':
      return node.name === 'R' ? ALL : undefined;
    case 'set':
    case 'list': {
      let union: Region | undefined = NONE;
      const join = node.k === 'list' ? node.join : 'or';
      const parts = node.items.map((item) => (isRegionLike(item) ? regionOf(item, c, same) : point(item, c)));
      if (parts.some((part) => part === undefined)) return undefined;
      const conditions = node.items.every((item) => item.k === 'rel');
      if (conditions && join !== 'or' && node.items.length > 1) {
        // "x > 1 and x < 3" is both at once; "x < 1, x > 3" can only be either.
        const both = (parts as Region[]).reduce<Region | undefined>(
          (a, b) => a && combine(a, b, same, (x, y) => x && y),
          ALL,
        );
        if (both?.inside.some((inside, k) => inside && k % 2 === 0)) return both;
      }
      for (const part of parts) union = union && part && combine(union, part, same, (x, y) => x || y);
      return union;
    }
    case 'tuple':
      return interval(node, c);
    case 'setop': {
      const left = regionOf(node.left, c, same) ?? point(node.left, c);
      const right = left && (regionOf(node.right, c, same) ?? point(node.right, c));
      if (!left || !right) return undefined;
      const op = {
        cup: (x: boolean, y: boolean) => x || y,
        cap: (x: boolean, y: boolean) => x && y,
        setminus: (x: boolean, y: boolean) => x && !y,
      };
      return combine(left, right, same, op[node.op]);
    }
    case 'add': {
      // R − {1}
      const [left, right] = node.items;
      if (node.items.length === 2 && left && right?.k === 'neg' && isRegionLike(left) && isRegionLike(right.arg))
        return regionOf({ k: 'setop', op: 'setminus', left, right: right.arg }, c, same);
      return undefined;
    }
    case 'rel':
      return solve(node, c, same);
    default:
      return undefined;
  }
}

/** Shapes that can only mean a set of numbers. `(a, b)` can be a point as well. */
export function isRegionLike(node: Node): boolean {
  if (node.k === 'tuple') return node.items.length === 2;
  return node.k === 'setop' || node.k === 'named' || node.k === 'set' || node.k === 'rel';
}

export function sameRegion(a: Region, b: Region, same: SamePoint): boolean | undefined {
  const different = combine(a, b, same, (x, y) => x !== y);
  return different && different.inside.every((inside) => !inside);
}

function breakAt(node: Node, c: Comparison): Break | undefined {
  const sign = infinity(node);
  if (sign !== 0) return { node, at: sign * Infinity };
  const at = double(node, c);
  return at === undefined ? undefined : { node, at };
}

function point(node: Node, c: Comparison): Region | undefined {
  const at = breakAt(node, c);
  return at && Number.isFinite(at.at) ? { breaks: [at], inside: [false, true, false] } : undefined;
}

function interval(node: Of<'tuple'>, c: Comparison): Region | undefined {
  const [from, to] = node.items;
  if (node.items.length !== 2 || !from || !to) return undefined;
  const low = breakAt(from, c);
  const high = breakAt(to, c);
  if (!low || !high || !(low.at < high.at)) return undefined;
  return between(low, high, node.open === '[', node.close === ']');
}

function between(low: Break, high: Break, lowIn: boolean, highIn: boolean): Region {
  const breaks = [low, high].filter((b) => Number.isFinite(b.at));
  if (breaks.length === 0) return ALL;
  if (breaks.length === 2) return { breaks, inside: [false, lowIn, true, highIn, false] };
  return Number.isFinite(low.at) ? { breaks, inside: [false, lowIn, true] } : { breaks, inside: [true, highIn, false] };
}

/** Both sets over the break points of either. Undefined when two break points cannot be told apart. */
function combine(a: Region, b: Region, same: SamePoint, op: (x: boolean, y: boolean) => boolean): Region | undefined {
  const breaks: Break[] = [];
  const inside: boolean[] = [op(a.inside[0] ?? false, b.inside[0] ?? false)];
  let [i, j] = [0, 0];
  while (i < a.breaks.length || j < b.breaks.length) {
    const x = a.breaks[i];
    const y = b.breaks[j];
    let order: number;
    if (!x || !y) order = x ? -1 : 1;
    else {
      const gap = Math.abs(x.at - y.at);
      // Clearly apart by their doubles, or to be settled exactly.
      const word = gap > 1e-3 * Math.max(1, Math.abs(x.at)) ? 'different' : same(x.node, y.node);
      if (word === 'unknown') return undefined;
      order = word === 'different' ? x.at - y.at : 0;
      if (word === 'different' && order === 0) return undefined;
    }
    const gapA = a.inside[2 * i] ?? false;
    const gapB = b.inside[2 * j] ?? false;
    const pointA = order <= 0 ? (a.inside[2 * i + 1] ?? false) : gapA;
    const pointB = order >= 0 ? (b.inside[2 * j + 1] ?? false) : gapB;
    const taken = order <= 0 ? x : y;
    if (taken) breaks.push(taken);
    if (order <= 0) i++;
    if (order >= 0) j++;
    inside.push(op(pointA, pointB), op(a.inside[2 * i] ?? false, b.inside[2 * j] ?? false));
  }
  return { breaks, inside };
}

const FLIP: Readonly<Partial<Record<Relop, Relop>>> = {
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  '=': '=',
  '!=': '!=',
};
export const flip = (op: Relop): Relop | undefined => FLIP[op];

/** The solutions of a chain of comparisons in one unknown. */
function solve(node: Of<'rel'>, c: Comparison, same: SamePoint): Region | undefined {
  if (node.ops.length === 1 && node.ops[0] === 'in' && node.items[1]) return regionOf(node.items[1], c, same);
  let all: Region | undefined = ALL;
  let unknown: string | undefined;
  for (let k = 0; k < node.ops.length; k++) {
    const [left, op, right] = [node.items[k], node.ops[k], node.items[k + 1]];
    if (!left || !op || !right || !flip(op)) return undefined;
    const solved = solveOne(left, op, right, c, same);
    if (!solved || (unknown !== undefined && unknown !== solved.unknown)) return undefined;
    unknown = solved.unknown;
    all = all && combine(all, solved.region, same, (x, y) => x && y);
  }
  return all;
}

interface Solved {
  readonly unknown: string;
  readonly region: Region;
}

function solveOne(left: Node, op: Relop, right: Node, c: Comparison, same: SamePoint): Solved | undefined {
  const name = unknownName(left);
  const at = breakAt(right, c);
  if (name !== undefined && at) return { unknown: name, region: half(at, op) };
  const other = unknownName(right);
  const flipped = flip(op);
  if (other !== undefined && flipped && breakAt(left, c)) return solveOne(right, flipped, left, c, same);
  const inner = left.k === 'call' && left.name === 'abs' ? left.args[0] : undefined;
  const innerName = inner && unknownName(inner);
  if (innerName !== undefined && at) {
    const positive = half(at, op);
    const negative = half({ node: neg(at.node), at: -at.at }, flipped ?? op);
    const narrow = op === '<' || op === '<=' || op === '!=';
    const region = combine(positive, negative, same, (x, y) => (narrow ? x && y : x || y));
    return at.at > 0 && region ? { unknown: innerName, region } : undefined;
  }
  if (right.k === 'call' && right.name === 'abs' && flipped)
    return inner ? undefined : solveOne(right, flipped, left, c, same);
  return linear(left, op, right, c);
}

/** αx + β compared with zero, with exact α and β. */
function linear(left: Node, op: Relop, right: Node, c: Comparison): Solved | undefined {
  const names = [...letters(right, letters(left))];
  const [name] = names;
  const difference = add([left, neg(right)]);
  if (names.length !== 1 || name === undefined || !isPolynomial(difference)) return undefined;
  const at = (x: number): Q.Rational | undefined => exact(replaceSymbol(difference, name, int(x)), c);
  const [zero, one, two, five] = [at(0), at(1), at(2), at(5)];
  if (!zero || !one || !two || !five) return undefined;
  const slope = Q.sub(one, zero);
  if (Q.isZero(slope) || !Q.equal(Q.sub(two, one), slope) || !Q.equal(Q.sub(five, two), Q.mul(slope, Q.rational(3n))))
    return undefined;
  const root = Q.div(Q.neg(zero), slope);
  const direction = slope.num > 0n ? op : flip(op);
  const node: Node = { k: 'num', value: root, decimal: false };
  const found = breakAt(node, c);
  return direction && found ? { unknown: name, region: half(found, direction) } : undefined;
}

const isPolynomial = (node: Node): boolean =>
  ['num', 'sym', 'add', 'mul', 'neg', 'div'].includes(node.k) &&
  (node.k !== 'div' || letters(node.bottom).size === 0) &&
  children(node).every(isPolynomial);

function half(at: Break, op: Relop): Region {
  const low: Break = { node: mul([int(-1), { k: 'const', name: 'inf' }]), at: -Infinity };
  const high: Break = { node: { k: 'const', name: 'inf' }, at: Infinity };
  if (!Number.isFinite(at.at)) {
    const below = at.at > 0 ? op === '<' || op === '<=' || op === '!=' : op === '>' || op === '>=' || op === '!=';
    return below ? ALL : NONE;
  }
  if (op === '<' || op === '<=') return between(low, at, false, op === '<=');
  if (op === '>' || op === '>=') return between(at, high, op === '>=', false);
  const inside = op === '=';
  return { breaks: [at], inside: [!inside, inside, !inside] };
}

/** A letter, or a name like f(x), a_n, |AB|: something that stands for one unknown number. */
export function unknownName(node: Node): string | undefined {
  if (node.k === 'sym') return node.name;
  if (node.k === 'apply') return `${node.name}()`;
  if (node.k === 'call' && node.name === 'index' && node.args[0]?.k === 'sym')
    return JSON.stringify(node.args, bigintText);
  return undefined;
}

const bigintText = (_: string, v: unknown): unknown => (typeof v === 'bigint' ? v.toString() : v);
