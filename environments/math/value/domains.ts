// The points at which an expression is real, and whether two expressions are real at the same ones: ln x² has values where
// 2 ln x has none, and two that agree only where both are real are not equal.

import { children, type Node } from '../ast.ts';
import type { Complex, NumericContext } from './complex.ts';
import { letters } from './letters.ts';
import { value } from './numeric.ts';
import * as Q from '../rational.ts';
import { Imprecise, NotReal, NoValue } from './reals.ts';
import { Hidden } from './watchful.ts';

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

const SIZES = [713n, 2371n, 391n, 1871n, 241n, 3343n, 1109n];

/** One letter below zero, all others above it: is only one side real there? */
export function domainsDiffer(
  names: readonly string[],
  signed: readonly string[],
  oneSided: (point: ReadonlyMap<string, Q.Rational>) => boolean,
): boolean {
  if (names.length < 2) return false;
  return signed.some((below) =>
    [0, 1, 2].some((row) => {
      const size = (k: number): Q.Rational => Q.rational(SIZES[(row * 3 + k) % SIZES.length] ?? 1n, 1009n);
      return oneSided(new Map(names.map((name, k) => [name, name === below ? Q.neg(size(k)) : size(k)])));
    }),
  );
}
