// Unknown quantities (f(x), a_n) become letters; z and w become complex numbers where that matters.

import { add, mapChildren, mul, type Node, some } from '../ast.ts';
import type { Comparison } from './comparison.ts';
import { residue } from './residues.ts';

/** Both sides rewritten alike; the same objects where nothing had to be. */
export function normal(a: Node, b: Node, c: Comparison): readonly [Node, Node] {
  let pair: readonly [Node, Node] = [a, b];
  const each = (test: (n: Node) => boolean, f: (n: Node) => Node): void => {
    if (pair.some((node) => some(node, test))) pair = [f(pair[0]), f(pair[1])];
  };
  each(isUnknown, (node) => withLetters(node, c));
  const complex = pair.some((node) => some(node, asksForComplex));
  if (complex) each((n) => n.k === 'sym' && COMPLEX.test(n.name), withParts);
  return pair;
}

const isUnknown = (n: Node): boolean =>
  n.k === 'apply' ||
  n.k === 'text' ||
  (n.k === 'call' && /^(index|prime|at|bracket|dot|cross|ordered|\\.*)$/.test(n.name));

/** Named by what they are, so that the same quantity is the same letter. */
function withLetters(node: Node, c: Comparison): Node {
  if (!isUnknown(node)) return mapChildren(node, (child) => withLetters(child, c));
  const [first, second] = c.contexts.map((context) => residue(node, context));
  if (!first || !second) return node;
  const head = node.k === 'call' && node.args[0]?.k === 'sym' ? node.args[0].name : '';
  return { k: 'sym', name: `${head}_${first.re},${first.im},${second.re}` };
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
