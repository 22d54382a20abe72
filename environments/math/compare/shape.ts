// Brings an answer into the shape in which it is compared: ± becomes two values, degrees find their meaning,
// a letter before a bracket becomes a product or a function, single brackets fall away, matrices are added and
// multiplied out.

import { add, children, type Join, mapChildren, mul, neg, type Node, type Of, some } from '../ast.ts';
import { LIMITS, TooBig } from '../limits.ts';
import { rational } from '../rational.ts';
import { FUNCTION_LETTERS } from '../read/vocabulary.ts';

export function shape(node: Node): Node {
  return simplify(splitPlusMinus(settle(node, false)));
}

const TRIG = /^(sin|cos|tan|cot|sec|csc)$/;
const constant = (name: 'e' | 'i'): Node => ({ k: 'const', name });
const PER_DEGREE: Node = {
  k: 'div',
  top: { k: 'const', name: 'pi' },
  bottom: { k: 'num', value: rational(180n), decimal: false },
};

/** Degrees inside a trigonometric function are angles; elsewhere they are a unit that may be left out. */
function settle(node: Node, inTrig: boolean): Node {
  if (node.k === 'deg' && inTrig) return mul([settle(node.arg, true), PER_DEGREE]);
  // cis 60° is e^{iπ/3}.
  if (node.k === 'call' && node.name === 'cis' && node.args[0])
    return { k: 'pow', base: constant('e'), exp: mul([constant('i'), settle(node.args[0], true)]) };
  if (node.k === 'apply' && node.args.length === 1 && !FUNCTION_LETTERS.has(node.name)) {
    const [arg] = node.args;
    if (arg && arg.k !== 'list') return mul([{ k: 'sym', name: node.name }, settle(arg, inTrig)]);
  }
  // P(1 + r)^n is P·(1 + r)^n, and n(n + 1)! is n·(n + 1)!: what stands behind the bracket is the bracket's.
  const behind =
    node.k === 'pow' ? node.base : node.k === 'call' && node.name.endsWith('factorial') ? node.args[0] : node;
  if (behind !== node && behind?.k === 'apply' && behind.args.length === 1 && !FUNCTION_LETTERS.has(behind.name)) {
    const [arg] = behind.args;
    const [by] = node.k === 'pow' ? [settle(node.exp, false)] : [];
    if (arg && arg.k !== 'list') {
      const inner = settle(arg, inTrig);
      const raised: Node = by ? { k: 'pow', base: inner, exp: by } : { ...(node as Of<'call'>), args: [inner] };
      return mul([{ k: 'sym', name: behind.name }, raised]);
    }
  }
  const trig = inTrig || (node.k === 'call' && TRIG.test(node.name));
  return mapChildren(node, (child) => settle(child, trig));
}

/** Every ± in a value has the same sign at the same time; ∓ the other one. */
function splitPlusMinus(node: Node): Node {
  if (!some(node, (n) => n.k === 'pm')) return node;
  if (node.k === 'list' || node.k === 'set') {
    const items = node.items.flatMap((item) => {
      const split = splitPlusMinus(item);
      return split.k === 'list' && item.k !== 'list' ? split.items : [split];
    });
    return { ...node, items };
  }
  if (node.k === 'setop') return { ...node, left: splitPlusMinus(node.left), right: splitPlusMinus(node.right) };
  const join: Join = ',';
  return { k: 'list', items: [chooseSign(node, 1), chooseSign(node, -1)], join };
}

function chooseSign(node: Node, sign: 1 | -1): Node {
  if (node.k === 'pm') {
    const right = chooseSign(node.right, sign);
    const left = chooseSign(node.left, sign);
    return add([left, node.sign * sign > 0 ? right : neg(right)]);
  }
  return mapChildren(node, (child) => chooseSign(child, sign));
}

function simplify(node: Node): Node {
  const inner = mapChildren(node, simplify);
  if (inner.k === 'tuple' && inner.items.length === 1 && inner.items[0]) {
    const { open, close } = inner;
    if ((open === '[' && close === ']') || inner.items[0].k === 'matrix') return inner.items[0];
  }
  if (inner.k === 'set' && inner.items.length === 1 && inner.items[0] && !inner.explicit) return inner.items[0];
  if (inner.k === 'call' && inner.name === 'det' && inner.args[0]?.k === 'matrix')
    return determinant(inner.args[0].rows) ?? inner;
  return matrixValue(inner) ?? inner;
}

type Rows = readonly (readonly Node[])[];

/** Sums, products and multiples of matrices, written out entry by entry. */
function matrixValue(node: Node): Node | undefined {
  if (node.k === 'neg' && node.arg.k === 'matrix')
    return { k: 'matrix', rows: node.arg.rows.map((row) => row.map(neg)) };
  if (node.k === 'add' && node.items.length > 0 && node.items.every((n) => n.k === 'matrix')) {
    const [first, ...rest] = node.items.map((n) => (n.k === 'matrix' ? n.rows : []));
    if (!first || rest.some((rows) => rows.length !== first.length || rows[0]?.length !== first[0]?.length))
      return undefined;
    return {
      k: 'matrix',
      rows: first.map((row, i) => row.map((cell, j) => add([cell, ...rest.map((m) => m[i]?.[j] ?? cell)]))),
    };
  }
  if (node.k === 'div' && node.top.k === 'matrix') {
    const { bottom } = node;
    return { k: 'matrix', rows: node.top.rows.map((row) => row.map((top) => ({ k: 'div', top, bottom }))) };
  }
  if (node.k === 'mul' && node.items.some((n) => n.k === 'matrix')) {
    const scalars = node.items.filter((n) => n.k !== 'matrix');
    let rows: Rows | undefined;
    for (const item of node.items) {
      if (item.k !== 'matrix') continue;
      rows = rows ? multiply(rows, item.rows) : item.rows;
      if (!rows) return undefined;
    }
    if (!rows) return undefined;
    return {
      k: 'matrix',
      rows: scalars.length === 0 ? rows : rows.map((row) => row.map((cell) => mul([...scalars, cell]))),
    };
  }
  return undefined;
}

function multiply(a: Rows, b: Rows): Rows | undefined {
  if (a[0]?.length !== b.length) return undefined;
  if (a.length * b.length * (b[0]?.length ?? 0) > LIMITS.items * 5) throw new TooBig('a matrix product is too big');
  const product = a.map((row) => (b[0] ?? []).map((_, j) => add(row.map((cell, k) => mul([cell, b[k]?.[j] ?? cell])))));
  for (const cell of product.flat()) if (size(cell) > LIMITS.steps) throw new TooBig('a matrix product is too big');
  return product;
}

const sizes = new WeakMap<Node, number>();

/** Nodes of the tree, of which many may be the same object: a product of matrices doubles it with each factor. */
function size(node: Node): number {
  let known = sizes.get(node);
  if (known === undefined) {
    known = children(node).reduce((sum, child) => sum + size(child), 1);
    sizes.set(node, known);
  }
  return known;
}

function determinant(rows: Rows): Node | undefined {
  const n = rows.length;
  if (n === 0 || n > 4 || rows.some((row) => row.length !== n)) return undefined;
  if (n === 1) return rows[0]?.[0];
  const terms: Node[] = [];
  for (let j = 0; j < n; j++) {
    const minor = determinant(rows.slice(1).map((row) => row.filter((_, k) => k !== j)));
    const cell = rows[0]?.[j];
    if (!minor || !cell) return undefined;
    const term = mul([cell, minor]);
    terms.push(j % 2 === 0 ? term : neg(term));
  }
  return add(terms);
}
