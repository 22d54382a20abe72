// Equations and inequalities: the value that an equation assigns, the link of a chain that is the answer, and whether two
// relations say the same (sides swapped, both sides scaled, solved for another letter). Ratios are equal part by part, or if
// all parts divided by the first one are.

import { add, neg, type Node, type Of, type Relop, some } from '../base/ast.ts';
import { type Compare, inOrder, isSame, type Sameness } from './sameness.ts';
import { atOtherPoint, type Comparison, letters } from '../value/comparison.ts';
import { replaceSymbol } from '../value/exact.ts';
import { isSame as isSameResidue, times } from '../value/field.ts';
import { constant, signAt } from '../value/numeric.ts';
import { residue } from '../value/residues.ts';
import * as Q from '../base/rational.ts';

/** A chain of = and ≈ only. */
export const isEquation = (node: Node): node is Of<'rel'> =>
  node.k === 'rel' && node.ops.every((op) => op === '=' || op === '~' || op === '==mod');

/** Only letters, functions of anything, and operations on them: a quantity's name, not a formula with numbers. */
export function isName(node: Node, inSum = false): boolean {
  if (node.k === 'sym' || node.k === 'apply' || node.k === 'text') return true;
  if (node.k === 'const') return node.name !== 'inf';
  if (node.k === 'call')
    return ['index', 'prime', 'abs', 'arg', 'at'].includes(node.name) || node.args.every((n) => isName(n));
  if (node.k === 'add') return node.items.every((n) => isName(n, true));
  // P(A ∩ B), P(X ≥ 3)
  const [head] = node.k === 'mul' ? node.items : [];
  const event = (n: Node): boolean => head?.k === 'sym' && head.name === 'P' && (n.k === 'setop' || n.k === 'rel');
  if (node.k === 'tuple' || node.k === 'ratio' || node.k === 'mul')
    return node.items.every((n) => event(n) || isName(n, inSum));
  if (node.k === 'setop') return isName(node.left) && isName(node.right);
  if (node.k === 'neg') return isName(node.arg, true);
  if (node.k === 'div') return isName(node.top) && isName(node.bottom);
  if (node.k === 'pow') return isName(node.base, inSum) && (isName(node.exp) || (!inSum && node.exp.k === 'num'));
  return false;
}

/** The first item is a name: `x = …`, `f(2) = …`, `(p, q) = …`. */
export function isAssignment(node: Node): node is Of<'rel'> {
  const first = node.k === 'rel' ? node.items[0] : undefined;
  return first !== undefined && isEquation(node) && isName(first);
}

/** π and e² are values; e alone may be the name of an eccentricity. */
const isValue = (node: Node): boolean =>
  !isName(node) ||
  (node.k === 'const' && node.name === 'pi') ||
  (node.k === 'pow' && node.base.k === 'const' && letters(node).size === 0);

/** The last link that is reached by equality; what follows ≈ is only its rounding. */
export function lastLink(node: Of<'rel'>): Node {
  const lastEqual = node.ops.lastIndexOf('=');
  const index = lastEqual < 0 ? node.items.length - 1 : lastEqual + 1;
  const last = node.items[index] ?? node;
  const first = node.items[0] ?? node;
  // `5 = x` assigns as well.
  return node.items.length === 2 && last.k === 'sym' && !isName(first) ? first : last;
}

/** The values that an equation gives, where the other side is no equation; of `1/3 ≈ 0.333` either. */
export function valuesOfEquation(node: Of<'rel'>): readonly Node[] {
  const first = node.items[0]!;
  const last = lastLink(node);
  const exact = node.items[node.ops.indexOf('~')];
  if (exact && isValue(exact)) return exact.k === 'num' ? [exact] : [exact, last];
  if (node.items.length > 2 || isName(first) || last === first) return [last];
  const isConstant = node.items.every((item) => letters(item).size === 0) || some(first, (n) => n.k === 'big');
  return isConstant ? [last] : [];
}

/** Behind ≈ stands a rounding of the value before it, and two values alone have to be equal: `1/3 ≈ 0.5` and `6 = 5` say nothing. */
export function holds(node: Of<'rel'>, compare: Compare, c: Comparison): boolean {
  const isClosed = (item: Node, op: Relop): boolean =>
    letters(item).size === 0 &&
    (op === '~' ? isValue(item) : !isName(item)) &&
    !some(item, (n) => /^(?:big|text|apply)$/.test(n.k));
  return node.ops.every((op, k) => {
    const [before, item] = [node.items[k], node.items[k + 1]];
    if (!before || !item || !isClosed(before, op) || !isClosed(item, op) || (op !== '~' && node.ops.length > 1))
      return true;
    return (op === '~' && isRounding(item, before, c)) || compare(before, item) !== 'different';
  });
}

/** Within one unit of its last digit, half of one behind a number that was written out. */
function isRounding(rounded: Node, exact: Node, c: Comparison): boolean {
  if (rounded.k === 'unit' && exact.k === 'unit' && rounded.unit === exact.unit)
    return isRounding(rounded.arg, exact.arg, c);
  const [x, y] = [constant(rounded, c), constant(exact, c)];
  if (x === undefined || y === undefined) return false;
  const places = /\.(\d+)$/.exec(String(Number(x.toPrecision(12))))?.[1]?.length ?? 0;
  const unit = exact.k === 'num' ? 0.5 : 1;
  return Math.abs(x - y) <= Math.min(unit * 10 ** -places, Math.abs(y) / 20);
}

/** Both are equations or inequalities. */
export function compareRelations(gold: Of<'rel'>, answer: Of<'rel'>, c: Comparison, compare: Compare): Sameness {
  // ≈ is = only before a decimal.
  if (isApproximate(gold) !== isApproximate(answer)) return 'different';
  if (isAssignment(gold) && isAssignment(answer)) {
    const word = compareAssignments(gold, answer, compare);
    if (word !== 'different') return word;
  }
  if (gold.items.length !== answer.items.length) return 'different';
  const chain = inLinks(gold, answer, compare);
  if (chain !== 'different') return chain;
  const flipped = answer.ops.map(flip).toReversed();
  if (flipped.every((op) => op !== undefined)) {
    const mirrored: Of<'rel'> = { k: 'rel', items: answer.items.toReversed(), ops: flipped as Relop[] };
    const word = inLinks(gold, mirrored, compare);
    if (word !== 'different') return word;
  }
  return gold.items.length === 2 ? proportional(gold, answer, c) : 'different';
}

function compareAssignments(gold: Of<'rel'>, answer: Of<'rel'>, compare: Compare): Sameness {
  const [g, a] = [gold.items[0], answer.items[0]];
  if (!g || !a) return 'different';
  const [x, y] = [lastLink(gold), lastLink(answer)];
  if (isSame(compare(g, a))) return compare(x, y);
  // y = 2x and f(x) = 2x are one function.
  if ((isGraph(g) && argumentOf(a)) || (isGraph(a) && argumentOf(g))) return compare(x, y);
  // f(x) = x² and f(t) = t² are one function; P(A) and P(B) are two probabilities.
  const [from, to] = [argumentOf(a), argumentOf(g)];
  if (from && to && from.head === to.head && ![from, to].some(({ letter }) => /^[A-Z]$/.test(letter)))
    return compare(x, replaceSymbol(y, from.letter, { k: 'sym', name: to.letter }));
  return 'different';
}

const isApproximate = (node: Of<'rel'>): boolean => {
  const last = node.items.at(-1);
  return node.ops.includes('~') && !node.ops.includes('=') && !(last?.k === 'num' && last.decimal);
};

const isGraph = (node: Node): boolean => node.k === 'sym' && node.name === 'y';

function argumentOf(node: Node): { head: string; letter: string } | undefined {
  if (node.k === 'apply' && node.args.length === 1 && node.args[0]?.k === 'sym')
    return { head: node.name, letter: node.args[0].name };
  if (node.k === 'mul' && node.items.length === 2) {
    const [head, arg] = node.items;
    if (head?.k === 'sym' && arg?.k === 'sym') return { head: head.name, letter: arg.name };
  }
  return undefined;
}

const inLinks = (gold: Of<'rel'>, answer: Of<'rel'>, compare: Compare): Sameness =>
  gold.ops.join() === answer.ops.join() ? inOrder(gold.items, answer.items, compare) : 'different';

const FLIP: Readonly<Partial<Record<Relop, Relop>>> = {
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  '=': '=',
  '!=': '!=',
};
const flip = (op: Relop): Relop | undefined => FLIP[op];

/** Left minus right of one is a constant multiple of the other's. */
function proportional(gold: Of<'rel'>, answer: Of<'rel'>, c: Comparison): Sameness {
  const [op, other] = [gold.ops[0], answer.ops[0]];
  // Scaling would lose a unit.
  if ([gold, answer].some((rel) => some(rel, (n) => n.k === 'unit'))) return 'different';
  if (!op || !other || !flip(op) || (op !== other && op !== flip(other))) return 'different';
  const g = difference(gold);
  const a = difference(answer);
  if (!g || !a || letters(g).size === 0) return 'different';
  return multiples(g, a, op, other, c);
}

function multiples(g: Node, a: Node, op: Relop, other: Relop, c: Comparison): Sameness {
  const elsewhere = atOtherPoint(c);
  const [g1, g2, a1, a2] = [residue(g, c), residue(g, elsewhere), residue(a, c), residue(a, elsewhere)];
  if (!g1 || !g2 || !a1 || !a2) return 'unknown';
  const zero = [g1, g2, a1, a2].some((r) => r.re === 0n && r.im === 0n);
  if (zero || !isSameResidue(times(g1, a2), times(g2, a1))) return 'different';
  if (op === '=' || op === '!=') return 'form';
  const sign = ratioSign(g, a, c);
  if (sign === 0) return 'unknown';
  return sign > 0 === (op === other) ? 'form' : 'different';
}

function difference(node: Of<'rel'>): Node | undefined {
  const [left, right] = node.items;
  return left && right ? add([left, neg(right)]) : undefined;
}

function ratioSign(g: Node, a: Node, c: Comparison): number {
  const names = [...letters(a, letters(g))];
  for (const shift of [3n, 17n, 41n]) {
    const at = new Map(names.map((name, k) => [name, Q.rational(shift * BigInt(k * 7 + 5), 29n)]));
    const [x, y] = [g, a].map((n) => signAt(n, { letters: at, c, realOnly: true }));
    if (x !== undefined && y !== undefined) return x * y;
  }
  return 0;
}
