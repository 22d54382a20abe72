// The tree that a final answer is read into: one form for values, expressions and the shapes around them (lists,
// sets, tuples and intervals, relations, matrices). Plain data; nothing here is evaluated.

import type { Rational } from './rational.ts';

export type Node =
  /** `decimal`: written with a point or an exponent, so it may stand for a rounded value. */
  | { readonly k: 'num'; readonly value: Rational; readonly decimal: boolean }
  | { readonly k: 'const'; readonly name: 'pi' | 'e' | 'i' | 'inf' }
  | { readonly k: 'sym'; readonly name: string }
  | { readonly k: 'add'; readonly items: readonly Node[] }
  | { readonly k: 'mul'; readonly items: readonly Node[] }
  | { readonly k: 'neg'; readonly arg: Node }
  | { readonly k: 'div'; readonly top: Node; readonly bottom: Node }
  | { readonly k: 'pow'; readonly base: Node; readonly exp: Node }
  /** left ± right; `sign` −1 is ∓. */
  | { readonly k: 'pm'; readonly left: Node; readonly right: Node; readonly sign: 1 | -1 }
  /** A known function (`sin`, `root`, `abs`, …), or an unknown one with its arguments. */
  | { readonly k: 'call'; readonly name: string; readonly args: readonly Node[] }
  /** A letter directly followed by a bracket: a product, or a function, by its letter and its place. */
  | { readonly k: 'apply'; readonly name: string; readonly args: readonly Node[] }
  | { readonly k: 'deg'; readonly arg: Node }
  | { readonly k: 'percent'; readonly arg: Node }
  | { readonly k: 'unit'; readonly arg: Node; readonly unit: string; readonly strong: boolean }
  | {
      readonly k: 'big';
      readonly op: string;
      readonly variable: string;
      readonly from: Node | undefined;
      readonly to: Node | undefined;
      readonly body: Node;
    }
  | { readonly k: 'base'; readonly digits: string; readonly base: number }
  | { readonly k: 'ratio'; readonly items: readonly Node[] }
  /** Items joined by commas, semicolons, "and", "or": order does not count. */
  | { readonly k: 'list'; readonly items: readonly Node[]; readonly join: Join }
  /** `explicit`: written with \{ \}; else plain braces. */
  | { readonly k: 'set'; readonly items: readonly Node[]; readonly explicit: boolean }
  | { readonly k: 'tuple'; readonly items: readonly Node[]; readonly open: string; readonly close: string }
  | { readonly k: 'setop'; readonly op: 'cup' | 'cap' | 'setminus'; readonly left: Node; readonly right: Node }
  | { readonly k: 'named'; readonly name: string }
  | { readonly k: 'rel'; readonly items: readonly Node[]; readonly ops: readonly Relop[] }
  | { readonly k: 'matrix'; readonly rows: readonly (readonly Node[])[] }
  | { readonly k: 'text'; readonly text: string }
  /** What is said of each whole number; of those from 0 (N), from 1 (P). Its letter is RUNNING. */
  | { readonly k: 'family'; readonly body: Node; readonly over: Over };

export type Over = 'Z' | 'N' | 'P';
/** `()`: the values of a point, by their names. */
export type Join = 'and' | 'or' | ',' | '()';
export type Relop = '=' | '<' | '>' | '<=' | '>=' | '!=' | '~' | 'in' | 'notin' | 'subset' | '==mod';
export type Kind = Node['k'];
export type Of<K extends Kind> = Extract<Node, { k: K }>;

export const num = (value: Rational, decimal = false): Node => ({ k: 'num', value, decimal });
export const int = (n: number | bigint): Node => num({ num: BigInt(n), den: 1n });
export const call = (name: string, ...args: Node[]): Node => ({ k: 'call', name, args });
export const neg = (arg: Node): Node =>
  arg.k === 'num' ? { ...arg, value: { num: -arg.value.num, den: arg.value.den } } : { k: 'neg', arg };
export const add = (items: readonly Node[]): Node => (items.length === 1 && items[0] ? items[0] : { k: 'add', items });
export const mul = (items: readonly Node[]): Node => (items.length === 1 && items[0] ? items[0] : { k: 'mul', items });

export const times = (a: Node, b: Node): Node => mul(a.k === 'mul' ? [...a.items, b] : [a, b]);

/** The letter of a family. */
export const RUNNING = '\\running';
/** The letter of `{x | x > 2}`: any letter would do. */
export const ELEMENT = '\\element';

/** Under which names a kind holds its children, in their order. */
const FIELDS: ReadonlyMap<Kind, readonly string[]> = new Map(
  Object.entries({
    items: 'add mul ratio list set tuple rel',
    args: 'call apply',
    arg: 'neg deg percent unit',
    'top bottom': 'div',
    'base exp': 'pow',
    'left right': 'pm setop',
    'from to body': 'big',
    body: 'family',
    rows: 'matrix',
  }).flatMap(([fields, kinds]) => (kinds.split(' ') as Kind[]).map((k): [Kind, string[]] => [k, fields.split(' ')])),
);
type Below = Node | undefined | readonly Below[];
const below = (node: Node, field: string): Below => (node as unknown as Record<string, Below>)[field];
const NONE: readonly Node[] = [];

/** The nodes directly below. */
export function children(node: Node): readonly Node[] {
  const fields = FIELDS.get(node.k);
  if (!fields) return NONE;
  if (fields[0] === 'items' || fields[0] === 'args') return below(node, fields[0]) as readonly Node[];
  return [fields.map((field) => below(node, field))].flat(3).filter((n): n is Node => n !== undefined);
}

/** The same where nothing in it changed, so that what is known of its node stays known. */
function mapped(all: Below, f: (n: Node) => Node): Below {
  if (all === undefined || 'k' in all) return all && f(all);
  const next = all.map((one) => mapped(one, f));
  return next.some((one, i) => one !== all[i]) ? next : all;
}

/** The same node over other children; the same object where none changed. */
export function mapChildren(node: Node, f: (n: Node) => Node): Node {
  let out = node;
  for (const field of FIELDS.get(node.k) ?? []) {
    const [old, next] = [below(node, field), mapped(below(node, field), f)];
    if (next !== old) out = { ...out, [field]: next };
  }
  return out;
}

/** Without recursion: it looks at trees that nobody has found shallow yet. */
export function some(node: Node, test: (n: Node) => boolean): boolean {
  if (test(node)) return true;
  const open = [...children(node)];
  for (let next = open.pop(); next; next = open.pop()) {
    if (test(next)) return true;
    for (const child of children(next)) open.push(child);
  }
  return false;
}

/** No branch is longer than `most` nodes. Every recursive function over a tree relies on this. */
export function isShallow(node: Node, most: number): boolean {
  let level: readonly Node[] = [node];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return false;
    const next: Node[] = [];
    for (const n of level) for (const child of children(n)) next.push(child);
    level = next;
  }
  return true;
}
