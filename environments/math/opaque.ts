// The last resort for functions that jump or turn and cannot be sampled everywhere: each becomes a letter, the same
// letter where the same function stands over arguments that are shown equal.

import { children, mapChildren, type Node } from './ast.ts';
import type { Comparison, Equality } from './comparison.ts';
import { letters } from './letters.ts';

const NAMES = new Set(['abs', 'floor', 'ceil', 'sgn', 'root', 'gcd', 'lcm', 'mod', 'max', 'min']);
const MAX_KINDS = 12;

/** Undefined where there is none, or too many. */
export function withOpaque(
  a: Node,
  b: Node,
  c: Comparison,
  equal: (x: Node, y: Node, c: Comparison) => Equality,
): readonly [Node, Node] | undefined {
  const kinds: Extract<Node, { k: 'call' }>[] = [];
  const names = new Map<Node, string>();
  const sameArguments = (x: readonly Node[], y: readonly Node[]): boolean =>
    x.length === y.length &&
    x.every((arg, k) => {
      const word = equal(arg, y[k] ?? arg, c);
      return word === 'exact' || word === 'form' || word === 'sampled';
    });
  const visit = (node: Node): void => {
    if (node.k === 'call' && NAMES.has(node.name) && letters(node).size > 0) {
      let kind = kinds.findIndex((known) => known.name === node.name && sameArguments(known.args, node.args));
      if (kind < 0) kind = kinds.push(node) - 1;
      names.set(node, `\\opaque${kind}`);
    } else children(node).forEach(visit);
  };
  visit(a);
  visit(b);
  if (kinds.length === 0 || kinds.length > MAX_KINDS) return undefined;
  const put = (node: Node): Node => {
    const name = names.get(node);
    return name ? { k: 'sym', name } : mapChildren(node, put);
  };
  return [put(a), put(b)];
}
