// The state of one comparison of two answers: its budget, what it has computed, and the fields its residues are in; how its
// outcome is named; the letters of an expression, and the value of one that has none.

import { children, type Node, some } from '../base/ast.ts';
import { type Budget, LIMITS } from '../base/limits.ts';
import type { ExactContext } from './exact.ts';
import { NUMBER_FIELDS } from './field.ts';
import { isReal } from './functions.ts';
import { valueAt } from './numeric.ts';
import type { ResidueContext } from './residues.ts';
import * as Q from '../base/rational.ts';

/** How equality was shown, or why it was not. */
export type Equality = 'exact' | 'form' | 'sampled' | 'different' | 'unknown';

export interface Comparison extends ExactContext {
  readonly budget: Budget;
  /** Two fields, and another point of the first one. */
  readonly contexts: readonly [ResidueContext, ResidueContext, ResidueContext];
}

export function newComparison(): Comparison {
  const budget = { left: LIMITS.steps };
  const memo = new Map<Node, Q.Rational | null>();
  const [first, second] = NUMBER_FIELDS;
  const context = (seed: number, field = first): ResidueContext => ({
    budget,
    memo,
    seed,
    field,
    opaque: false,
    residues: new Map(),
  });
  return { budget, memo, contexts: [context(1), context(2, second), context(3)] };
}

export function letters(node: Node, into = new Set<string>(), bound: readonly string[] = []): Set<string> {
  if (node.k === 'sym' && !bound.includes(node.name)) into.add(node.name);
  if (node.k === 'big') {
    for (const n of [node.from, node.to]) if (n) letters(n, into, bound);
    letters(node.body, into, [...bound, node.variable]);
    return into;
  }
  // An unknown function's value is drawn as a whole: its letters are inside its name.
  if (node.k === 'apply' || (node.k === 'call' && (node.name === 'index' || node.name === 'prime'))) return into;
  for (const child of children(node)) letters(child, into, bound);
  return into;
}

/** A real constant as a double, if it has one that is known well. */
export function constant(node: Node, c: Comparison): number | undefined {
  if (some(node, (n) => n.k === 'sym' || n.k === 'apply')) return undefined;
  const found = valueAt(node, { letters: new Map(), symbolic: c.contexts[0], realOnly: true });
  if (typeof found !== 'object' || !isReal(found)) return undefined;
  return found.re.e > Math.abs(found.re.v) * 1e-9 + 1e-12 ? undefined : found.re.v;
}

/** The same as the fraction that the double is. */
export function precise(node: Node, c: Comparison): Q.Rational | undefined {
  const near = constant(node, c);
  return near === undefined ? undefined : Q.fromNumber(near);
}
