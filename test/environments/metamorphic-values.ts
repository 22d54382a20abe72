// Values of every common kind, seeded, each with other spellings of the same value and with spellings of other values
// that differ by a sign, a digit, an item, a bound, a unit or a letter.

import type { Random } from './generate-pairs.ts';
import { fraction, integer, polynomial, root, swap, type Value } from './metamorphic-numbers.ts';

function set(r: Random): Value {
  const items = [...new Set([r.int(-9, 9), r.int(-9, 9), r.int(10, 30)])].map(String);
  return {
    kind: 'set',
    text: `\\{${items.join(', ')}\\}`,
    same: [
      `\\{${swap(items, r).join(', ')}\\}`,
      swap(items, r).join(', '),
      items.join(' \\text{ and } '),
      `\\{${[...items, items[0]].join(', ')}\\}`,
      `x \\in \\{${items.join(', ')}\\}`,
      `x = ${items.join(' \\text{ or } x = ')}`,
    ],
    other: [
      `\\{${items.slice(1).join(', ')}\\}`,
      `\\{${[...items, '31'].join(', ')}\\}`,
      `\\{${items.join(', ')}, \\ldots\\}`,
      items.slice(0, -1).join(', '),
      `\\{${items.join(', ').replace(/\d+$/, '77')}\\}`,
    ],
  };
}

function tuple(r: Random): Value {
  const items = [r.int(-9, 9), r.int(10, 30), r.int(31, 40)].slice(0, r.int(2, 3)).map(String);
  return {
    kind: 'tuple',
    text: `(${items.join(', ')})`,
    same: [
      `\\left(${items.join(',')}\\right)`,
      `(${items.map((item) => `${item}.0`).join(', ')})`,
      `\\bigl(${items.join(' , ')}\\bigr)`,
      `(${items.map((item) => `${item}+0`).join(', ')})`,
    ],
    other: [
      `(${items.toReversed().join(', ')})`,
      `(${items.slice(1).join(', ')})`,
      `(${[...items, '0'].join(', ')})`,
      `(${items.join(', ').replace(/\d+$/, '77')})`,
      `\\{${items.join(', ')}\\}`,
      `-(${items.join(', ')})`,
    ],
  };
}

function interval(r: Random): Value {
  const [a, b] = [r.int(-9, 0), r.int(1, 9)];
  const [open, close] = [r.pick(['(', '[']), r.pick([')', ']'])];
  const [low, high] = [open === '(' ? '<' : '\\le', close === ')' ? '<' : '\\le'];
  const flip = { '(': '[', '[': '(', ')': ']', ']': ')' };
  return {
    kind: 'interval',
    text: `x \\in ${open}${a}, ${b}${close}`,
    same: [
      `\\left${open}${a}, ${b}\\right${close}`,
      `${a} ${low} x ${high} ${b}`,
      `${b} ${high === '<' ? '>' : '\\ge'} x ${low === '<' ? '>' : '\\ge'} ${a}`,
      `\\{x \\mid ${a} ${low} x ${high} ${b}\\}`,
      `x ${low === '<' ? '>' : '\\ge'} ${a} \\text{ and } x ${high} ${b}`,
    ],
    other: [
      `x \\in ${flip[open as '(']}${a}, ${b}${close}`,
      `x \\in ${open}${a}, ${b}${flip[close as ')']}`,
      `x \\in ${open}${a}, ${b + 1}${close}`,
      `${a} ${low} x`,
      `${a} ${low} y ${high} ${b + 1}`,
      `\\{${a}, ${b}\\}`,
      `x \\notin ${open}${a}, ${b}${close}`,
      `x \\in ${open}${a}, ${b}${close} \\cup \\{${b + 5}\\}`,
    ],
  };
}

function equation(r: Random): Value {
  const [m, c] = [r.int(2, 9), r.int(1, 9)];
  return {
    kind: 'equation',
    text: `y = ${m}x + ${c}`,
    same: [
      `${m}x + ${c} = y`,
      `y - ${m}x = ${c}`,
      `${m}x - y + ${c} = 0`,
      `y=${c}+${m}x`,
      `2y = ${2 * m}x + ${2 * c}`,
      `y = ${m}*x + ${c}`,
    ],
    other: [
      `y = ${m}x - ${c}`,
      `y = ${m + 1}x + ${c}`,
      `x = ${m}y + ${c}`,
      `y \\ne ${m}x + ${c}`,
      `y < ${m}x + ${c}`,
      `y = ${m}x + ${c}z`,
      `z = ${m}x + ${c}`,
    ],
  };
}

function measure(r: Random): Value {
  const n = r.int(2, 90);
  const [unit, plain, near] = r.pick([
    ['cm', 'centimeters', 'm'],
    ['kg', 'kilograms', 'mg'],
    ['km/h', 'kilometers per hour', 'm/s'],
    ['m^2', 'square meters', 'm'],
    ['J', 'joules', 'W'],
    ['hours', 'hours', 'minutes'],
  ] as const);
  return {
    kind: 'measure',
    text: `${n} \\text{ ${unit}}`,
    same: [
      `${n}\\,\\mathrm{${unit}}`,
      `${n}~\\text{${unit}}`,
      `${n} ${plain}`,
      `${n}\\text{ ${plain}}`,
      String(n),
      `${n}.0 \\text{ ${unit}}`,
    ],
    other: [
      `${n} \\text{ ${near}}`,
      `${n + 1} \\text{ ${unit}}`,
      `-${n} \\text{ ${unit}}`,
      `${n} \\text{ apples}`,
      `${n} \\text{ zorks}`,
      `\\text{at most } ${n} \\text{ ${unit}}`,
    ],
  };
}

function word(r: Random): Value {
  const [a, b] = r.pick([
    ['even', 'odd'],
    ['Wednesday', 'Tuesday'],
    ['parabola', 'hyperbola'],
    ['Alice', 'Bob'],
    ['yes', 'no'],
    ['red', 'blue'],
  ] as const);
  return {
    kind: 'word',
    text: `\\text{${a}}`,
    same: [a, a.toUpperCase(), `\\textbf{${a}}`, `\\mathrm{${a}}`, `\\text{ ${a} }`, a[0]?.toUpperCase() + a.slice(1)],
    other: [
      b,
      `\\text{not ${a}}`,
      `\\text{${a} or ${b}}`,
      `\\text{neither ${a} nor ${b}}`,
      `\\text{${a} and ${b}}`,
      `non-${a}`,
      `${a} ${b}`,
    ],
  };
}

function choice(r: Random): Value {
  const [a, b] = r.pick([
    ['A', 'B'],
    ['B', 'D'],
    ['C', 'A'],
    ['E', 'C'],
  ] as const);
  return {
    kind: 'choice',
    text: a,
    same: [`(${a})`, `\\text{(${a})}`, `\\textbf{(${a})}`, `\\mathrm{${a}}`, `${a}.`, `\\text{${a}}`],
    other: [b, `(${b})`, `${a}, ${b}`, `(${a}) or (${b})`, `\\text{not ${a}}`, `${a}${b}`, `\\text{${a} and ${b}}`],
  };
}

function matrix(r: Random): Value {
  const rows = [
    [r.int(-9, 9), r.int(1, 9)],
    [r.int(10, 19), r.int(20, 29)],
  ];
  const shown = (name: string, m: readonly (readonly number[])[]): string =>
    `\\begin{${name}} ${m.map((row) => row.join(' & ')).join(' \\\\ ')} \\end{${name}}`;
  const [[a = 0, b = 0] = [], [c = 0, d = 0] = []] = rows;
  return {
    kind: 'matrix',
    text: shown('pmatrix', rows),
    same: [
      shown('bmatrix', rows),
      `\\left[${shown('array}{cc', rows).replace('\\end{array}{cc}', '\\end{array}')}\\right]`,
      `\\frac{1}{2}${shown(
        'pmatrix',
        rows.map((row) => row.map((n) => 2 * n)),
      )}`,
      `[[${a}, ${b}], [${c}, ${d}]]`,
    ],
    other: [
      shown('pmatrix', [
        [a, c],
        [b, d],
      ]),
      shown('pmatrix', [
        [a, b],
        [c, d + 1],
      ]),
      shown('pmatrix', [[a, b]]),
      `-${shown('pmatrix', rows)}`,
      `${shown('pmatrix', rows)}^T`,
    ],
  };
}

export const KINDS = [
  integer,
  integer,
  fraction,
  root,
  polynomial,
  set,
  tuple,
  interval,
  equation,
  measure,
  word,
  choice,
  matrix,
];
