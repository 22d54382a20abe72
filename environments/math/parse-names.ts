// Names that take brackets (f', f^{-1}, E[X], P(A | B)) and the period of a decimal under dots.

import { call, type Node, some } from './ast.ts';
import { type Cursor, expect, isCmd, isSign, peek } from './cursor.ts';
import { FUNCTION_LETTERS } from './vocabulary.ts';

/** f', f^{-1}, f_n, P_n: behind these a bracket holds an argument. */
export function isNamedFunction(node: Node): boolean {
  const base =
    node.k === 'pow' ? node.base : node.k === 'call' && /^(prime|index)$/.test(node.name) ? node.args[0] : undefined;
  if (!base) return false;
  if (base.k === 'sym')
    return (
      FUNCTION_LETTERS.has(base.name) || (node.k === 'call' && (node.name === 'prime' || /^[A-Z]$/.test(base.name)))
    );
  return isNamedFunction(base);
}

/** The digits of `\dot{1}4285\dot{7}`: dots stand over the first and the last one, or over each. */
export function dottedPeriod(c: Cursor): string | undefined {
  let [digits, plain, dots] = ['', '', 0];
  const start = c.at;
  for (;;) {
    const token = peek(c);
    if (isCmd(token, 'dot')) {
      const braced = isSign(peek(c, 1), '{');
      const digit = peek(c, braced ? 2 : 1);
      if (digit?.t !== 'num' || !/^\d+$/.test(digit.v) || (braced && (digit.v.length > 1 || !isSign(peek(c, 3), '}'))))
        break;
      c.at += braced ? 4 : 2;
      digits += plain + digit.v[0];
      plain = digit.v.slice(1);
      dots++;
    } else if (token?.t === 'num' && /^\d+$/.test(token.v) && plain === '' && dots === 1) {
      c.at++;
      plain = token.v;
    } else break;
  }
  // A digit behind the last dot would not repeat.
  if (plain === '' && digits.length <= 40) return digits;
  c.at = start;
  return undefined;
}

/** Not a number of their own: expectations and probabilities name what they are of. */
const isOperatorName = (name: string): boolean => /^(?:E|P|Pr|Var|Cov|Corr)$/.test(name);

/** `E[X]`, `P(A | B)`, `Var(2X)`; undefined where no bracket of the kind follows. */
export function operatorCall(c: Cursor, name: string): Node | undefined {
  const open = peek(c);
  if (!isOperatorName(name) || !isSign(open, '[', '(') || open?.sp) return undefined;
  const start = c.at;
  c.at++;
  const outer = c.bars;
  c.bars = 1;
  const inner = c.parseList(c);
  c.bars = outer;
  const given = isSign(peek(c), '|') || isCmd(peek(c), 'mid', 'vert');
  const args = inner.k === 'list' ? [...inner.items] : [inner];
  // E(x) and P(x) may be products or polynomials: only what cannot be one is an operator.
  const random = name === 'E' && some(inner, (n) => n.k === 'sym' && /^[W-Z]$/.test(n.name));
  if (!given && !random && open?.v === '(' && name.length === 1) {
    c.at = start;
    return undefined;
  }
  if (given) {
    c.at++;
    args.push(c.parseList(c));
  }
  expect(c, open?.v === '[' ? ']' : ')');
  return call(`\\${name}${given ? '|' : ''}`, ...args);
}
