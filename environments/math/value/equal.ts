// Are two expressions equal? Layers, each of which may settle it: exact fractions, residues of the normal form, sampled
// values (sampling.ts), and in the end the same with a letter for each function that jumps or turns and cannot be sampled
// everywhere.

import { children, mapChildren, type Node } from '../ast.ts';
import { type Comparison, type Equality, letters } from './comparison.ts';
import { exact, type ExactContext } from './exact.ts';
import { normal } from './normal.ts';
import { residue } from './residues.ts';
import { sampled } from './sampling.ts';
import * as Q from '../rational.ts';

const NAMES = new Set(['abs', 'floor', 'ceil', 'sgn', 'root', 'gcd', 'lcm', 'mod', 'max', 'min']);
const MAX_KINDS = 12;

/** Undefined where there is none, or too many. */
export function withOpaque(
  a: Node,
  b: Node,
  c: Comparison,
  equal: (x: Node, y: Node, c: Comparison) => Equality,
): readonly [Node, Node] | undefined {
  const kinds: Extract<Node, { k: 'call' }>[] = [];
  const names = new Map<Node, string>();
  const sameArguments = (x: readonly Node[], y: readonly Node[]): boolean =>
    x.length === y.length &&
    x.every((arg, k) => {
      const word = equal(arg, y[k] ?? arg, c);
      return word === 'exact' || word === 'form' || word === 'sampled';
    });
  const visit = (node: Node): void => {
    if (node.k === 'call' && NAMES.has(node.name) && letters(node).size > 0) {
      let kind = kinds.findIndex((known) => known.name === node.name && sameArguments(known.args, node.args));
      if (kind < 0) kind = kinds.push(node) - 1;
      names.set(node, `\\opaque${kind}`);
    } else children(node).forEach(visit);
  };
  visit(a);
  visit(b);
  if (kinds.length === 0 || kinds.length > MAX_KINDS) return undefined;
  const put = (node: Node): Node => {
    const name = names.get(node);
    return name ? { k: 'sym', name } : mapChildren(node, put);
  };
  return [put(a), put(b)];
}

export function equalExpressions(a: Node, b: Node, c: Comparison): Equality {
  const shown = byForm(a, b, c);
  if (shown) return shown;
  const [x, y] = normal(a, b, c);
  const again = x === a && y === b ? undefined : byForm(x, y, c);
  const word = again ?? sampled(x, y, c);
  if (word !== 'unknown') return word;
  const opaque = withOpaque(x, y, c, equalExpressions);
  const last = opaque && (byForm(...opaque, c) ?? sampled(...opaque, c));
  return last === 'form' || last === 'sampled' ? last : word;
}

function byForm(a: Node, b: Node, c: Comparison): Equality | undefined {
  const left = exact(a, c);
  const right = left && exact(b, c);
  if (left && right) return Q.equal(left, right) ? 'exact' : 'different';
  return sameForm(a, b, c);
}

/** Two exact residues in agreement prove the normal forms equal; in disagreement they differ, unless opaque. */
function sameForm(a: Node, b: Node, c: Comparison): Equality | undefined {
  let same = true;
  let opaque = false;
  for (const context of c.contexts.slice(0, 2)) {
    context.opaque = false;
    // Memoised residues hide what they met: opacity is a property of the trees.
    opaque ||= isOpaque(a, c) || isOpaque(b, c);
    const x = residue(a, context);
    const y = x && residue(b, context);
    if (!x || !y) return undefined;
    if (x.re !== y.re || x.im !== y.im) {
      same = false;
      break;
    }
  }
  if (same) return 'form';
  return opaque ? undefined : 'different';
}

/** Holds anything beyond fractions of polynomials in letters, i, π, e and roots of rationals? */
function isOpaque(node: Node, c: ExactContext): boolean {
  if (node.k === 'call') {
    if (exact(node, c)) return false;
    const [first, second] = node.args;
    const arg = first && exact(first, c);
    if (!(node.name === 'root' && arg && second?.k === 'num' && second.value.num === 2n && second.value.den === 1n))
      return true;
    return arg.num * arg.den > 1_000_000n || arg.num < -1_000_000n;
  }
  if (node.k === 'pow') {
    const exp = exact(node.exp, c);
    return !(exp && exp.den === 1n) || isOpaque(node.base, c);
  }
  if (node.k === 'apply' || node.k === 'big') return !exact(node, c);
  return children(node).some((child) => isOpaque(child, c));
}
