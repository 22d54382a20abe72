// Vectors by their unit vectors: 2𝐢 + 3𝐣, 2\hat{i} + 3\hat{j}, \vec{i} − 2\vec{k} are the tuples of their coordinates.
// Plain letters i, j, k count as unit vectors only where the other side is a tuple, a column or marked unit vectors.

import { add, int, type Node, mul, neg, some } from '../ast.ts';

const AXES = ['i', 'j', 'k'] as const;
const IS_MARK = /^(?:bold|\\hat|\\vec)$/;

export function withVectors(gold: Node, answer: Node): readonly [Node, Node] {
  const marked = [gold, answer].map((side) => some(side, (n) => axisOf(n, false) !== undefined));
  const points = [gold, answer].map((side) => some(side, (n) => n.k === 'tuple' || n.k === 'matrix'));
  if (!marked[0] && !marked[1] && !points[0] && !points[1]) return [gold, answer];
  const plain = (k: number): boolean => marked[1 - k] === true || points[1 - k] === true;
  const spans = [gold, answer].map((side) => (some(side, (n) => axisOf(n, true) === 'k') ? 3 : widthOf(side)));
  const width = Math.max(2, ...spans);
  return [within(gold, plain(0), width), within(answer, plain(1), width)];
}

const widthOf = (node: Node): number =>
  node.k === 'tuple'
    ? node.items.length
    : node.k === 'matrix'
      ? Math.max(node.rows.length, node.rows[0]?.length ?? 0)
      : 0;

/** A vector, or what an equation assigns. */
function within(node: Node, plain: boolean, width: number): Node {
  if (node.k === 'rel') return { ...node, items: node.items.map((item) => within(item, plain, width)) };
  return coordinates(node, plain, width) ?? node;
}

/** Undefined unless every term is a multiple of one unit vector. */
function coordinates(node: Node, plain: boolean, width: number): Node | undefined {
  const parts: Node[][] = Array.from({ length: width }, () => []);
  const terms = node.k === 'add' ? node.items : [node];
  let letters = false;
  for (const term of terms) {
    const one = multiple(term, plain);
    const own = one && parts[AXES.indexOf(one.axis)];
    if (!one || !own) return undefined;
    letters ||= one.axis !== 'i';
    own.push(one.by);
  }
  // 2i alone is a complex number.
  if (!letters && !some(node, (n) => axisOf(n, false) !== undefined)) return undefined;
  return { k: 'tuple', items: parts.map((own) => (own.length === 0 ? int(0) : add(own))), open: '(', close: ')' };
}

function multiple(term: Node, plain: boolean): { readonly axis: (typeof AXES)[number]; readonly by: Node } | undefined {
  if (term.k === 'neg') {
    const inner = multiple(term.arg, plain);
    return inner && { ...inner, by: neg(inner.by) };
  }
  if (term.k === 'div') {
    const inner = multiple(term.top, plain);
    return inner && { ...inner, by: { k: 'div', top: inner.by, bottom: term.bottom } };
  }
  const items = term.k === 'mul' ? term.items : [term];
  const at = items.findIndex((item) => axisOf(item, plain) !== undefined);
  const axis = items[at] && axisOf(items[at], plain);
  const rest = items.filter((_, k) => k !== at);
  if (!axis || rest.some((n) => some(n, (m) => axisOf(m, plain) !== undefined))) return undefined;
  return { axis, by: rest.length === 0 ? int(1) : mul(rest) };
}

function axisOf(node: Node, plain: boolean): (typeof AXES)[number] | undefined {
  const [first] = node.k === 'call' && IS_MARK.test(node.name) ? node.args : [];
  const named = first ?? (plain ? node : undefined);
  const name = named?.k === 'sym' || named?.k === 'const' ? named.name.replace(/^\\?jmath$|^jmath$/, 'j') : '';
  return AXES.find((axis) => axis === name);
}
