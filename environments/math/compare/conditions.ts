// Several conditions about several letters: `x > 0, y < 0`. The letters are part of each condition, so two such answers
// are compared letter by letter, and each letter has to be on both sides.

import { ELEMENT, type Node, type Of } from '../ast.ts';
import { letters } from '../value/letters.ts';
import { same, type Compare } from './relation.ts';
import type { Word } from './leaf.ts';

/** Undefined where neither side has conditions about more than one letter. */
export function compareConditions(g: Node, a: Node, again: Compare): Word | undefined {
  const [name, other] = [memberOf(g), memberOf(a)];
  if (name !== undefined && other !== undefined && name !== other) return 'different';
  const [x, y] = [grouped(g), grouped(a)];
  if ((x?.groups.size ?? 0) < 2 && (y?.groups.size ?? 0) < 2) return undefined;
  if (!x || !y || x.groups.size !== y.groups.size || x.either !== y.either) return 'different';
  let all: Word = 'exact';
  for (const [key, gold] of x.groups) {
    const answer = y.groups.get(key);
    const word = answer ? again(gold, answer) : 'different';
    if (word === 'different') return word;
    if (!same(word) || all === 'exact') all = word;
  }
  return all;
}

/** The x of `x ∈ S`. */
function memberOf(node: Node): string | undefined {
  const first = node.k === 'rel' && node.ops.length === 1 && node.ops[0] === 'in' ? node.items[0] : undefined;
  return first?.k === 'sym' && first.name !== ELEMENT ? first.name : undefined;
}

interface Grouped {
  /** By the letters that the conditions are about. */
  readonly groups: ReadonlyMap<string, Node>;
  readonly either: boolean;
}

const isCondition = (node: Node): node is Of<'rel'> =>
  node.k === 'rel' && !node.ops.every((op) => op === '=' || op === '~' || op === '==mod');

function grouped(node: Node): Grouped | undefined {
  const items = node.k === 'list' ? node.items : [node];
  if (items.length === 0 || !items.every(isCondition)) return undefined;
  const join = node.k === 'list' ? node.join : ',';
  const parts = new Map<string, Node[]>();
  for (const item of items) {
    const key = about(item as Of<'rel'>);
    parts.set(key, [...(parts.get(key) ?? []), item]);
  }
  const groups = new Map([...parts].map(([key, own]) => [key, listOf(own, join)]));
  return { groups, either: join === 'or' && groups.size > 1 };
}

const listOf = (items: readonly Node[], join: Of<'list'>['join']): Node =>
  items.length === 1 && items[0] ? items[0] : { k: 'list', items, join };

/** A membership is about its left side; any other condition about all its letters. */
function about(node: Of<'rel'>): string {
  const [first] = node.items;
  const member = first && node.ops.length === 1 && /^(in|notin)$/.test(node.ops[0] ?? '') ? letters(first) : undefined;
  const names = member ?? letters(node);
  return (
    [...names].toSorted().join(' ') || JSON.stringify(first, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v))
  );
}
