// A number of a row as text: plain digits, because the math judge reads an `e` as a letter. A number that JSON cannot
// represent exactly is refused, never rounded.

import { failRow } from './problem.ts';

/** Values of the line's numbers that lost digits. */
export type Inexact = ReadonlySet<number>;
export const ALL_EXACT: Inexact = new Set();

export function numberText(field: string, value: number, inexact: Inexact): string {
  const large = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  if (large) return failRow(field, 'is a number too large to be exact', 'Write it as text, in quotes.');
  if (inexact.has(value))
    return failRow(field, 'is a number with too many digits to be exact', 'Write it as text, in quotes.');
  return plainDecimal(value);
}

/** `1e-7` as `0.0000001`. */
function plainDecimal(value: number): string {
  const text = String(value);
  const found = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text);
  if (!found) return text;
  const [, sign = '', first = '', rest = '', power = ''] = found;
  return `${sign}0.${'0'.repeat(Number(power) - 1)}${first}${rest}`;
}
