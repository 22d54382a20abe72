// Operators are not products: derivatives, ∇ and Δ take what follows them, and products of matrices and vectors keep
// their order. Which letters are matrices shows on either side (bold, a transpose, an inverse), so both
// sides are read together.

import { call, children, mapChildren, mul, type Node, num } from '../ast.ts';
import { LIMITS, TooBig } from '../limits.ts';
import { rational } from '../rational.ts';

export function withOperators(gold: Node, answer: Node): readonly [Node, Node] {
  const matrices = new Set<string>();
  let marked = collect(gold, matrices);
  marked = collect(answer, matrices) || marked;
  const letters = capitalsOf(gold, answer);
  for (const name of letters) matrices.add(name);
  marked ||= letters.length > 0;
  return marked ? [rewritten(gold, matrices), rewritten(answer, matrices)] : [gold, answer];
}

/** Where nothing but such capitals is multiplied, and nothing divided, they may be matrices: AB is not shown to be BA. */
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

const isSym = (node: Node | undefined, name?: string): boolean =>
  node?.k === 'sym' && (name === undefined || node.name === name);
const isMatrixLetter = (node: Node): boolean => node.k === 'sym' && /^[A-Z]$/.test(node.name);

/** Is there anything for this file to do? Fills in the letters that are matrices or vectors. */
function collect(node: Node, matrices: Set<string>): boolean {
  let marked = false;
  if (node.k === 'sym') marked = /^(d|partial|nabla|Delta)$/.test(node.name) || node.name.startsWith('vec ');
  if (node.k === 'call') {
    const [first] = node.args;
    marked = node.name === 'bold' || node.name === 'pmod' || node.name.startsWith('\\');
    if (node.name === 'bold' && first?.k === 'sym') matrices.add(first.name);
  }
  if (node.k === 'pow' && node.base.k === 'sym' && node.exp.k === 'sym' && node.exp.name === '\\dagger') {
    matrices.add(node.base.name);
    marked = true;
  }
  if (node.k === 'pow' && isMatrixLetter(node.base) && node.base.k === 'sym' && isMatrixExponent(node.exp)) {
    matrices.add(node.base.name);
    marked = true;
  }
  for (const child of children(node)) marked = collect(child, matrices) || marked;
  return marked;
}

const isMatrixExponent = (node: Node): boolean =>
  (node.k === 'num' && node.value.num === -1n && node.value.den === 1n) ||
  (node.k === 'sym' && /^(T|H|\\top|\\intercal|\\dagger|\\ast)$/.test(node.name)) ||
  (node.k === 'text' && /^[TH]$/.test(node.text));

function rewritten(node: Node, matrices: ReadonlySet<string>): Node {
  if (node.k === 'div' && isDerivative(node.top, node.bottom)) return call('\\derivative', node.top, node.bottom);
  if (node.k === 'mul') return product(node.items, matrices);
  const inner = mapChildren(node, (child) => rewritten(child, matrices));
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

const isDifferential = (node: Node | undefined): boolean => isSym(node, 'd') || isSym(node, 'partial');
const head = (node: Node): Node | undefined => {
  const first = node.k === 'mul' ? node.items[0] : node;
  return first?.k === 'pow' ? first.base : first;
};

/** dy/dx, ∂²f/∂x∂y, d/dx. */
function isDerivative(top: Node, bottom: Node): boolean {
  if (bottom.k !== 'mul' || !isDifferential(bottom.items[0]) || !isDifferential(head(top))) return false;
  const names = bottom.items.slice(1);
  const letters = names.every((n) => n.k === 'sym' || (n.k === 'pow' && n.base.k === 'sym'));
  return letters && (names.length === 1 || isSym(bottom.items[0], 'partial'));
}

/** A derivative that is still without what it is taken of. */
const isOpen = (node: Node): boolean => node.k === 'div' && isDerivative(node.top, node.bottom) && node.top.k !== 'mul';

/** Each operator takes what follows it; one pass, so that nothing is rewritten twice. */
function product(items: readonly Node[], matrices: ReadonlySet<string>): Node {
  // They would nest: a tree is no deeper than what is read.
  if (items.filter((item) => isSym(item, 'nabla') || isOpen(item)).length > LIMITS.treeDepth)
    throw new TooBig('too many operators');
  const [parts, ordered]: [Node[], Node[]] = [[], []];
  let some = false;
  for (let at = 0; at < items.length;) {
    const item = items[at] as Node;
    const takes = at < items.length - 1 && (isOpen(item) || isOperator(item, items[at + 1]));
    // Δx is a letter of its own; ∇ and d/dx take all that follows.
    const reach = !takes ? at + 1 : isSym(item, 'Delta') || isSym(item, 'partial') ? at + 2 : items.length;
    const part = takes
      ? operation(item, rewritten(mul(items.slice(at + 1, reach)), matrices))
      : rewritten(item, matrices);
    some ||= !takes && isOrdered(item, matrices, false);
    if (!takes && isOrdered(item, matrices, true)) ordered.push(part);
    parts.push(part);
    at = reach;
  }
  if (!some || ordered.length < 2) return mul(parts);
  const scalars = parts.filter((part) => !ordered.includes(part));
  return mul([...scalars, call('ordered', ...ordered)]);
}

const operation = (operator: Node, body: Node): Node =>
  operator.k === 'div'
    ? call('\\derivative', operator.top, operator.bottom, body)
    : call(`\\${operator.k === 'sym' ? operator.name : 'derivative'}`, body);

const isOperator = (node: Node, next: Node | undefined): boolean =>
  isSym(node, 'nabla') || ((isSym(node, 'Delta') || isSym(node, 'partial')) && isSym(next));

/** A matrix or a vector; `beside` one, any capital letter is taken for a matrix as well. */
function isOrdered(node: Node, matrices: ReadonlySet<string>, beside: boolean): boolean {
  if (node.k === 'sym')
    return matrices.has(node.name) || node.name.startsWith('vec ') || (beside && /^[A-Z]$/.test(node.name));
  if (node.k === 'call' && (node.name === 'bold' || node.name === '\\vec')) return true;
  if (node.k === 'call' && node.name === 'index' && node.args[0]) return isOrdered(node.args[0], matrices, false);
  if (node.k === 'pow') return isOrdered(node.base, matrices, beside);
  if (node.k === 'add') return node.items.some((item) => isOrdered(item, matrices, beside));
  return node.k === 'neg' && isOrdered(node.arg, matrices, beside);
}
