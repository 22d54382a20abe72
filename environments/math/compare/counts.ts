// Combinations and arrangements as schools write them: C(10, 3), C_{10}^3, P(5, 2), A_5^2. The same letters name points,
// constants and events: they count only where the other side is without them, and with plain numbers or letters.

import { add, call, int, mapChildren, type Node, neg, some } from '../ast.ts';

const LETTERS = ['C', 'P', 'A'] as const;

/** Both sides, with such letters of one side as binomials and falling factorials. */
export function withCounts(gold: Node, answer: Node): readonly [Node, Node] {
  let pair: readonly [Node, Node] = [gold, answer];
  for (const letter of LETTERS) {
    const holds = pair.map((side) => some(side, (n) => (n.k === 'sym' || n.k === 'apply') && n.name === letter));
    const [other] = pair.filter((_, k) => !holds[k]);
    // P(1, 2) beside a pair is a point.
    if (!other || holds[0] === holds[1] || some(other, (n) => n.k === 'tuple')) continue;
    pair = [counted(pair[0], letter), counted(pair[1], letter)];
  }
  return pair;
}

function counted(node: Node, letter: string): Node {
  const [n, k] = argumentsOf(node, letter) ?? [];
  if (!n || !k) return mapChildren(node, (child) => counted(child, letter));
  if (letter === 'C') return call('binom', n, k);
  return { k: 'div', top: call('factorial', n), bottom: call('factorial', add([n, neg(k)])) };
}

const sizeOf = (node: Node | undefined): bigint | undefined =>
  node?.k === 'num' && node.value.den === 1n && node.value.num >= 0n && !node.decimal ? node.value.num : undefined;

function argumentsOf(node: Node, letter: string): readonly [Node, Node] | undefined {
  if (node.k === 'apply' && node.name === letter && node.args.length === 2 && letter !== 'A') {
    const [n, k] = node.args;
    const plain = node.args.every((arg) => arg.k === 'sym' || sizeOf(arg) !== undefined);
    return plain && n && k && (sizeOf(n) ?? 0n) >= (sizeOf(k) ?? 0n) ? [n, k] : undefined;
  }
  // C_{10}^3 and C^3_{10}, and C^{10}_3 where the larger number stands above.
  const [power, index] = node.k === 'pow' ? [node, node.base] : node.k === 'call' ? [node.args[0], node] : [];
  const below = index?.k === 'call' && index.name === 'index' ? index : undefined;
  const above = power?.k === 'pow' ? power : undefined;
  const name = above === node ? below?.args[0] : above?.base;
  if (!below || !above || name?.k !== 'sym' || name.name !== letter) return undefined;
  const [x, y] = [sizeOf(below.args[1]), sizeOf(above.exp)];
  if (x === undefined || y === undefined) return undefined;
  return x >= y ? [int(x), int(y)] : [int(y), int(x)];
}
