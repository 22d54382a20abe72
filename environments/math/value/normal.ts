// Rewrites functions that only count or only round, so that the normal form can see through them:
// binomials as factorials, factorials over the smallest one of their row, ceilings and remainders as floors.
// Unknown quantities (f(x), a_n) become letters; z and w become complex numbers where that matters.

import { add, call, children, int, mapChildren, mul, neg, type Node, num, some } from '../ast.ts';
import type { Comparison } from './comparison.ts';
import { exact } from './exact.ts';
import * as Q from '../rational.ts';
import { residue } from './residues.ts';

/** Both sides rewritten alike; the same objects where nothing had to be. */
export function normal(a: Node, b: Node, c: Comparison): readonly [Node, Node] {
  let pair: readonly [Node, Node] = [a, b];
  const each = (test: (n: Node) => boolean, f: (n: Node) => Node): void => {
    if (pair.some((node) => some(node, test))) pair = [f(pair[0]), f(pair[1])];
  };
  each(isUnknown, (node) => withLetters(node, c));
  each(isCounting, (node) => rewritten(node, c));
  const rows = factorialRows(pair, c);
  if (rows.length > 0) each(isFactorial, (node) => overSmallest(node, rows, c));
  const complex = pair.some((node) => some(node, asksForComplex));
  if (complex) each((n) => n.k === 'sym' && COMPLEX.test(n.name), withParts);
  return pair;
}

const isFactorial = (n: Node): boolean => n.k === 'call' && n.name === 'factorial';
const isUnknown = (n: Node): boolean =>
  n.k === 'apply' ||
  n.k === 'text' ||
  (n.k === 'call' && /^(index|prime|at|bracket|dot|cross|ordered|\\.*)$/.test(n.name));
const isCounting = (n: Node): boolean => n.k === 'call' && /^(binom|ceil|mod|gcd|lcm|sgn|sinh|cosh|tanh)$/.test(n.name);

/** Named by what they are, so that the same quantity is the same letter. */
function withLetters(node: Node, c: Comparison): Node {
  if (!isUnknown(node)) return mapChildren(node, (child) => withLetters(child, c));
  const [first, second] = c.contexts.map((context) => residue(node, context));
  if (!first || !second) return node;
  const head = node.k === 'call' && node.args[0]?.k === 'sym' ? node.args[0].name : '';
  return { k: 'sym', name: `${head}_${first.re},${first.im},${second.re}` };
}

function rewritten(node: Node, c: Comparison): Node {
  const inner = mapChildren(node, (child) => rewritten(child, c));
  if (inner.k !== 'call' || !isCounting(inner)) return inner;
  const [u, v] = inner.args;
  if (!u || exact(inner, c)) return inner;
  if (inner.name === 'ceil') return neg(call('floor', neg(u)));
  if (inner.name === 'sgn') return integerBetween(int(0), u, c) === 0n ? int(0) : inner;
  if (inner.name.endsWith('h'))
    return children(node).some((n) => some(n, isCounting)) ? inner : inExponentials(inner.name, u);
  if (!v || inner.args.length !== 2) return inner;
  const size = exact(v, c);
  if (inner.name === 'mod')
    return size && size.num > 0n ? add([u, neg(mul([v, call('floor', { k: 'div', top: u, bottom: v })]))]) : inner;
  if (inner.name === 'lcm') return { k: 'div', top: mul([u, v]), bottom: rewritten(call('gcd', u, v), c) };
  if (inner.name === 'gcd') {
    if (exact(u, c) && !size) return rewritten(call('gcd', v, u), c);
    const step = integerBetween(u, v, c);
    return step === undefined || step === 0n ? inner : step === 1n || step === -1n ? int(1) : call('gcd', u, int(step));
  }
  if (size?.den === 1n && size.num >= 0n && size.num <= 30n) {
    const factors = Array.from({ length: Number(size.num) }, (_, k) => add([u, int(-k)]));
    return { k: 'div', top: mul([int(1), ...factors]), bottom: call('factorial', v) };
  }
  const rest = add([u, neg(v)]);
  return { k: 'div', top: call('factorial', u), bottom: mul([call('factorial', v), call('factorial', rest)]) };
}

/** A part below the digits of e^1000 stays in the form. */
function inExponentials(name: string, u: Node): Node {
  const [up, down] = [u, neg(u)].map((exp): Node => ({ k: 'pow', base: { k: 'const', name: 'e' }, exp })) as [
    Node,
    Node,
  ];
  const [sinh, cosh] = [add([up, neg(down)]), add([up, down])];
  return { k: 'div', top: name === 'cosh' ? cosh : sinh, bottom: name === 'tanh' ? cosh : int(2) };
}

const FAR = 60n;

/** v − u where it is a whole number near zero. */
function integerBetween(u: Node, v: Node, c: Comparison): bigint | undefined {
  const off = add([v, neg(u)]);
  const found = c.contexts.slice(0, 2).map((context) => {
    const value = residue(off, context);
    if (!value || value.im !== 0n) return undefined;
    const { p } = context.field;
    return value.re <= FAR ? value.re : p - value.re <= FAR ? value.re - p : undefined;
  });
  return found[0] !== undefined && found[0] === found[1] ? found[0] : undefined;
}

/** Of the arguments that differ by whole numbers, the smallest. */
function factorialRows(pair: readonly [Node, Node], c: Comparison): Node[] {
  const rows: Node[] = [];
  const visit = (n: Node): void => {
    some(n, (inner) => {
      const arg = inner.k === 'call' && inner.name === 'factorial' ? inner.args[0] : undefined;
      if (!arg || exact(arg, c)) return false;
      for (let k = 0; k < rows.length; k++) {
        const step = integerBetween(rows[k] ?? arg, arg, c);
        if (step === undefined) continue;
        if (step < 0n) rows[k] = arg;
        return false;
      }
      if (rows.length < 20) rows.push(arg);
      return false;
    });
  };
  pair.forEach(visit);
  return rows;
}

function overSmallest(node: Node, rows: readonly Node[], c: Comparison): Node {
  const inner = mapChildren(node, (child) => overSmallest(child, rows, c));
  const arg = inner.k === 'call' && inner.name === 'factorial' ? inner.args[0] : undefined;
  if (!arg || exact(arg, c)) return inner;
  for (const base of rows) {
    const step = integerBetween(base, arg, c);
    if (step === undefined || step < 0n) continue;
    const factors = Array.from({ length: Number(step) }, (_, k) => add([base, num(Q.rational(BigInt(k + 1)))]));
    return mul([call('factorial', base), ...factors]);
  }
  return inner;
}

const COMPLEX = /^[zw](_|$)/;
const asksForComplex = (n: Node): boolean =>
  n.k === 'call' && /^(abs|conj|re|im|arg)$/.test(n.name) && some(n, (m) => m.k === 'sym' && COMPLEX.test(m.name));

/** z as its real part and i times its imaginary part, both letters. */
function withParts(node: Node): Node {
  if (node.k !== 'sym') return mapChildren(node, withParts);
  if (!COMPLEX.test(node.name)) return node;
  const part = (name: string): Node => ({ k: 'sym', name: `${node.name}\\${name}` });
  return add([part('re'), mul([{ k: 'const', name: 'i' }, part('im')])]);
}
