// Names in lists of values: which assignments stand for an ordered tuple, and which for several values of one name.

import type { Node, Of } from '../ast.ts';
import { isAssignment, lastLink } from './relation.ts';

/** Assignments in a list: `x = 1, y = 2` against `1, 2` in that order; `x = 1, x = 2` against both in any order. */
export function alignNames(g: Node, a: Node): readonly [Node, Node] {
  const [x, y] = [namedItems(g), namedItems(a)];
  if (x && !y && !isNamedTuple(a)) return [x.distinct ? ordered(x.values) : { ...x.list, items: x.values }, a];
  if (y && !x && !isNamedTuple(g)) return [g, y.distinct ? ordered(y.values) : { ...y.list, items: y.values }];
  if (x && isNamedTuple(a)) return [g, expandTuple(a)];
  if (y && isNamedTuple(g)) return [expandTuple(g), a];
  return [g, a];
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
}

function namedItems(node: Node): Named | undefined {
  if (node.k !== 'list' || !node.items[0]) return undefined;
  // A list of groups: each group of distinct names is a tuple of its own.
  if (node.items.every((item) => item.k === 'list' && item.items.every(isAssignment))) {
    const values = node.items.map((item) => ordered((item as Of<'list'>).items.map((n) => lastLink(n as Of<'rel'>))));
    return { list: node, values, distinct: false };
  }
  if (!isAssignment(node.items[0]) || node.items.some((item) => item.k === 'rel' && !isAssignment(item)))
    return undefined;
  const values = node.items.map((item) => (item.k === 'rel' ? lastLink(item) : item));
  const names = node.items.map((item) => (item.k === 'rel' ? item.items[0] : undefined));
  const text = names.filter((n) => n !== undefined).map((n) => baseName(n));
  return { list: node, values, distinct: names.every((n) => n !== undefined) && new Set(text).size === text.length };
}

/** x₁ and x₂ are two values of x; a₃ and a₃₇ as well. */
function baseName(node: Node): string {
  if (node.k === 'call' && node.name === 'index' && node.args[0]) return baseName(node.args[0]);
  return JSON.stringify(node, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v));
}
