// The set of numbers that an answer stands for: intervals, finite sets, unions, complements and solved inequalities.

import type { Node, Of } from '../ast.ts';
import type { Comparison } from '../value/comparison.ts';
import { solve } from './inequality.ts';
import { ALL, between, breakAt, combine, NONE, point, type Region, type SamePoint } from './number-sets.ts';

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
      // "x ≥ 1, 5" is no set: a condition and a value.
      const conditioned = node.items.some((item) => item.k === 'rel' && !item.ops.includes('in'));
      if (conditioned && !node.items.every(isRegionLike)) return undefined;
      if (parts.some((part) => part === undefined)) return undefined;
      const conditions = node.items.every((item) => item.k === 'rel');
      if (conditions && join !== 'or' && node.items.length > 1) {
        // "x > 1 and x < 3" is both at once; "x < 1, x > 3" can only be either.
        const both = (parts as Region[]).reduce<Region | undefined>(
          (a, b) => a && combine(a, b, same, (x, y) => x && y),
          ALL,
        );
        if (both?.inside.some((inside, k) => inside && k % 2 === 0)) return both;
        if (join === 'and') return undefined;
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
      if (node.ops.length === 1 && node.ops[0] === 'in' && node.items[1]) return regionOf(node.items[1], c, same);
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

function interval(node: Of<'tuple'>, c: Comparison): Region | undefined {
  const [from, to] = node.items;
  if (node.items.length !== 2 || !from || !to) return undefined;
  const low = breakAt(from, c);
  const high = breakAt(to, c);
  if (!low || !high || !(low.at < high.at)) return undefined;
  return between(low, high, node.open === '[', node.close === ']');
}
