// The state of one comparison of two answers: its budget, and what it has computed; how its outcome is named; the letters of an
// expression.

import { children, type Node } from '../base/ast.ts';
import { type Budget, LIMITS } from '../base/limits.ts';
import type * as Q from '../base/rational.ts';
import type { Residue } from './field.ts';

/** How equality was shown, or why it was not. */
export type Equality = 'exact' | 'form' | 'sampled' | 'different' | 'unknown';

export interface Comparison {
  /** The steps that are left. */
  readonly budget: Budget;
  readonly memo: Map<Node, Q.Rational | null>;
  /** Which point the letters of residues stand at. */
  readonly seed: number;
  readonly residues: Map<Node, Residue>;
}

export function newComparison(): Comparison {
  return { budget: { left: LIMITS.steps }, memo: new Map(), seed: 1, residues: new Map() };
}

/** The same with its letters at another point. */
export const atOtherPoint = (c: Comparison): Comparison => ({ ...c, seed: c.seed + 1, residues: new Map() });

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
