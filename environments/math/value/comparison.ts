// The state of one comparison of two answers: its budget, what it has computed, and the fields its residues are
// in; and how its outcome is named.

import type { Node } from '../ast.ts';
import type { ExactContext } from './exact.ts';
import { FIELDS } from './field.ts';
import { type Budget, LIMITS } from '../limits.ts';
import type * as Q from '../rational.ts';
import type { ResidueContext } from './residues.ts';

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
  const [first, second] = FIELDS;
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
