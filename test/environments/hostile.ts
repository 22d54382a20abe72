// Answers that attack the judge: towers, floods, nesting, bombs, in every construct that it reads. Each is a
// kind of its own; a solution stands beside it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Hostile {
  readonly name: string;
  readonly solution: string;
  readonly answer: string;
}

const MANY = 100_000;
const fill = (unit: string, chars = MANY): string => unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
const nest = (open: string, core: string, close: string, depth: number): string =>
  open.repeat(depth) + core + close.repeat(depth);

/** Floods: one unit repeated to 100,000 characters. */
const FLOODS = JSON.parse(readFileSync(join(import.meta.dirname, 'floods.json'), 'utf8')) as readonly string[];

/** Short texts whose value or work is huge, and deep nesting. */
const BOMBS: Readonly<Record<string, string>> = {
  'nested bars of a letter': nest('\\left|', 'x', '\\right|', 21),
  'cells of four letters': '\\max(t, x^3-x, a, y) + \\max(\\gcd(x, y), (y)^{7}, t, a^5-a)',
  'cells within a sum': '\\frac{\\sum_{k=1}^{a} (x^3-x)}{\\max(y,\\gcd(x,0.5),(y)^{7},t)}',
  tower: '9^{9^{9^{9}}}',
  'tower without braces': `${fill('9^', 60)}9`,
  'tower of exponentials': 'e^{e^{e^{e^{e^{e}}}}}',
  'ten million factorial': '10000000!',
  'factorial of a factorial': '((3!)!)!',
  'many factorials': `${fill('2000!+', 3600)}1`,
  'huge binomial': '\\binom{1000000000}{500000000}',
  'huge exponent': '2^{1000000000}',
  'negative huge exponent': '2^{-1000000000}',
  'huge scientific': '1e999999999',
  'long scientific': '1e9999',
  'many big powers': `${fill('7^{8000}+', 3600)}1`,
  'big fractions': `${fill('\\frac{1}{2000!}+\\frac{1}{1999!}+', 3000)}1`,
  'power of a sum': '(a+b+c+d+e+f)^{400}',
  'power of powers': '((((x+1)^{99})^{99})^{99})^{99}',
  'wide product': fill('(x+1)(y+2)(z+3)', 3900),
  'sum to infinity': '\\sum_{n=1}^{\\infty}\\frac{1}{n^2}',
  'sum of many': '\\sum_{n=1}^{1000000000} n',
  'sums in sums': nest('\\sum_{k=1}^{300} ', 'k', '', 20),
  'products in products': nest('\\prod_{k=1}^{300} ', 'k', '', 20),
  integral: '\\int_0^1 x^x dx',
  'unknown integral': '\\int \\int \\int f(x) g(y)',
  limit: '\\lim_{x\\to 0}\\frac{\\sin x}{x}',
  'nested roots': nest('\\sqrt{2+', '1', '}', 200),
  'nested cube roots': nest('\\sqrt[3]{1+', 'x', '}', 60),
  'nested parentheses': nest('(', '1', ')', 5000),
  'nested brackets': nest('[', '1', ']', 5000),
  'nested braces': nest('{', '1', '}', 5000),
  'nested fractions': nest('\\frac{1}{1+', '1', '}', 5000),
  'fraction bomb': nest('\\frac', '11', '', 3000),
  'shallow fraction bomb': nest('\\frac{1}{1+', '1', '}', 60),
  'nested powers': nest('2^{', '1', '}', 5000),
  'nested indices': nest('x_{', '1', '}', 5000),
  'nested bars': nest('|', 'x', '|', 1000),
  'nested sines': nest('\\sin(', 'x', ')', 70),
  'nested logarithms': nest('\\ln(', '5', ')', 70),
  'nested text': nest('\\text{', '1', '}', 5000),
  'nested boxes': nest('\\boxed{', '1', '}', 5000),
  'nested sets': nest('\\{', '1', '\\}', 5000),
  'nested functions': nest('f(', 'x', ')', 3000),
  'many letters': 'abcdfghjklmnopqrstuvwxyz'.split('').join('+'),
  'all letters as exponents': 'a^{b^{c^{d^{f^{g}}}}}',
  'long list': fill('1,2,', 3900),
  'list of lists': fill('(1,2),', 3900),
  'long set of roots': `\\{${fill('\\sqrt{2},\\sqrt{3},', 3600)}1\\}`,
  'wide matrix': `\\begin{pmatrix}${fill('1&', 3000)}1\\end{pmatrix}`,
  'tall matrix': `\\begin{pmatrix}${fill('1\\\\', 3000)}1\\end{pmatrix}`,
  'product of matrices': '\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}'.repeat(60),
  'powers of matrices': '(\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix})^{1000000}',
  'union of intervals': `${fill('(1,2)\\cup', 3600)}(3,4)`,
  'chain of inequalities': `${fill('x<', 3600)}x`,
  'plus or minus often': `${fill('1\\pm ', 3000)}1`,
  'tuple of plus or minus': `(${fill('\\pm 1,', 3000)}1)`,
  'sine of the huge': '\\sin(10^{5000})',
  'cosine of the huge': '\\cos(10^{300})',
  'tangent at its pole': '\\tan(\\pi/2)',
  'division by zero': '\\frac{1}{0}',
  'zero to zero': '0^0',
  'hidden zero division': '\\frac{1}{\\sqrt{2}^2-2}',
  'cancelling roots': '\\sqrt{10^{40}+1}-10^{20}',
  'many sines': `${fill('\\sin(1)+', 3900)}1`,
  'many sines of letters': `${fill('\\sin(x)\\cos(y)+', 3900)}1`,
  'many roots': `${fill('\\sqrt{7}+', 3900)}1`,
  'many different roots': Array.from({ length: 300 }, (_, n) => `\\sqrt{${n + 99_991}}`).join('+'),
  'large prime root': '\\sqrt{170141183460469231731687303715884105727}',
  'prime of the field': '170141183460469231731687303715884105727x',
  'gcd of the huge': '\\gcd(10^{5000}+1,10^{4999}+7)',
  'modulus of the huge': '7^{10^{9}} \\bmod 13',
  'base of the huge': `${'1'.repeat(1500)}_{2}`,
  'long decimals': `0.${'3'.repeat(3000)}`,
  'long digits': '7'.repeat(3900),
  'long repeating decimal': `0.\\overline{${'3'.repeat(3000)}}`,
  'prototype names': '__proto__ + constructor + toString',
  'property names as commands': '\\constructor \\toString \\hasOwnProperty \\__proto__',
  'code in python': '__import__("os").system("touch /tmp/x")',
  'code in JavaScript': 'process.exit(1)',
  'terminal escape': '\u001b]52;c;YQ==\u0007\u001b[2J5',
};

const SOLUTIONS = ['5', '\\sqrt{2}', 'x^2+1', '\\{1,2,3\\}', '[0,1)'];

export const HOSTILE: readonly Hostile[] = [
  ...FLOODS.map((unit): readonly [string, string] => [`flood of ${JSON.stringify(unit)}`, fill(unit)]),
  ...FLOODS.map((unit): readonly [string, string] => [
    `box of ${JSON.stringify(unit)}`,
    `\\boxed{${fill(unit, 3_000)}}`,
  ]),
  ...Object.entries(BOMBS),
  ...Object.entries(BOMBS).map(([name, text]): readonly [string, string] => [`boxed ${name}`, `So \\boxed{${text}}.`]),
].map(([name, answer], n) => ({ name, answer, solution: SOLUTIONS[n % SOLUTIONS.length] ?? '5' }));
