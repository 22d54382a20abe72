// Seeded pairs: an answer, the same answer spelled and rewritten otherwise, and a near miss that differs in one
// place. Equal pairs are equal by construction; a near miss counts only if doubles tell it from the original.

export interface Generated {
  readonly kind: string;
  readonly solution: string;
  readonly equal: string;
  readonly near: string;
}

type Tree =
  | { readonly t: 'n'; readonly n: number; readonly d: number }
  | { readonly t: 'v'; readonly v: string }
  | { readonly t: '+' | '-' | '*' | '/'; readonly a: Tree; readonly b: Tree }
  | { readonly t: '^'; readonly a: Tree; readonly n: number }
  | { readonly t: 'f'; readonly f: string; readonly a: Tree };

export interface Random {
  (): number;
  int(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return Object.assign(next, { int, pick: <T>(list: readonly T[]): T => list[int(0, list.length - 1)] as T });
}

export function* generatePairs(seed: number, count: number): Generator<Generated> {
  const random = seeded(seed);
  const kinds = [
    expressionPair,
    expressionPair,
    constantPair,
    numberPair,
    setPair,
    tuplePair,
    intervalPair,
    matrixPair,
    equationPair,
  ];
  for (let made = 0; made < count;) {
    const pair = random.pick(kinds)(random);
    if (!pair) continue;
    made++;
    yield pair;
  }
}

const num = (n: number, d = 1): Tree => ({ t: 'n', n, d });

function grow(r: Random, depth: number, letters: readonly string[]): Tree {
  if (depth === 0 || r() < 0.15) {
    if (letters.length > 0 && r() < 0.6) return { t: 'v', v: r.pick(letters) };
    return r() < 0.8 ? num(r.int(1, 12)) : num(r.int(1, 9), r.int(2, 9));
  }
  const roll = r();
  const a = grow(r, depth - 1, letters);
  if (roll < 0.1) return { t: '^', a, n: r.int(2, 3) };
  if (roll < 0.25)
    return {
      t: 'f',
      f: r.pick(letters.length > 0 ? ['sin', 'cos', 'exp', 'sqrt', 'pi'] : ['sqrt', 'sqrt', 'pi', 'ln', 'exp']),
      a,
    };
  return { t: r.pick(['+', '-', '*', '*', '/'] as const), a, b: grow(r, depth - 1, letters) };
}

function latex(tree: Tree, r: Random, parent = 0): string {
  const wrap = (level: number, text: string): string =>
    level < parent ? r.pick([`(${text})`, `\\left(${text}\\right)`]) : text;
  switch (tree.t) {
    case 'n':
      if (tree.d === 1) return tree.n < 0 ? wrap(1, String(tree.n)) : String(tree.n);
      return r() < 0.7 ? `\\frac{${tree.n}}{${tree.d}}` : `(${tree.n}/${tree.d})`;
    case 'v':
      return tree.v;
    case '+':
      return wrap(1, `${latex(tree.a, r, 1)}${r.pick(['+', ' + '])}${latex(tree.b, r, 2)}`);
    case '-':
      return wrap(1, `${latex(tree.a, r, 1)}${r.pick(['-', ' - ', '−'])}${latex(tree.b, r, 2)}`);
    case '*':
      return wrap(2, `${latex(tree.a, r, 2)}${r.pick(['\\cdot ', ' \\times ', '*'])}${latex(tree.b, r, 3)}`);
    case '/':
      return r() < 0.8
        ? `${r.pick(['\\frac', '\\dfrac'])}{${latex(tree.a, r)}}{${latex(tree.b, r)}}`
        : wrap(2, `${latex(tree.a, r, 3)}/${latex(tree.b, r, 4)}`);
    case '^':
      return wrap(3, `${latex(tree.a, r, 5)}^${tree.n < 10 && r() < 0.5 ? tree.n : `{${tree.n}}`}`);
    default:
      if (tree.f === 'sqrt') return `\\sqrt{${latex(tree.a, r)}}`;
      if (tree.f === 'exp') return wrap(4, `e^{${latex(tree.a, r)}}`);
      if (tree.f === 'pi') return wrap(2, `\\pi \\cdot ${latex(tree.a, r, 3)}`);
      return wrap(4, `\\${tree.f}(${latex(tree.a, r)})`);
  }
}

function evaluate(tree: Tree, at: Readonly<Record<string, number>>): number {
  switch (tree.t) {
    case 'n':
      return tree.n / tree.d;
    case 'v':
      return at[tree.v] ?? Number.NaN;
    case '+':
      return evaluate(tree.a, at) + evaluate(tree.b, at);
    case '-':
      return evaluate(tree.a, at) - evaluate(tree.b, at);
    case '*':
      return evaluate(tree.a, at) * evaluate(tree.b, at);
    case '/':
      return evaluate(tree.a, at) / evaluate(tree.b, at);
    case '^':
      return evaluate(tree.a, at) ** tree.n;
    default: {
      const a = evaluate(tree.a, at);
      if (tree.f === 'sqrt') return Math.sqrt(a);
      if (tree.f === 'exp') return Math.exp(a);
      if (tree.f === 'ln') return Math.log(a);
      return tree.f === 'pi' ? Math.PI * a : tree.f === 'sin' ? Math.sin(a) : Math.cos(a);
    }
  }
}

/** The same value in another form: terms swapped, brackets multiplied out, ones and zeros put in. */
function rewrite(tree: Tree, r: Random): Tree {
  const inner = mapTree(tree, (child) => rewrite(child, r));
  const roll = r();
  if ((inner.t === '+' || inner.t === '*') && roll < 0.5) return { t: inner.t, a: inner.b, b: inner.a };
  if (inner.t === '-' && roll < 0.5) return { t: '+', a: { t: '*', a: num(-1), b: inner.b }, b: inner.a };
  if (inner.t === '/' && roll < 0.3) return { t: '*', a: inner.a, b: { t: '/', a: num(1), b: inner.b } };
  if (inner.t === '^' && roll < 0.4)
    return { t: '*', a: inner.a, b: inner.n === 2 ? inner.a : { t: '^', a: inner.a, n: inner.n - 1 } };
  if (inner.t === '*' && (inner.b.t === '+' || inner.b.t === '-') && roll < 0.9)
    return { t: inner.b.t, a: { t: '*', a: inner.a, b: inner.b.a }, b: { t: '*', a: inner.a, b: inner.b.b } };
  if (inner.t === 'f' && inner.f === 'exp' && inner.a.t === '+' && roll < 0.6)
    return { t: '*', a: { t: 'f', f: 'exp', a: inner.a.a }, b: { t: 'f', f: 'exp', a: inner.a.b } };
  if (inner.t === 'n' && roll < 0.1) return { t: '-', a: num(inner.n + inner.d, inner.d), b: num(1) };
  return inner;
}

function mapTree(tree: Tree, f: (t: Tree) => Tree): Tree {
  if (tree.t === 'n' || tree.t === 'v') return tree;
  if (tree.t === '^') return { ...tree, a: f(tree.a) };
  if (tree.t === 'f') return { ...tree, a: f(tree.a) };
  return { ...tree, a: f(tree.a), b: f(tree.b) };
}

const size = (tree: Tree): number =>
  tree.t === 'n' || tree.t === 'v' ? 1 : 1 + size(tree.a) + ('b' in tree ? size(tree.b) : 0);

/** One node changed. */
function mutate(tree: Tree, r: Random): Tree {
  let left = r.int(0, size(tree) - 1);
  const walk = (node: Tree): Tree => {
    if (left-- !== 0) return mapTree(node, walk);
    switch (node.t) {
      case 'n':
        return num(node.n + r.pick([-1, 1]), node.d);
      case 'v':
        return r() < 0.5 ? num(r.int(1, 3)) : { t: 'v', v: node.v === 'x' ? 'y' : 'x' };
      case '^':
        return { ...node, n: node.n + 1 };
      case 'f':
        return { ...node, f: node.f === 'sin' ? 'cos' : node.f === 'sqrt' ? 'pi' : 'sqrt' };
      default:
        return { t: r.pick((['+', '-', '*', '/'] as const).filter((op) => op !== node.t)), a: node.a, b: node.b };
    }
  };
  return walk(tree);
}

const SPOTS = [
  { x: 0.7131, y: 1.317 },
  { x: 2.371, y: 0.523 },
  { x: 1.913, y: 3.137 },
  { x: 4.21, y: 2.03 },
];

/** Told apart by doubles at a place where both are safe; undefined if either has no safe value anywhere. */
function apart(a: Tree, b: Tree): boolean | undefined {
  let told: boolean | undefined;
  for (const at of SPOTS) {
    const [x, y] = [evaluate(a, at), evaluate(b, at)];
    if (!Number.isFinite(x) || !Number.isFinite(y) || Math.abs(x) > 1e9 || Math.abs(y) > 1e9 || Math.abs(x) < 1e-6)
      continue;
    told = told || Math.abs(x - y) > 1e-6 * Math.max(Math.abs(x), Math.abs(y));
  }
  return told;
}

function treePair(kind: string, r: Random, letters: readonly string[], depth: number): Generated | undefined {
  const tree = grow(r, depth, letters);
  const same = rewrite(tree, r);
  const near = mutate(tree, r);
  if (apart(tree, same) !== false || apart(tree, near) !== true) return undefined;
  return { kind, solution: latex(tree, r), equal: latex(same, r), near: latex(near, r) };
}

const expressionPair = (r: Random): Generated | undefined => treePair('expression', r, ['x', 'y'], r.int(2, 4));
const constantPair = (r: Random): Generated | undefined => treePair('constant', r, [], r.int(1, 4));

function numberPair(r: Random): Generated {
  const n = r.int(-999_999_999, 999_999_999);
  const places = r.int(0, 4);
  const show = (v: number): string => (v / 10 ** places).toFixed(places);
  const spell = r.pick([
    (t: string) => t.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ','),
    (t: string) => (t.includes('.') ? `${t}00` : `${t}.0`),
    (t: string) => t.replace('-', '−'),
    (t: string) => `\\frac{${t.replace('.', '')}}{${10 ** places}}`,
    (t: string) => `${t} \\times 10^{0}`,
    (t: string) => `${t}\\text{ cm}`,
  ]);
  return { kind: 'number', solution: show(n), equal: spell(show(n)), near: spell(show(n + r.pick([-1, 1, 10]))) };
}

function items(r: Random, count: number): Tree[] {
  const found: Tree[] = [];
  while (found.length < count) {
    const tree = grow(r, 2, []);
    if (apart(tree, tree) === false && found.every((other) => apart(tree, other) === true)) found.push(tree);
  }
  return found;
}

function shuffled<T>(list: readonly T[], r: Random): T[] {
  return list
    .map((v) => [r(), v] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([, v]) => v);
}

function listPair(kind: string, r: Random, ordered: boolean, open: string, close: string): Generated | undefined {
  const list = items(r, r.int(2, 4));
  const same = list.map((tree) => rewrite(tree, r));
  const k = r.int(0, list.length - 1);
  const changed = list.map((tree, i) => (i === k ? mutate(tree, r) : tree));
  const other = changed[k];
  if (!other || list.some((tree, i) => apart(tree, same[i] ?? tree) !== false || apart(tree, other) !== true))
    return undefined;
  const show = (trees: readonly Tree[]): string => `${open}${trees.map((tree) => latex(tree, r)).join(', ')}${close}`;
  return { kind, solution: show(list), equal: show(ordered ? same : shuffled(same, r)), near: show(changed) };
}

const setPair = (r: Random): Generated | undefined => listPair('set', r, false, '\\{', '\\}');

function tuplePair(r: Random): Generated | undefined {
  const pair = listPair('tuple', r, true, '(', ')');
  if (!pair || r() < 0.6) return pair;
  const swapped = pair.solution.slice(1, -1).split(', ').toReversed().join(', ');
  return { ...pair, near: `(${swapped})` };
}

function intervalPair(r: Random): Generated | undefined {
  const [a, b] = items(r, 2).sort((x, y) => evaluate(x, {}) - evaluate(y, {}));
  if (!a || !b) return undefined;
  const [open, close] = [r.pick(['(', '[']), r.pick([')', ']'])];
  const show = (o: string, x: Tree, y: Tree, c: string): string => `${o}${latex(x, r)}, ${latex(y, r)}${c}`;
  const relation = `${latex(a, r)} ${open === '[' ? '\\le' : '<'} x ${close === ']' ? '\\leq' : '<'} ${latex(b, r)}`;
  const flip = (bracket: string): string => ({ '(': '[', '[': '(', ')': ']', ']': ')' })[bracket] ?? bracket;
  const near = r() < 0.5 ? show(flip(open), a, b, close) : show(open, a, { t: '+', a: b, b: num(1) }, close);
  return {
    kind: 'interval',
    solution: show(open, a, b, close),
    equal: r() < 0.5 ? relation : show(open, rewrite(a, r), b, close),
    near,
  };
}

function matrixPair(r: Random): Generated | undefined {
  const pair = listPair('matrix', r, true, '', '');
  if (!pair) return undefined;
  const show = (text: string): string =>
    `\\begin{pmatrix} ${text.split(', ').join(r() < 2 ? ' & ' : '')} \\end{pmatrix}`;
  return { kind: 'matrix', solution: show(pair.solution), equal: show(pair.equal), near: show(pair.near) };
}

function equationPair(r: Random): Generated {
  const [a, b, c, k] = [r.int(1, 9), r.int(1, 9), r.int(-9, 9), r.pick([-3, -2, 2, 3, 5])];
  const show = (p: number, q: number, s: number): string => `${p}x ${q < 0 ? '-' : '+'} ${Math.abs(q)}y = ${s}`;
  return {
    kind: 'equation',
    solution: show(a, b, c),
    equal: show(a * k, b * k, c * k),
    near: show(a * k, b * k, c * k + 1),
  };
}
