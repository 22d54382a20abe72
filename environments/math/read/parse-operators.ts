// Operators that look like products or remainders: the dot and the cross of vectors, and the modulus of a congruence.

import { add, call, mul, neg, type Node, some } from '../ast.ts';
import type { Token } from './tokens.ts';

/** Behind ≡ the modulus belongs to the whole side, however it is written. */
export function congruence(node: Node): Node {
  if (node.k === 'call' && (node.name === 'mod' || node.name === 'pmod')) return { ...node, name: 'pmod' };
  if (node.k === 'neg') {
    const inner = congruence(node.arg);
    return inner.k === 'call' && inner.name === 'pmod' && inner.args[0]
      ? { ...inner, args: [neg(inner.args[0]), ...inner.args.slice(1)] }
      : node;
  }
  const last = node.k === 'add' ? congruence(node.items.at(-1) ?? node) : node;
  if (node.k !== 'add' || last.k !== 'call' || last.name !== 'pmod' || !last.args[0]) return node;
  return { ...last, args: [add([...node.items.slice(0, -1), last.args[0]]), ...last.args.slice(1)] };
}

/** Between vectors a dot and a cross are operators of their own, and no product of numbers. */
export function vectorProduct(left: Node, right: Node, token: Token | undefined): Node | undefined {
  const last = left.k === 'mul' ? left.items.at(-1) : left;
  if (token?.t !== 'cmd' || !last || !(isNabla(last) || (isVector(last) && isVector(right)))) return undefined;
  const product = call(token.v === 'times' ? 'cross' : 'dot', last, right);
  return left.k === 'mul' ? mul([...left.items.slice(0, -1), product]) : product;
}

const isNabla = (node: Node): boolean => node.k === 'sym' && node.name === 'nabla';
const isVector = (node: Node): boolean =>
  some(
    node,
    (n) =>
      (n.k === 'call' && (n.name === 'bold' || n.name.startsWith('\\'))) ||
      (n.k === 'sym' && /^(vec |nabla$)/.test(n.name)),
  );
