// Does an answer hold a constant that mathematics gives no value: 7/0, log 0, tan(π/2), arcsin 2, 0·(1/0)? Such an answer is
// right for nothing, whatever its normal form says.

import { type Node, some } from '../ast.ts';
import { bigReals } from './bigreals.ts';
import type { Comparison } from './comparison.ts';
import { exact } from './exact.ts';
import { letters } from './letters.ts';
import { value } from './numeric.ts';
import { balls, Imprecise, NotReal, NoValue, type Reals, Undefined } from './reals.ts';
import { Hidden, watchful } from './watchful.ts';

const RISKY = /^(ln|log|logbase|tan|cot|sec|csc|arcsin|arccos|artanh|arcosh)$/;

export function isValueless(answer: Node, c: Comparison): boolean {
  return some(answer, (node) => {
    if (node.k === 'div') {
      const bottom = exact(node.bottom, c);
      return bottom ? bottom.num === 0n : isConstant(node.bottom) && hasNone(node, c);
    }
    if (node.k === 'pow') {
      const base = exact(node.base, c);
      const exponent = base?.num === 0n ? exact(node.exp, c) : undefined;
      return exponent !== undefined && exponent.num <= 0n;
    }
    return node.k === 'call' && RISKY.test(node.name) && isConstant(node) && hasNone(node, c);
  });
}

const isConstant = (node: Node): boolean =>
  letters(node).size === 0 &&
  !some(node, (n) => n.k === 'apply' || n.k === 'big' || (n.k === 'const' && n.name === 'inf'));

function hasNone(node: Node, c: Comparison): boolean {
  const first = tried(node, c, balls);
  return first ?? tried(node, c, watchful(bigReals(100))) ?? false;
}

/** Undefined when these reals cannot tell. */
function tried<T>(node: Node, c: Comparison, reals: Reals<T>): boolean | undefined {
  try {
    value(node, { reals, letters: new Map(), symbolic: c.contexts[0], realOnly: false });
    return false;
  } catch (error) {
    // With complex values allowed, only what has none at all is not real: arcsin 2.
    if (error instanceof Undefined || error instanceof NotReal) return true;
    if (error instanceof NoValue || error instanceof Imprecise || error instanceof Hidden) return undefined;
    throw error;
  }
}
