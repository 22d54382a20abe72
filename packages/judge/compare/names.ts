// Names: where one side has them and the other has not, they are left out. What is left are the values: of `x = 5` the 5, of
// `x ∈ S` the S, of `x = 1, y = 2` the point (1, 2), of `x = 1, x = 2` both in any order.

import { type Node, type Of, some } from '../base/ast.ts';
import { letters } from '../value/comparison.ts';
import { isAssignment, isEquation, isName, lastLink, valuesOfEquation } from './relation.ts';

/** The values of a side with names, in each way to read it; undefined for a side without, or beside another with names. */
export function valuesOf(named: Node, other: Node): readonly Node[] | undefined {
  if (named.k === 'list') return hasNames(other) ? undefined : valuesOfList(named, other);
  if (named.k !== 'rel' || (other.k === 'rel' && isMembership(other) === isMembership(named))) return undefined;
  if (isMembership(named)) {
    const [name, whole] = named.items as [Node, Node];
    // x ∈ {1, 2} says nothing of y = 1, 2.
    const others = (other.k === 'list' ? other.items : [other]).filter(isAssignment).map((item) => item.items[0]!);
    if (name.k === 'sym' && others.some((one) => baseName(one) !== spelt(name))) return [];
    return isName(name) && !some(name, (n) => n.k === 'text') ? [whole] : undefined;
  }
  if (!isEquation(named)) return undefined;
  // B = D does not choose D.
  return other.k === 'sym' && named.items.every((n) => n.k === 'sym') ? [] : valuesOfEquation(named);
}

/** `x ∈ S` */
export const isMembership = (node: Of<'rel'>): boolean => node.ops.length === 1 && node.ops[0] === 'in';
const hasNames = (node: Node): boolean => node.k === 'list' && node.items.some(isAssignment);

/** The orders in which names are left out: that of the alphabet, and these. */
const USUAL = new Set(['rho theta phi', 'rho phi z', 'n k', 'm b', 'm c']);
const isUsual = (names: readonly string[]): boolean =>
  USUAL.has(names.join(' ')) || names.every((name, k) => k === 0 || names[k - 1]! < name);

function valuesOfList(list: Of<'list'>, other: Node): readonly Node[] | undefined {
  const named = list.items.filter(isAssignment);
  if (named[0] !== list.items[0] || list.items.some((item) => item.k === 'rel' && !isAssignment(item)))
    return undefined;
  const values = list.items.map((item) => (isAssignment(item) ? lastLink(item) : item));
  const names = named.map(({ items: [name] }) => name!);
  const isDistinct = (all: readonly string[]): boolean => new Set(all).size === list.items.length;
  const point: Of<'tuple'> = { k: 'tuple', items: values, open: '(', close: ')' };
  if (isDistinct(names.map(baseName))) {
    // (y, x) = (1, 2) is not (1, 2), and "a = 1 or b = 2" is not 1 and 2.
    const plain = names.flatMap((name) => (name.k === 'sym' ? [name.name] : []));
    const isOther = list.join === 'or' || !isUsual(plain);
    return plain.length === names.length && isOther ? [] : [point];
  }
  // x₁ = 1, x₂ = 2 are two values of x and the point (1, 2), x₂ = 2, x₁ = 1 as well; x = 1, x = 2 is none.
  const isOrdered = other.k === 'tuple' || other.k === 'matrix';
  if (!isOrdered && list.join !== '()') return [{ ...list, items: values }];
  if (isDistinct(names.map(spelt))) return [{ ...point, items: byNumber(names, values) }];
  return values.some((value) => value.k === 'tuple') ? [{ ...list, items: values }] : [];
}

/** The values in the order of the numbers behind one name. */
function byNumber(names: readonly Node[], values: readonly Node[]): readonly Node[] {
  if (new Set(names.map(baseName)).size > 1) return values;
  const numbers = new Map(values.map((value, k) => [value, numberBehind(names[k]!)]));
  return values.toSorted((x, y) => numbers.get(x)! - numbers.get(y)!);
}

const numberBehind = (name: Node): number =>
  name.k === 'call' && name.args[1]?.k === 'num' ? Number(name.args[1].value.num) : 0;

/** x₁ and x₂ are two values of x. */
function baseName(node: Node): string {
  return node.k === 'call' && node.name === 'index' && node.args[0] ? baseName(node.args[0]) : spelt(node);
}

const spelt = (node: Node): string =>
  JSON.stringify(node, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v));

const isCondition = (node: Node): node is Of<'rel'> => node.k === 'rel' && !isEquation(node);

/** Of what conditions speak: `x > 0` of x, `x > 0, y < 0` of x and of y, `{x | x > 0}` of an ELEMENT. */
export function subjectsOf(node: Node): readonly string[] {
  const conditions = node.k === 'list' ? node.items : [node];
  if (conditions.length === 0 || !conditions.every(isCondition)) return [];
  return [...new Set(conditions.map(subjectOf))].toSorted();
}

/** A membership speaks of its left side; any other condition of all its letters. */
function subjectOf(node: Of<'rel'>): string {
  const [first] = node.items;
  const names = letters(node.ops.length === 1 && /^(?:not)?in$/.test(node.ops[0]!) ? first! : node);
  return [...names].toSorted().join(' ') || spelt(node.items.find((item) => item.k === 'apply') ?? first!);
}
