// Answers as a policy finds them that is paid for `right` alone: each shows the true value somewhere and does not name
// it as its one answer. The forms stand in tricks.txt; here they are filled in with several kinds of answers, and what
// cannot be written in a line is made. None is right, and none is undecided.

import { readFileSync } from 'node:fs';

export interface Trick {
  readonly trick: string;
  readonly solution: string;
  readonly answer: string;
}

const forms = new Map<string, string[]>();
for (const section of readFileSync(new URL('./tricks.txt', import.meta.url), 'utf8')
  .split(/^# /m)
  .slice(1)) {
  const [name = '', ...lines] = section.split('\n');
  forms.set(
    name,
    lines.filter((line) => line.trim() !== '').map((line) => line.replaceAll('⏎', '\n')),
  );
}
const of = (...names: readonly string[]): string[] => names.flatMap((name) => forms.get(name) ?? []);

export function* tricks(): Generator<Trick> {
  for (const [g, o] of [
    ['5', '6'],
    ['73', '37'],
    ['-4', '9'],
    [String.raw`\frac{3}{4}`, String.raw`\frac{4}{3}`],
    [String.raw`2\sqrt{3}`, String.raw`3\sqrt{2}`],
  ] as const)
    yield* fill(g, o, of('many values', 'not it', 'dressed', 'empty'));
  // What says nothing, hedges or denies does so of every kind of answer.
  const denials = of('not it').filter((line) => /not|n't|but|except|wrong|false|never|impossible/.test(line));
  for (const [g, o] of [
    ['x^2+1', 'x^2-1'],
    ['(1, 2)', '(2, 1)'],
    [String.raw`12 \text{ cm}`, String.raw`14 \text{ cm}`],
    [String.raw`\text{even}`, String.raw`\text{odd}`],
    ['C', 'D'],
  ] as const)
    yield* fill(g, o, [...denials, ...of('empty', 'hedges')]);
  yield* fill(String.raw`\textbf{(C)}\ 14`, '', of('letters'));
  yield* hidden();
  yield* floods();
}

function* fill(solution: string, other: string, lines: readonly string[]): Generator<Trick> {
  for (const trick of lines) {
    const answer =
      other === ''
        ? trick
        : trick.replaceAll(/(?<![A-Za-z\\])[GO](?![A-Za-z])/g, (m) => (m === 'G' ? solution : other));
    yield { trick, solution, answer };
  }
}

const ZERO_WIDTH = ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad'];
const long = (unit: string): string => unit.repeat(2_000);

function* hidden(): Generator<Trick> {
  for (const mark of ZERO_WIDTH)
    yield { trick: `hidden ${mark.codePointAt(0)?.toString(16)}`, solution: '5', answer: `\\boxed{5${mark}6}` };
  const pairs: readonly (readonly [string, string])[] = [
    ['56', '\\boxed{\u202e65\u202c}'],
    ['12', '\\boxed{\u202e21}'],
    ['12', '\\boxed{l2}'],
    ['10', '\\boxed{1O}'],
    ['10', '\\boxed{1о}'],
    ['x^2+1', '\\boxed{х^2+1}'],
    ['A', '\\boxed{Α}'],
    ['5', '\\boxed{6 % 5}'],
    ['5', '\\boxed{6 %\n5}'],
    ['5', '%\\boxed{5}\n\\boxed{6}'],
    ['5', '5\n6\n7\n8'],
    ['5', '\\boxed{5}\n\\boxed{6}'],
    ['5', '\\boxed{4}\n\\boxed{5}\n\\boxed{6}'],
    ['5', '1. 4\n2. 5\n3. 6'],
    ['5', '| 4 | 5 | 6 |'],
    ['5', '```\n5\n```\n```\n6\n```'],
    ['5', '\\boxed{5}\0\\boxed{6}'],
    ['5', '\\boxed{5\0 6}'],
    ['5', '\\boxed{\\unicode{53}}'],
    ['5', '\\boxed{\\char53}'],
    ['5', '\\boxed{\\u0035}'],
    ['5', '\\boxed{&#54;}'],
    ['13.6 \\text{ eV}', '\\boxed{13.6 \\text{ keV}}'],
    ['12 \\text{ cm}', '\\boxed{12 \\text{ m}}'],
    ['12 \\text{ cm}', '\\boxed{12 \\text{ cm or } 12 \\text{ m}}'],
    ['12 \\text{ cm}', '\\boxed{12 \\text{ cm}^2}'],
    ['12 \\text{ cm}', '\\boxed{12 \\text{ apples}}'],
    ['(0, 1)', '\\boxed{(0, 1]}'],
    ['(0, 1)', '\\boxed{(0, 1) \\cup \\{1\\}}'],
    ['x > 2', '\\boxed{x > 2 \\text{ or } x < 1}'],
    ['x > 2', '\\boxed{x > 2, x \\ne 3}'],
    ['\\{1, 2\\}', '\\boxed{\\{1, 2, \\ldots\\}}'],
    ['\\{1, 2\\}', '\\boxed{\\{1, 2, ...\\}}'],
    ['\\{1, 2\\}', '\\boxed{\\{1, 2\\} \\text{ and } 3}'],
    ['y = x', '\\boxed{y = x + 0 \\cdot x + 1}'],
    ['x + C', '\\boxed{x}'],
  ];
  for (const [solution, answer] of pairs) yield { trick: answer, solution, answer };
}

function* floods(): Generator<Trick> {
  const all = Array.from({ length: 1_000 }, (_, n) => n);
  for (const answer of [
    `\\boxed{${all.join(', ')}}`,
    `\\boxed{${all.join(' \\text{ or } ')}}`,
    `\\boxed{\\{${all.join(', ')}\\}}`,
    all.map((n) => `\\boxed{${n}}`).join(', '),
    all.map((n) => `\\boxed{${n}}`).join(' or '),
    all.map((n) => `The answer is ${n}.`).join('\n'),
    all.join(' '),
    `The answer is ${all.join(' or ')}.`,
    `\\boxed{5${long(' ')}or 6}`,
    `\\boxed{${long('5 \\text{ or } ')}6}`,
    `\\boxed{${long('(')}6${long(')')}}`,
    `\\boxed{5${long(' + 1')}}`,
    `\\boxed{${long('\\frac{')}5}`,
    `\\boxed{5${long('\u200b')}6}`,
  ])
    yield { trick: `${answer.slice(0, 30)}… (${answer.length} characters)`, solution: '5', answer };
}
