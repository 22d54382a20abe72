// Seeded numbers and polynomials, each with other spellings of the same value and with spellings of other values.

import type { Random } from './generate-pairs.ts';

export interface Value {
  readonly kind: string;
  readonly text: string;
  /** Other spellings of the same value, made from its parts. */
  readonly same: readonly string[];
  /** Spellings of other values. */
  readonly other: readonly string[];
}

export const swap = (items: readonly string[], r: Random): string[] => items.toSorted(() => r() - 0.5);
const frac = (n: number, d: number): string => `${n < 0 ? '-' : ''}\\frac{${Math.abs(n)}}{${d}}`;
const lowest = (n: number, d: number): boolean => {
  let [a, b] = [Math.abs(n), d];
  while (b > 0) [a, b] = [b, a % b];
  return a === 1;
};
const grouped = (n: number, by: string): string => String(n).replace(/\B(?=(\d{3})+$)/g, by);

export function integer(r: Random): Value {
  const n = r.int(2, 10 ** r.int(1, 7));
  const digit = String(n).replace(/\d$/, (d) => String((Number(d) + 1) % 10));
  return {
    kind: 'integer',
    text: String(n),
    same: [
      `${n}.0`,
      `${n}.`,
      `+${n}`,
      `${n} + 0`,
      `${n} \\cdot 1`,
      `0 + ${n}`,
      `-(-${n})`,
      `\\frac{${n}}{1}`,
      `${2 * n}/2`,
    ].concat(n > 999 ? [grouped(n, ','), grouped(n, '{,}'), grouped(n, '\\,'), grouped(n, ',\\!')] : []),
    other: [
      `-${n}`,
      digit,
      `${n}0`,
      `${n}.5`,
      `${n}n`,
      `\\frac{1}{${n}}`,
      `${n}, ${n + 1}`,
      `${n}\\%`,
      `${n}^2`,
      `\\sqrt{${n}}`,
      `0.${n}`,
      `${n}\\pi`,
      `${n}i`,
    ],
  };
}

export function fraction(r: Random): Value | undefined {
  const [n, d] = [r.int(1, 40) * (r() < 0.3 ? -1 : 1), r.int(2, 40)];
  if (!lowest(n, d)) return undefined;
  const k = r.int(2, 5);
  return {
    kind: 'fraction',
    text: frac(n, d),
    same: [
      `${n}/${d}`,
      frac(n * k, d * k),
      `\\frac{${n}}{${d}}`,
      `\\frac{${-n}}{-${d}}`,
      `${n} \\div ${d}`,
      `${frac(n, d)} + 0`,
      `${n} \\cdot \\frac{1}{${d}}`,
    ],
    other: [
      frac(-n, d),
      frac(n, d + 1),
      frac(n + 1, d),
      `${d}/${n}`,
      String(n),
      `${n}:${d}:1`,
      `${frac(n, d)}x`,
      `${frac(n, d)}\\%`,
    ],
  };
}

export function root(r: Random): Value {
  const [a, b] = [r.int(2, 12), r.pick([2, 3, 5, 6, 7, 10, 11, 13])];
  return {
    kind: 'root',
    text: `${a}\\sqrt{${b}}`,
    same: [
      `\\sqrt{${a * a * b}}`,
      `${a} \\cdot \\sqrt{${b}}`,
      `\\sqrt{${b}}\\cdot ${a}`,
      `${a}*sqrt(${b})`,
      `${a}√${b}`,
      `\\frac{${a * b}}{\\sqrt{${b}}}`,
      `${a} \\cdot ${b}^{1/2}`,
      `${a}\\sqrt[2]{${b}}`,
    ],
    other: [
      `-${a}\\sqrt{${b}}`,
      `${a}\\sqrt{${b + 1}}`,
      `${a + 1}\\sqrt{${b}}`,
      `${a}\\sqrt[3]{${b}}`,
      `${a}+\\sqrt{${b}}`,
      `\\sqrt{${a * b}}`,
      `\\pm ${a}\\sqrt{${b}}`,
    ],
  };
}

export function polynomial(r: Random): Value {
  const [a, b, c] = [r.int(2, 9), r.int(1, 9), r.int(1, 9)];
  const x = r.pick(['x', 'y', 'n', 't']);
  const terms = [`${a}${x}^2`, `${b}${x}`, `${c}`];
  return {
    kind: 'polynomial',
    text: terms.join(' + '),
    same: [
      swap(terms, r).join(' + '),
      `${x}(${a}${x} + ${b}) + ${c}`,
      `${a}${x}²+${b}${x}+${c}`,
      `${a}*${x}**2 + ${b}*${x} + ${c}`,
      `${terms.join('+')}+0`,
      `${c} - (-${a}${x}^2 - ${b}${x})`,
    ],
    other: [
      `${a}${x}^2 - ${b}${x} + ${c}`,
      `${a}${x}^2 + ${b}${x} + ${c + 1}`,
      `${a}${x}^3 + ${b}${x} + ${c}`,
      `${a}${x}^2 + ${c}`,
      terms.join(' + ').replaceAll(x, 'z'),
      `${a}${x}_2 + ${b}${x} + ${c}`,
      `${terms.join(' + ')} = 0`,
    ],
  };
}
