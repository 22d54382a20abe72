// Whether an expression is real at a point: ln x² has values where 2 ln x has none, and two that agree only where both are
// real are not equal. Also whether an answer holds a constant that has no value at all, such as 7/0 or ln 0: it is right
// for nothing, whatever its normal form says.

import { children, type Node, some } from '../base/ast.ts';
import { bigReals } from './bigreals.ts';
import { type Comparison, letters } from './comparison.ts';
import type { Complex, NumericContext } from './functions.ts';
import { exact } from './exact.ts';
import { value } from './numeric.ts';
import { balls, Imprecise, NotReal, NoValue, type Reals, Undefined } from './reals.ts';
import { Hidden, watchful } from './watchful.ts';

/** Undefined when the value cannot be told. */
export function valueAt<T>(node: Node, context: NumericContext<T>): Complex<T> | 'not-real' | undefined {
  try {
    return value(node, context);
  } catch (error) {
    if (error instanceof NotReal) return 'not-real';
    if (error instanceof NoValue || error instanceof Imprecise || error instanceof Hidden) return undefined;
    throw error;
  }
}

/**
 * √(xy) is √x·√y but for two signs turned at once: laws of roots and logarithms of several letters mean that. Are two
 * roots or logarithms without a positive value here, of letters that are not the same?
 */
export function signsTurned<T>(node: Node, context: NumericContext<T>): boolean {
  const seen: ReadonlySet<string>[] = [];
  const visit = (n: Node): boolean => {
    const arg = radicandOf(n);
    const at = arg && valueAt(arg, context);
    if (arg && typeof at === 'object' && at.im === undefined && isNotPositive(at.re, context)) {
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

function isNotPositive<T>(at: T, { reals }: NumericContext<T>): boolean {
  try {
    return reals.sign(at) <= 0;
  } catch (error) {
    if (error instanceof Imprecise) return false;
    throw error;
  }
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
