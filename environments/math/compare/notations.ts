// Letters that mean more than themselves. The unit vectors 2𝐢 + 3𝐣, 2\hat{i} + 3\hat{j} are tuples; plain i, j, k count as such
// only where the other side is a tuple, a column or marked unit vectors. The schools' C(10, 3), C_{10}^3, P(5, 2), A_5^2 count
// only where the other side is without these letters, and with plain numbers or letters.

import { add, call, int, mapChildren, mul, neg, type Node, some } from '../ast.ts';

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
