// The set of numbers that an answer stands for: intervals, finite sets, unions, complements, and inequalities in one unknown,
// solved: plain bounds, absolute values, polynomials and fractions of them whose zeros can be written down. Leaves all
// others undecided.

import { add, children, mapChildren, neg, type Node, type Of, type Relop } from '../base/ast.ts';
import {
  ALL,
  between,
  type Break,
  breakAt,
  combine,
  flip,
  half,
  NONE,
  point,
  type Region,
  type SamePoint,
} from './number-sets.ts';
import { type Comparison, letters } from '../value/comparison.ts';
import { type Fraction, fractionIn, type Polynomial, realRoots, polynomialAt } from '../value/polynomial.ts';
import * as Q from '../base/rational.ts';

/** The solutions of a chain of comparisons in one unknown. */
export function solve(node: Of<'rel'>, c: Comparison, same: SamePoint): Region | undefined {
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
  if (right.k === 'call' && right.name === 'abs' && flipped && !inner && breakAt(left, c))
    return solveOne(right, flipped, left, c, same);
  return general(left, op, right, c, same);
}

const MAX_CASES = 4;

/** Any polynomials, fractions of them and absolute values in one letter: where left minus right has which sign. */
function general(left: Node, op: Relop, right: Node, c: Comparison, same: SamePoint): Solved | undefined {
  const [name, ...others] = letters(right, letters(left));
  if (name === undefined || others.length > 0) return undefined;
  const region = signed(add([left, neg(right)]), op, name, c, same, MAX_CASES);
  return region && { unknown: name, region };
}

function signed(
  difference: Node,
  op: Relop,
  name: string,
  c: Comparison,
  same: SamePoint,
  cases: number,
): Region | undefined {
  const bars = find(difference, (n) => n.k === 'call' && n.name === 'abs' && letters(n).has(name));
  const inner = bars?.k === 'call' ? bars.args[0] : undefined;
  if (!bars || !inner) {
    const fraction = fractionIn(difference, name, c);
    return fraction && signRegion(fraction, op, c, same);
  }
  if (cases === 0) return undefined;
  const when = (sign: Relop, by: Node): Region | undefined => {
    const here = signed(inner, sign, name, c, same, cases - 1);
    const there = here && signed(replaceNode(difference, bars, by), op, name, c, same, cases - 1);
    return here && there && combine(here, there, same, (x, y) => x && y);
  };
  const above = when('>=', inner);
  const below = above && when('<', neg(inner));
  return above && below && combine(above, below, same, (x, y) => x || y);
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

/** The numbers at which a fraction of polynomials stands to zero as `op` says; a zero of the denominator never belongs. */
function signRegion({ top, bottom }: Fraction, op: Relop, c: Comparison, same: SamePoint): Region | undefined {
  const zeros = realRoots(top, c);
  const poles = realRoots(bottom, c);
  if (!zeros || !poles) return undefined;
  const marked = [...zeros.map((node) => ({ node, pole: false })), ...poles.map((node) => ({ node, pole: true }))];
  const found: (Break & { pole: boolean })[] = [];
  for (const { node, pole } of marked) {
    const at = breakAt(node, c);
    if (!at) return undefined;
    const twin = found.find((other) => Math.abs(other.at - at.at) < 1e-6 * Math.max(1, Math.abs(at.at)));
    if (!twin) found.push({ ...at, pole });
    else if (same(twin.node, node) === 'exact' || same(twin.node, node) === 'form') twin.pole ||= pole;
    else return undefined;
  }
  found.sort((a, b) => a.at - b.at);
  const holds = (sign: number): boolean =>
    op === '!='
      ? sign !== 0
      : ((op === '<' || op === '<=') && sign < 0) ||
        ((op === '>' || op === '>=') && sign > 0) ||
        ((op === '<=' || op === '>=' || op === '=') && sign === 0);
  const inside: boolean[] = [];
  for (let k = 0; k <= found.length; k++) {
    const [low, high] = [found[k - 1]?.at, found[k]?.at];
    const spot =
      low === undefined
        ? (high ?? 1) - 1 - Math.abs(high ?? 0) / 2
        : high === undefined
          ? low + 1 + Math.abs(low) / 2
          : (low + high) / 2;
    const x = fromDouble(spot);
    inside.push(holds(Math.sign(signAt(top, x) * signAt(bottom, x))));
    const point = found[k];
    if (point) inside.push(!point.pole && holds(0));
  }
  return { breaks: found.map(({ node, at }) => ({ node, at })), inside };
}

const fromDouble = (v: number): Q.Rational => Q.rational(BigInt(Math.round(v * 2 ** 30)), 2n ** 30n);
const signAt = (p: Polynomial, x: Q.Rational): number =>
  Number(polynomialAt(p, x).num > 0n) - Number(polynomialAt(p, x).num < 0n);

/** A letter, or a name like f(x): something that stands for one unknown number. */
function unknownName(node: Node): string | undefined {
  if (node.k === 'sym') return node.name;
  if (node.k === 'apply') return `${node.name}()`;
  return undefined;
}

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
