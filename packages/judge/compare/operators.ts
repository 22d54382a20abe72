// Products that are none of numbers: factors that are matrices or vectors keep their order, a derivative dy/dx is one
// quantity, a remainder is taken of the whole. Which letters are matrices shows on either side (bold, a transpose, an
// inverse, nothing but such capitals), so both sides are read together. ∇ and Δ are letters here.

import { call, children, mapChildren, mul, type Node, num, some } from '../base/ast.ts';
import { rational } from '../base/rational.ts';

export function withOperators(gold: Node, answer: Node): readonly [Node, Node] {
  const matrices = new Set(capitalsOf(gold, answer));
  let marked = matrices.size > 0;
  for (const side of [gold, answer])
    some(side, (node) => {
      const base = node.k === 'pow' && isMatrixExponent(node.exp) ? node.base : undefined;
      if (base?.k === 'sym' && /^[A-Z]$/.test(base.name)) matrices.add(base.name);
      const named = node.k === 'call' && /^(?:bold|pmod|\\vec)$/.test(node.name);
      if (named && node.args[0]?.k === 'sym') matrices.add(node.args[0].name);
      marked ||= named || isVector(node) || isDerivative(node);
      return false;
    });
  marked ||= matrices.size > 0;
  return marked ? [rewritten(gold, matrices), rewritten(answer, matrices)] : [gold, answer];
}

/** Such capitals may be matrices if nothing else is multiplied, and nothing divided: AB is not shown to be BA. */
const MAY_BE_MATRICES = /^[ABCDMNPQSTUVXY]$/;

function capitalsOf(gold: Node, answer: Node): string[] {
  const names = new Set<string>();
  let plain = true;
  const visit = (node: Node): void => {
    if (node.k === 'sym') names.add(node.name);
    else if (node.k === 'div') plain = false;
    else if (node.k === 'call' && node.name === 'index') visit(node.args[0] ?? node);
    else if (node.k !== 'apply') children(node).forEach(visit);
  };
  visit(gold);
  visit(answer);
  const all = [...names];
  return plain && all.every((name) => MAY_BE_MATRICES.test(name)) ? all : [];
}

const isMatrixExponent = (node: Node): boolean =>
  (node.k === 'num' && node.value.num === -1n && node.value.den === 1n) ||
  (node.k === 'sym' && /^(T|H|\\top|\\intercal|\\dagger|\\ast)$/.test(node.name)) ||
  (node.k === 'text' && /^[TH]$/.test(node.text));

const isVector = (node: Node): boolean => node.k === 'sym' && node.name.startsWith('vec ');

/** dy/dx, ∂²f/∂x∂y, d/dx. */
function isDerivative(node: Node): boolean {
  if (node.k !== 'div' || node.bottom.k !== 'mul') return false;
  const [head, below] = [node.top, node.bottom].map((side) => {
    const first = side.k === 'mul' ? side.items[0] : side;
    const base = first?.k === 'pow' ? first.base : first;
    return base?.k === 'sym' && /^(?:d|partial)$/.test(base.name) ? base.name : undefined;
  });
  return head !== undefined && below !== undefined && (below === 'partial' || node.bottom.items.length === 2);
}

function rewritten(node: Node, matrices: ReadonlySet<string>): Node {
  if (node.k === 'div' && isDerivative(node)) return call('\\derivative', node.top, node.bottom);
  const inner = mapChildren(node, (child) => rewritten(child, matrices));
  if (node.k === 'mul' && inner.k === 'mul') return product(node.items, inner.items, matrices);
  if (inner.k !== 'call') return inner;
  const [first, second] = inner.args;
  if (inner.name === 'bold' && first) return first;
  if (inner.name === 'pmod' && first?.k === 'num' && second?.k === 'num') {
    const [u, m] = [first.value, second.value];
    if (u.den === 1n && m.den === 1n && m.num > 0n)
      return call('pmod', num(rational(((u.num % m.num) + m.num) % m.num)), second);
  }
  return inner;
}

/** The factors that are matrices or vectors stay in their order. */
function product(items: readonly Node[], parts: readonly Node[], matrices: ReadonlySet<string>): Node {
  const ordered = parts.filter((_, k) => isOrdered(items[k]!, matrices, true));
  if (ordered.length < 2 || !items.some((item) => isOrdered(item, matrices, false))) return mul(parts);
  return mul([...parts.filter((part) => !ordered.includes(part)), call('ordered', ...ordered)]);
}

/** A matrix or a vector; `beside` one, any capital letter is taken for a matrix as well. */
function isOrdered(node: Node, matrices: ReadonlySet<string>, beside: boolean): boolean {
  if (node.k === 'sym') return matrices.has(node.name) || isVector(node) || (beside && /^[A-Z]$/.test(node.name));
  if (node.k === 'call' && (node.name === 'bold' || node.name === '\\vec')) return true;
  if (node.k === 'call' && node.name === 'index' && node.args[0]) return isOrdered(node.args[0], matrices, false);
  if (node.k === 'pow') return isOrdered(node.base, matrices, beside);
  if (node.k === 'add') return node.items.some((item) => isOrdered(item, matrices, beside));
  return node.k === 'neg' && isOrdered(node.arg, matrices, beside);
}
