// Whether an expression is real at a point: ln x² has values where 2 ln x has none, and two that agree only where both are
// real are not equal. Also whether an answer holds a constant that has no value at all, such as 7/0 or ln 0: it is right
// for nothing, whatever its normal form says.

import { children, type Node, some } from '../base/ast.ts';
import { type Comparison, letters } from './comparison.ts';
import type { Place } from './functions.ts';
import { exact } from './exact.ts';
import { signAt, value } from './numeric.ts';
import { Imprecise, NotReal, NoValue, Undefined } from './balls.ts';

/**
 * √(xy) is √x·√y but for two signs turned at once: laws of roots and logarithms of several letters mean that. Are two
 * roots or logarithms without a positive value here, of letters that are not the same?
 */
export function signsTurned(node: Node, at: Place): boolean {
  const seen: ReadonlySet<string>[] = [];
  const visit = (n: Node): boolean => {
    const arg = radicandOf(n);
    if (arg && (signAt(arg, at) ?? 1) <= 0) {
      const own = letters(arg);
      if (seen.some((other) => [...own].every((name) => !other.has(name)))) return true;
      seen.push(own);
    }
    return children(n).some(visit);
  };
  return visit(node);
}

function radicandOf(node: Node): Node | undefined {
  if (node.k === 'call') return /^(?:root|ln|log|logbase)$/.test(node.name) ? node.args[0] : undefined;
  return node.k === 'pow' && node.exp.k !== 'num' ? node.base : undefined;
}

const RISKY = /^(ln|log|logbase|tan|cot|sec|csc|arcsin|arccos)$/;

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
  try {
    value(node, { letters: new Map(), c, realOnly: false });
    return false;
  } catch (error) {
    // With complex values allowed, only what has none at all is not real: arcsin 2.
    if (error instanceof Undefined || error instanceof NotReal) return true;
    if (error instanceof NoValue || error instanceof Imprecise) return false;
    throw error;
  }
}
