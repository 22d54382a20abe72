// Compares ratios: part by part, or all parts over the first one.

import type { Node } from '../ast.ts';
import type { Word } from './leaf.ts';
import { same } from './relation.ts';

type Again = (g: Node, a: Node) => Word;
type InOrder = (g: readonly Node[], a: readonly Node[], again: Again) => Word;

export function compareRatios(g: Node, a: Node, again: Again, inOrder: InOrder): Word {
  const parts = (node: Node): readonly Node[] =>
    node.k === 'ratio' ? node.items : node.k === 'div' ? [node.top, node.bottom] : [node];
  const [x, y] = [parts(g), parts(a)];
  const plain = x.length === y.length ? inOrder(x, y, again) : 'different';
  if (same(plain)) return plain;
  const [first, ...rest] = x;
  const [other, ...others] = y;
  if (!first || !other) return 'different';
  const divide = (top: Node, bottom: Node): Node => ({ k: 'div', top, bottom });
  if (rest.length === 0 || others.length === 0) {
    const whole = (list: readonly Node[]): Node | undefined =>
      list.length === 1 ? list[0] : list.length === 2 && list[0] && list[1] ? divide(list[0], list[1]) : undefined;
    const [p, q] = [whole(x), whole(y)];
    return p && q ? again(p, q) : 'different';
  }
  const over = (list: readonly Node[], by: Node): Node[] => list.map((n) => divide(n, by));
  return rest.length === others.length ? inOrder(over(rest, first), over(others, other), again) : 'different';
}
