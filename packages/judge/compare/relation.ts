// Equations and inequalities: the value that an equation assigns, the link of a chain that is the answer, and whether two
// relations say the same (sides swapped, both sides scaled, solved for another letter).

import { add, children, neg, type Node, type Of, type Relop, some } from '../base/ast.ts';
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
  if (node.k === 'const') return node.name !== 'inf';
  if (/^(?:sym|apply|text)$/.test(node.k)) return true;
  if (node.k === 'call' && /^(?:index|prime|abs|arg|at)$/.test(node.name)) return true;
  // P(A ∩ B), P(X ≥ 3)
  if (node.k === 'mul' && node.items[0]?.k === 'sym' && node.items[0].name === 'P') return true;
  if (node.k === 'pow' && node.exp.k === 'num') return !inSum && isName(node.base);
  const isSum = inSum || node.k === 'add' || node.k === 'neg';
  return PARTS.has(node.k) && children(node).every((child) => isName(child, isSum));
}

const PARTS: ReadonlySet<string> = new Set('add neg mul div pow call tuple ratio setop'.split(' '));

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
    const outcome = compareAssignments(gold, answer, compare);
    if (outcome !== 'different') return outcome;
  }
  if (gold.ops.join() !== answer.ops.join()) return 'different';
  const outcome = inOrder(gold.items, answer.items, compare);
  return outcome === 'different' && gold.items.length === 2 ? proportional(gold, answer, c) : outcome;
}

function compareAssignments(gold: Of<'rel'>, answer: Of<'rel'>, compare: Compare): Sameness {
  const [g, a] = [gold.items[0]!, answer.items[0]!];
  const [x, y] = [lastLink(gold), lastLink(answer)];
  if (isSame(compare(g, a))) return compare(x, y);
  const [from, to] = [argumentOf(a), argumentOf(g)];
  const isGraph = (node: Node): boolean => node.k === 'sym' && node.name === 'y';
  // y = 2x and f(x) = 2x are one function.
  if ((from && isGraph(g)) || (to && isGraph(a))) return compare(x, y);
  // f(x) = x² and f(t) = t² are one function.
  if (from && to && (g as Of<'apply'>).name === (a as Of<'apply'>).name)
    return compare(x, replaceSymbol(y, from.name, to));
  return 'different';
}

/** The x of f(x); the X of E(X) is no letter that may be another. */
function argumentOf(node: Node): Of<'sym'> | undefined {
  const [argument, more] = node.k === 'apply' ? node.args : [];
  return argument?.k === 'sym' && !more && !/^[A-Z]$/.test(argument.name) ? argument : undefined;
}

const isApproximate = (node: Of<'rel'>): boolean => {
  const last = node.items.at(-1);
  return node.ops.includes('~') && !node.ops.includes('=') && !(last?.k === 'num' && last.decimal);
};

/** Left minus right of one is a constant multiple of the other's, and a positive one where the order of the sides counts. */
function proportional(gold: Of<'rel'>, answer: Of<'rel'>, c: Comparison): Sameness {
  const [op] = gold.ops as [Relop];
  // Scaling would lose a unit.
  if (!/[=<]$/.test(op) || [gold, answer].some((rel) => some(rel, (n) => n.k === 'unit'))) return 'different';
  const [g, a] = [gold, answer].map(({ items: [left, right] }) => add([left!, neg(right!)])) as [Node, Node];
  const names = [...letters(a, letters(g))];
  const elsewhere = atOtherPoint(c);
  const [g1, g2, a1, a2] = [residue(g, c), residue(g, elsewhere), residue(a, c), residue(a, elsewhere)];
  if (!g1 || !g2 || !a1 || !a2) return 'unknown';
  const isZero = [g1, g2, a1, a2].some((r) => r.re === 0n && r.im === 0n);
  if (letters(g).size === 0 || isZero || !isSameResidue(times(g1, a2), times(g2, a1))) return 'different';
  if (op === '=' || op === '!=') return 'form';
  for (const shift of [3n, 17n, 41n]) {
    const at = new Map(names.map((name, k) => [name, Q.rational(shift * BigInt(k * 7 + 5), 29n)]));
    const [x, y] = [g, a].map((node) => signAt(node, { letters: at, c, realOnly: true }));
    if (x && y) return x === y ? 'form' : 'different';
  }
  return 'unknown';
}
