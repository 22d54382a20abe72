// Degrees and primes behind a value: `90°`, `12° 30' 15"`, `25°C`, `f'`.

import { num, type Node } from '../ast.ts';
import { isCmd, isSign, peek, type Cursor } from './cursor.ts';
import { div as divide, fromDecimal, rational } from '../rational.ts';
import type { Token } from './tokens.ts';

/** How many tokens of a degree sign stand there, behind the `^`. */
export function degreeAhead(c: Cursor, ahead: number): number {
  if (isCmd(peek(c, ahead), 'circ', 'degree')) return 1;
  const braced = isSign(peek(c, ahead), '{') && isCmd(peek(c, ahead + 1), 'circ', 'degree');
  return braced && isSign(peek(c, ahead + 2), '}') ? 3 : 0;
}

export function isDegree(c: Cursor): boolean {
  const length = degreeAhead(c, 0);
  c.at += length;
  return length > 0;
}

export function isPrimes(c: Cursor): boolean {
  if (isCmd(peek(c), 'prime')) {
    c.at++;
    return true;
  }
  if (isSign(peek(c), '{') && isCmd(peek(c, 1), 'prime') && isSign(peek(c, 2), '}')) {
    c.at += 3;
    return true;
  }
  return false;
}

/** `90°`, or `12° 30'` and `25°C`. */
export function degrees(c: Cursor, arg: Node): Node {
  const token = peek(c);
  if (token?.t === 'id' && /^[CF]$/.test(token.v)) {
    c.at++;
    return { k: 'unit', arg, unit: `degree${token.v}`, strong: true };
  }
  const parts: Node[] = [arg];
  for (const [mark, share] of [
    ["'", 60n],
    ['"', 3600n],
  ] as const) {
    const part = peek(c);
    if (part?.t !== 'num' || !isPrime(peek(c, 1), mark)) continue;
    parts.push(num(divide(fromDecimal(part.v) ?? rational(0n), rational(share))));
    c.at += 2;
    // Two single marks are a double one.
    if (mark === '"' && isPrime(peek(c), "'")) c.at++;
  }
  return { k: 'deg', arg: parts.length === 1 ? arg : { k: 'add', items: parts } };
}

const isPrime = (token: Token | undefined, mark: string): boolean =>
  isSign(token, mark) || (isSign(token, "'") && mark === '"') || (mark === "'" && isCmd(token, 'prime'));
