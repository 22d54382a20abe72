// A letter before a bracket that turns out to be a factor: in `g(\sin θ - μ\cos θ)` and `P_0(1 + r)^n` the other side, or
// the kind of name, shows that it is a quantity. f(x) stays a function: nothing here takes a plain argument apart.

import { call, mapChildren, mul, type Node, some } from '../ast.ts';

/** Both sides, with such letters multiplied. */
export function withProducts(gold: Node, answer: Node): readonly [Node, Node] {
  const sides = [gold, answer];
  if (!sides.some((side) => some(side, (n) => headOf(n) !== undefined))) return [gold, answer];
  const functions = new Set<string>();
  const heads = new Set<string>();
  const bare = new Set<string>();
  for (const side of sides) {
    visit(side, (node) => {
      const head = headOf(node);
      if (head === undefined) {
        const name = nameOf(node);
        if (name !== undefined) bare.add(name);
        return;
      }
      heads.add(head.name);
      if (!head.factor) functions.add(head.name);
    });
  }
  const factors = new Set([...heads].filter((name) => !functions.has(name) && bare.has(name)));
  if (factors.size === 0) return [gold, answer];
  return [multiplied(gold, factors), multiplied(answer, factors)];
}

interface Head {
  readonly name: string;
  /** The argument is one that a function of this name would hardly have. */
  readonly factor: boolean;
}

function headOf(node: Node): Head | undefined {
  if (node.k === 'apply' && /^[gh]$/.test(node.name)) {
    const [arg] = node.args;
    return { name: node.name, factor: node.args.length === 1 && arg?.k === 'add' && some(arg, isTranscendental) };
  }
  if (node.k !== 'call' || node.name !== 'at') return undefined;
  const [named, arg] = node.args;
  const name = named && nameOf(named);
  if (name === undefined || named?.k !== 'call') return undefined;
  const index = named.args[1];
  const quantity = named.name === 'index' && (index?.k === 'text' || (index?.k === 'num' && index.value.num === 0n));
  return { name, factor: quantity && node.args.length === 2 && arg?.k === 'add' };
}

const isTranscendental = (n: Node): boolean =>
  (n.k === 'call' && /^(sin|cos|tan|cot|sec|csc|ln|log|logbase|root|sinh|cosh|tanh|exp)$/.test(n.name)) ||
  (n.k === 'pow' && n.exp.k !== 'num');

function nameOf(node: Node): string | undefined {
  if (node.k === 'sym') return node.name;
  return node.k === 'call' && node.name === 'index'
    ? JSON.stringify(node.args, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v))
    : undefined;
}

/** Every node, but not the name in front of a bracket. */
function visit(node: Node, f: (n: Node) => void): void {
  f(node);
  mapChildren(node.k === 'call' && node.name === 'at' ? call('at', ...node.args.slice(1)) : node, (child) => {
    visit(child, f);
    return child;
  });
}

function multiplied(node: Node, factors: ReadonlySet<string>): Node {
  const again = (n: Node): Node => multiplied(n, factors);
  // The power behind the bracket is the bracket's.
  const base = node.k === 'pow' ? split(node.base, factors) : undefined;
  if (base && node.k === 'pow') return mul([base[0], { k: 'pow', base: again(base[1]), exp: again(node.exp) }]);
  const own = split(node, factors);
  return own ? mul([own[0], again(own[1])]) : mapChildren(node, again);
}

function split(node: Node, factors: ReadonlySet<string>): readonly [Node, Node] | undefined {
  const head = headOf(node);
  if (!head || !factors.has(head.name)) return undefined;
  if (node.k === 'apply' && node.args[0]) return [{ k: 'sym', name: node.name }, node.args[0]];
  const [name, arg] = node.k === 'call' ? node.args : [];
  return name && arg ? [name, arg] : undefined;
}
