// Statements of an answer as models write them, and the same value taken back, denied or said of something else. The forms
// stand in statements.txt; each is filled in with several values, in a box and without.

import { readFileSync } from 'node:fs';

export interface Statement {
  readonly form: string;
  readonly solution: string;
  readonly answer: string;
  readonly expected: 'right' | 'wrong';
}

const forms = new Map<string, readonly string[]>();
for (const section of readFileSync(new URL('./statements.txt', import.meta.url), 'utf8')
  .split(/^# /m)
  .slice(1)) {
  const [name = '', ...lines] = section.split('\n');
  forms.set(
    name,
    lines.filter((line) => line !== '').map((line) => line.replaceAll('⏎', '\n')),
  );
}
const of = (name: string): readonly string[] => forms.get(name) ?? [];

const NUMBERS = [
  ['18', '21'],
  ['6', '7'],
  ['1296', '1295'],
] as const;
const FORMULAS = [
  ['\\frac{5}{36}', '\\frac{7}{36}'],
  ['2\\sqrt{3}', '3\\sqrt{2}'],
] as const;

/** A stands for the value, O for another one. */
const filled = (form: string, letter: string, value: string, other: string): string =>
  form
    .replaceAll(new RegExp(`(?<![A-Za-z\\\\])${letter}(?![A-Za-z'])`, 'g'), () => value)
    .replaceAll(/(?<![A-Za-z\\])O(?![A-Za-z])/g, () => other);

export function* statements(): Generator<Statement> {
  const stated: { readonly said: string; readonly solution: string; readonly other: string }[] = [];
  const make = (
    form: string,
    solution: string,
    other: string,
    answer: string,
    expected: 'right' | 'wrong',
  ): Statement => ({
    ...{ form, solution, answer, expected },
  });
  for (const [value, other] of [...NUMBERS, ...FORMULAS])
    for (const form of of('box')) {
      const answer = filled(form, 'V', value, other);
      stated.push({ said: answer, solution: value, other });
      yield make(form, value, other, answer, 'right');
    }
  for (const [value, other] of NUMBERS)
    for (const form of of('prose')) {
      const answer = filled(form, 'V', value, other);
      if (/[.。]$/.test(answer)) stated.push({ said: answer, solution: value, other });
      yield make(form, value, other, answer, 'right');
    }
  // Each way to take it back behind each statement: every statement meets some, every form meets many.
  for (const [k, { said, solution, other }] of stated.entries())
    for (const [n, form] of of('taken back').entries())
      if ((k + n) % 4 === 0)
        yield make(
          form,
          solution,
          other,
          filled(form, 'O', other, other).replace('S', () => said),
          'wrong',
        );
  for (const name of ['denied', 'another quantity'])
    for (const form of of(name))
      for (const [value, other] of [...NUMBERS, ...FORMULAS])
        for (const shown of [
          `$\\boxed{${value}}$`,
          `\\boxed{${value}}`,
          `\\(${value}\\)`,
          ...(/^\d/.test(value) ? [value] : []),
        ])
          yield make(form, value, other, filled(form, 'B', shown, other), 'wrong');
  for (const form of of('no statement'))
    for (const [value, other] of NUMBERS) yield make(form, value, other, filled(form, 'V', value, other), 'wrong');
}
