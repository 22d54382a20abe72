// Names in lists: which assignments stand for an ordered tuple, and which for several values of one name; and conditions
// about several letters (`x > 0, y < 0`).

import { ELEMENT, type Node, type Of } from '../base/ast.ts';
import { isAssignment, lastLink } from './relation.ts';
import { letters } from '../value/comparison.ts';

/** Is `x > 0, y < 0` of several letters? Its conditions are compared one by one; those of one letter are one set of numbers. */
export const isAboutSeveral = (node: Node): node is Of<'list'> =>
  node.k === 'list' && node.items.every(isCondition) && new Set(node.items.map(about)).size > 1;

/** x ∈ S says nothing of y. */
export function isAboutOtherMember(g: Node, a: Node): boolean {
  const [name, other] = [memberOf(g), memberOf(a)];
  return name !== undefined && other !== undefined && name !== other;
}

/** The x of `x ∈ S`. */
function memberOf(node: Node): string | undefined {
  const first = node.k === 'rel' && node.ops.length === 1 && node.ops[0] === 'in' ? node.items[0] : undefined;
  return first?.k === 'sym' && first.name !== ELEMENT ? first.name : undefined;
}

const isCondition = (node: Node): node is Of<'rel'> =>
  node.k === 'rel' && !node.ops.every((op) => op === '=' || op === '~' || op === '==mod');

/** A membership is about its left side; any other condition about all its letters. */
function about(node: Node): string {
  if (node.k !== 'rel') return '';
  const [first] = node.items;
  const member = first && node.ops.length === 1 && /^(in|notin)$/.test(node.ops[0] ?? '') ? letters(first) : undefined;
  const names = member ?? letters(node);
  return (
    [...names].toSorted().join(' ') || JSON.stringify(first, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v))
  );
}

/** Assignments in a list: `x = 1, y = 2` against `1, 2` in that order; `x = 1, x = 2` is the set of both, and no point. */
export function alignNames(g: Node, a: Node): readonly [Node, Node] {
  const [x, y] = [namedItems(g), namedItems(a)];
  if (x && !y && !isNamedTuple(a)) return [valuesOf(x, a), a];
  if (y && !x && !isNamedTuple(g)) return [g, valuesOf(y, g)];
  if (x && isNamedTuple(a)) return [g, expandTuple(a)];
  if (y && isNamedTuple(g)) return [expandTuple(g), a];
  return [g, a];
}

/** The orders in which names are left out: that of the alphabet, and these. */
const USUAL = new Set(['r theta', 'rho theta phi', 'rho phi z', 'n k', 'm b', 'm c']);

const isUsual = (names: readonly string[]): boolean =>
  USUAL.has(names.join(' ')) || names.every((name, k) => k === 0 || (names[k - 1] ?? '') < name);

/**
 * The names of one side say something that the other, without names, does not: (y, x) = (1, 2) is not (1, 2), "a = 1 or
 * b = 2" is not 1 and 2, and B = D does not choose D.
 */
export function isOtherwiseNamed(named: Node, bare: Node): boolean {
  if (bare.k === 'sym')
    return named.k === 'rel' && named.items.every((n) => n.k === 'sym') && named.ops.every((op) => op === '=');
  if (bare.k !== 'tuple' && bare.k !== 'list' && bare.k !== 'set') return false;
  if (bare.k !== 'tuple' && bare.items.some((n) => n.k === 'rel')) return false;
  if (isNamedTuple(named)) {
    const names = namesOf(named.items[0]?.k === 'tuple' ? named.items[0].items : []);
    return names !== undefined && !isUsual(names);
  }
  if (named.k !== 'list' || named.items.length < 2 || !named.items.every(isAssignment)) return false;
  const names = namesOf(named.items.map((item) => (item.k === 'rel' ? (item.items[0] ?? item) : item)));
  if (names === undefined || new Set(names).size < names.length) return false;
  return named.join === 'or' || !isUsual(names);
}

/** Undefined unless all of them are plain letters. */
function namesOf(items: readonly Node[]): string[] | undefined {
  const names = items.map((n) => (n.k === 'sym' ? n.name : undefined)).filter((name) => name !== undefined);
  return names.length === items.length ? names : undefined;
}

/** x₁ = 1, x₂ = 2 is the point (1, 2) as well. */
function valuesOf({ list, values, distinct, numbered }: Named, other: Node): Node {
  if (distinct || (numbered && other.k === 'tuple')) return ordered(values);
  const several = values.length > 1 && values.every((value) => value.k !== 'tuple');
  return several && other.k === 'tuple' ? { k: 'set', items: values, explicit: true } : { ...list, items: values };
}

const ordered = (items: readonly Node[]): Node => ({ k: 'tuple', items, open: '(', close: ')' });

const isNamedTuple = (node: Node): node is Of<'rel'> =>
  isAssignment(node) && node.items[0]?.k === 'tuple' && lastLink(node).k === 'tuple';

/** `(x, y) = (1, 2)` as `x = 1, y = 2`. */
function expandTuple(node: Of<'rel'>): Node {
  const [names, values] = [node.items[0], lastLink(node)];
  if (names?.k !== 'tuple' || values.k !== 'tuple' || names.items.length !== values.items.length) return node;
  return {
    k: 'list',
    join: ',',
    items: names.items.map((name, i) => ({ k: 'rel', items: [name, values.items[i] ?? name], ops: ['='] })),
  };
}

interface Named {
  readonly list: Of<'list'>;
  readonly values: readonly Node[];
  readonly distinct: boolean;
  /** The names differ in their index alone. */
  readonly numbered: boolean;
}

function namedItems(node: Node): Named | undefined {
  if (node.k !== 'list' || !node.items[0]) return undefined;
  // A list of groups: each group of distinct names is a tuple of its own.
  if (node.items.every((item) => item.k === 'list' && item.items.every(isAssignment))) {
    const values = node.items.map((item) => ordered((item as Of<'list'>).items.map((n) => lastLink(n as Of<'rel'>))));
    return { list: node, values, distinct: false, numbered: false };
  }
  if (!isAssignment(node.items[0]) || node.items.some((item) => item.k === 'rel' && !isAssignment(item)))
    return undefined;
  const values = node.items.map((item) => (item.k === 'rel' ? lastLink(item) : item));
  const names = node.items.map((item) => (item.k === 'rel' ? item.items[0] : undefined));
  const text = names.filter((n) => n !== undefined).map((n) => baseName(n));
  const whole = names.filter((n) => n !== undefined).map(spelt);
  const all = (texts: readonly string[]): boolean =>
    texts.length === names.length && new Set(texts).size === texts.length;
  return { list: node, values, distinct: all(text), numbered: all(whole) };
}

/** x₁ and x₂ are two values of x; a₃ and a₃₇ as well. */
function baseName(node: Node): string {
  if (node.k === 'call' && node.name === 'index' && node.args[0]) return baseName(node.args[0]);
  return spelt(node);
}

const spelt = (node: Node): string =>
  JSON.stringify(node, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v));
