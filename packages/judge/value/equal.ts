// Are two expressions equal? Layers, each of which may settle it: exact fractions, residues of the normal form, sampled
// values (sampling.ts).

import { children, type Node, add, mapChildren, mul, some } from '../base/ast.ts';
import type { Comparison, Equality } from './comparison.ts';
import { exact } from './exact.ts';
import { isSame } from './field.ts';
import { residue } from './residues.ts';
import { sampled } from './sampling.ts';
import * as Q from '../base/rational.ts';

export function equalExpressions(a: Node, b: Node, c: Comparison): Equality {
  const shown = byForm(a, b, c);
  if (shown) return shown;
  const [x, y] = normal(a, b, c);
  const again = x === a && y === b ? undefined : byForm(x, y, c);
  return again ?? sampled(x, y, c);
}

function byForm(a: Node, b: Node, c: Comparison): Equality | undefined {
  const left = exact(a, c);
  const right = left && exact(b, c);
  if (left && right) return Q.equal(left, right) ? 'exact' : 'different';
  return sameForm(a, b, c);
}

/** Residues in agreement prove the normal forms equal; in disagreement they differ, unless opaque. */
function sameForm(a: Node, b: Node, c: Comparison): Equality | undefined {
  const x = residue(a, c);
  const y = x && residue(b, c);
  if (!x || !y) return undefined;
  if (isSame(x, y)) return 'form';
  return isOpaque(a, c) || isOpaque(b, c) ? undefined : 'different';
}

/** Holds anything beyond fractions of polynomials in letters, i, π and e? */
function isOpaque(node: Node, c: Comparison): boolean {
  if (node.k === 'pow') {
    const exp = exact(node.exp, c);
    return !(exp && exp.den === 1n) || isOpaque(node.base, c);
  }
  if (/^(?:call|apply|big)$/.test(node.k)) return !exact(node, c);
  return children(node).some((child) => isOpaque(child, c));
}

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
  const known = residue(node, c);
  if (!known) return node;
  const head = node.k === 'call' && node.args[0]?.k === 'sym' ? node.args[0].name : '';
  return { k: 'sym', name: `${head}_${known.re},${known.im}` };
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
