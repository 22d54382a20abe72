// What a final answer is once read: one tree for values, expressions and the shapes around them (lists,
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
  | { readonly k: 'text'; readonly text: string };

export type Join = 'and' | 'or' | ',';
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
export const sub = (a: Node, b: Node): Node => ({ k: 'add', items: [a, neg(b)] });

/** A product that is still being read grows in place: copying it per factor would be quadratic. */
const growing = new WeakSet<Node>();

export function times(a: Node, b: Node): Node {
  if (a.k === 'mul' && growing.has(a)) {
    (a.items as Node[]).push(b);
    return a;
  }
  const product = mul(a.k === 'mul' ? [...a.items, b] : [a, b]);
  growing.add(product);
  return product;
}

/** The letter of `{x | x > 2}`: any letter would do. */
export const ELEMENT = '\\element';

/** The nodes directly below. */
export function children(node: Node): readonly Node[] {
  switch (node.k) {
    case 'add':
    case 'mul':
    case 'ratio':
    case 'list':
    case 'set':
    case 'tuple':
    case 'rel':
      return node.items;
    case 'call':
    case 'apply':
      return node.args;
    case 'neg':
    case 'deg':
    case 'percent':
    case 'unit':
      return [node.arg];
    case 'div':
      return [node.top, node.bottom];
    case 'pow':
      return [node.base, node.exp];
    case 'pm':
    case 'setop':
      return [node.left, node.right];
    case 'big':
      return [node.from, node.to, node.body].filter((n) => n !== undefined);
    case 'matrix':
      return node.rows.flat();
    default:
      return [];
  }
}

/** The same node over other children, in the order `children` gives them. */
export function mapChildren(node: Node, f: (n: Node) => Node): Node {
  switch (node.k) {
    case 'add':
    case 'mul':
    case 'ratio':
    case 'list':
    case 'set':
    case 'tuple':
    case 'rel':
      return { ...node, items: node.items.map(f) };
    case 'call':
    case 'apply':
      return { ...node, args: node.args.map(f) };
    case 'neg':
    case 'deg':
    case 'percent':
    case 'unit':
      return { ...node, arg: f(node.arg) };
    case 'div':
      return { ...node, top: f(node.top), bottom: f(node.bottom) };
    case 'pow':
      return { ...node, base: f(node.base), exp: f(node.exp) };
    case 'pm':
    case 'setop':
      return { ...node, left: f(node.left), right: f(node.right) };
    case 'big':
      return { ...node, from: node.from && f(node.from), to: node.to && f(node.to), body: f(node.body) };
    case 'matrix':
      return { ...node, rows: node.rows.map((row) => row.map(f)) };
    default:
      return node;
  }
}

export function some(node: Node, test: (n: Node) => boolean): boolean {
  return test(node) || children(node).some((child) => some(child, test));
}

const EXPRESSION_KINDS: ReadonlySet<Kind> = new Set<Kind>(
  'num const sym add mul neg div pow call apply deg percent unit big base'.split(' ') as Kind[],
);

/** A single value or expression: nothing in it is a list, a set, a relation or a text. */
export function isExpression(node: Node): boolean {
  return EXPRESSION_KINDS.has(node.k) && children(node).every(isExpression);
}
