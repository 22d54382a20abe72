// Sets of real numbers as one form: the break points in order, and whether each point and each gap between them
// belongs. Union, intersection, difference and equality are walks over the break points of both.

import { int, mul, type Node, type Relop } from '../base/ast.ts';
import { type Comparison, constant } from '../value/comparison.ts';
import { infinity, type Word } from './leaf.ts';

export interface Break {
  readonly node: Node;
  readonly at: number;
}

export interface Region {
  readonly breaks: readonly Break[];
  /** gap, point, gap, point, …, gap: twice as many as breaks, plus one. */
  readonly inside: readonly boolean[];
}

export type SamePoint = (a: Node, b: Node) => Word;

export const ALL: Region = { breaks: [], inside: [true] };
export const NONE: Region = { breaks: [], inside: [false] };

export function sameRegion(a: Region, b: Region, same: SamePoint): boolean | undefined {
  const different = combine(a, b, same, (x, y) => x !== y);
  return different && different.inside.every((inside) => !inside);
}

export function breakAt(node: Node, c: Comparison): Break | undefined {
  const sign = infinity(node);
  if (sign !== 0) return { node, at: sign * Infinity };
  const at = constant(node, c);
  return at === undefined ? undefined : { node, at };
}

export function point(node: Node, c: Comparison): Region | undefined {
  const at = breakAt(node, c);
  return at && Number.isFinite(at.at) ? { breaks: [at], inside: [false, true, false] } : undefined;
}

export function between(low: Break, high: Break, lowIn: boolean, highIn: boolean): Region {
  const breaks = [low, high].filter((b) => Number.isFinite(b.at));
  if (breaks.length === 0) return ALL;
  if (breaks.length === 2) return { breaks, inside: [false, lowIn, true, highIn, false] };
  return Number.isFinite(low.at) ? { breaks, inside: [false, lowIn, true] } : { breaks, inside: [true, highIn, false] };
}

/** Both sets over the break points of either. Undefined when two break points cannot be told apart. */
export function combine(
  a: Region,
  b: Region,
  same: SamePoint,
  op: (x: boolean, y: boolean) => boolean,
): Region | undefined {
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

export function half(at: Break, op: Relop): Region {
  const low: Break = { node: mul([int(-1), { k: 'const', name: 'inf' }]), at: -Infinity };
  const high: Break = { node: { k: 'const', name: 'inf' }, at: Infinity };
  if (op === '<' || op === '<=') return between(low, at, false, op === '<=');
  if (op === '>' || op === '>=') return between(at, high, op === '>=', false);
  const inside = op === '=';
  return { breaks: [at], inside: [!inside, inside, !inside] };
}
