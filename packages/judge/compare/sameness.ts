// The outcome of a comparison, over all shapes.

import type { Node } from '../base/ast.ts';
import type { Equality } from '../value/comparison.ts';

export type Sameness = Equality | 'rounded' | 'text';
export type Compare = (gold: Node, answer: Node) => Sameness;

export const isSame = (outcome: Sameness): boolean => outcome !== 'different' && outcome !== 'unknown';

/** Item by item: the outcome that is no exact one, if there is such. */
export function inOrder(gold: readonly Node[], answer: readonly Node[], compare: Compare): Sameness {
  if (gold.length !== answer.length) return 'different';
  let all: Sameness = 'exact';
  for (const [k, item] of gold.entries()) {
    const outcome = compare(item, answer[k]!);
    if (outcome === 'different') return outcome;
    if (all !== 'unknown' && outcome !== 'exact') all = outcome;
  }
  return all;
}
