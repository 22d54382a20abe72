// Questions with choices, in the shapes of benchmarks: each is asked with all of its choices and has the right one, or the row
// is a bad row that names the field.

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { LETTERS } from '../../../packages/judge/index.ts';
import { questionOf } from '../../../domain/query/query.ts';
import { openDataset } from '../../../formats/datasets/index.ts';
import { queryFromRow, type RowResult } from '../../../formats/datasets/row.ts';
import { askerOf } from '../../../formats/datasets/wording.ts';
import { rowsOf } from '../../support/rows.ts';

const DRUGS = ['Aspartame', 'Caffeine', 'Warfarin', 'Lactose'] as const;
const [A, B, C, D] = DRUGS;
const QUESTION = 'Which drug thins the blood?';
const LISTED = `${QUESTION}\n\n(A) ${A}\n(B) ${B}\n(C) ${C}\n(D) ${D}`;
const read = (row: object): RowResult => queryFromRow({ question: QUESTION, ...row }, '1');
const said = (row: object): unknown => {
  const result = read(row);
  return result.ok ? [questionOf(result.query), ...result.query.solutions] : { [String(result.field)]: result.problem };
};

describe('choices', () => {
  test.each(rowsOf<{ of: string; row: object }>('./choices.jsonl', import.meta.url))(
    'are listed, and the right one is known: $of',
    ({ row }) => expect(said(row)).toEqual([LISTED, `(C) ${C}`]),
  );

  test.each(rowsOf<{ of: string; row: object; bad: object }>('./choices-unclear.jsonl', import.meta.url))(
    'that cannot be read or told apart make a bad row, with its field: $of',
    ({ row, bad }) => expect(said(row)).toEqual(bad),
  );

  test.each([
    ['an empty list', { choices: [], answer: '42' }],
    ['null', { options: null, answer: '42' }],
    ['an empty text', { options: '', answer: '42' }],
    ['a padded list of nothing', { options: [null, null], answer: '42' }],
    ['Hugging Face’s empty one', { choices: { text: [], label: [] }, answer: '42' }],
    ['numbers of the problem', { a: 1, b: 2, c: 3, answer: '42' }],
  ])('are none in %s', (_, row) => expect(said(row)).toEqual([QUESTION, '42']));

  test('go to Z', () => {
    for (const n of [11, 12, 26]) {
      const choices = [...LETTERS.slice(0, n)].map((letter) => `text ${letter}`);
      const last = LETTERS[n - 1]!;
      for (const answer of [last, n - 1, `text ${last}`]) {
        const [question, solution] = said({ choices, answer }) as string[];
        expect(solution).toBe(`(${last}) text ${last}`);
        expect(question).toContain(`\n(${last}) text ${last}`);
      }
    }
  });

  test('of columns in CSV are listed', async () => {
    const file = fileURLToPath(new URL('fixtures/choices-columns.csv', import.meta.url));
    const rows: string[] = [];
    for await (const row of openDataset(file).rows())
      rows.push(row.ok ? `${questionOf(row.query)} ${row.query.solutions.join()}` : row.bad.problem);
    expect(rows).toEqual([
      'Which of them is prime?\n\n(A) 4\n(B) 7\n(C) 9\n(D) 12 (B) 7',
      'Which city is the capital of France?\n\n(A) Rome\n(B) Paris\n(C) Bonn\n(D) Bern (B) Paris',
    ]);
  });
});

describe('choices whose right one has a field of its own', () => {
  const GPQA = (right: string, ...wrong: string[]) => ({
    Question: QUESTION,
    question: undefined,
    'Correct Answer': `${right}\n`,
    ...Object.fromEntries(wrong.map((text, i) => [`Incorrect Answer ${i + 1}`, text])),
  });
  const SHAPES = [
    GPQA(C, A, B, D),
    { distractor1: A, distractor2: B, distractor3: D, correct_answer: C, support: 'Warfarin does.' },
    { correct_answer: C, incorrect_answers: [A, B, D] },
    { mc1_targets: { choices: [C, A, B, D], labels: [1, 0, 0, 0] }, mc2_targets: { choices: [C, A], labels: [1, 1] } },
  ];

  test('are listed in an order that follows from their texts alone', () => {
    const all = SHAPES.map((row) => said(row) as string[]);
    expect(new Set(all.map((one) => one.join('|'))).size).toBe(1);
    const [question, solution] = all[0]!;
    expect(question).toContain(solution);
    expect(solution).toContain(C);
    for (const text of DRUGS) expect(question).toContain(`) ${text}`);
    expect(said(GPQA(C, D, B, A))).toEqual(all[0]);
  });

  test('say nothing by their order: each place is as often right as another', () => {
    const places = Array.from({ length: 400 }, (_, i) => {
      const [, solution = ''] = said(GPQA(`right ${i}`, `x ${i}`, `y ${i}`, `z ${i}`)) as string[];
      return solution[1];
    });
    for (const letter of 'ABCD') expect(places.filter((one) => one === letter).length).toBeGreaterThan(70);
  });

  test('are a bad row where the right text is a wrong one too', () => {
    expect(said(GPQA(C, A, C, D))).toEqual({ 'Correct Answer': 'has one text twice' });
  });
});

describe('a question with choices', () => {
  test('that lists them by letters is asked as it stands', () => {
    for (const question of [LISTED, `Q: ${QUESTION} A. ${A} B. ${B} C. ${C} D. ${D} Answer:`])
      expect(said({ question, choices: DRUGS, answer: 2 })).toEqual([question, `(C) ${C}`]);
  });

  test('that only mentions them is asked with their letters', () => {
    const question = 'Which is prime, 4 or 7?';
    expect(said({ question, choices: ['4', '7'], answer: 1 })).toEqual([`${question}\n\n(A) 4\n(B) 7`, '(B) 7']);
  });

  test('has the text that it is about: of RACE, LogiQA, AGIEval', () => {
    for (const field of ['article', 'context', 'passage'])
      expect(said({ [field]: 'It was late.', choices: DRUGS, answer: 'C' })).toEqual([
        `It was late.\n\n${LISTED}`,
        `(C) ${C}`,
      ]);
  });

  test('as a chat or a text lists them itself, or is a bad row', () => {
    const chat = (content: string) => ({
      question: undefined,
      messages: [{ role: 'user', content }],
      choices: DRUGS,
      answer: 'C',
    });
    expect(said(chat(LISTED))).toEqual([LISTED, `(C) ${C}`]);
    expect(said(chat(`${QUESTION} 1. ${DRUGS.join(' 2. ')}`))).toEqual([expect.stringContaining(QUESTION), `(C) ${C}`]);
    expect(said(chat(QUESTION))).toEqual({ choices: 'is there, and `messages` does not list the choices' });
    expect(said({ question: undefined, prompt: QUESTION, choices: DRUGS, answer: 'C' })).toEqual({
      choices: 'is there, and `prompt` does not list the choices',
    });
  });

  test('in a template’s words has its choices, once', () => {
    const asked = (template: string) => {
      const row = queryFromRow(
        { ctx: 'He sat', endings: ['down.', 'up.'], label: '0' },
        '1',
        undefined,
        [],
        askerOf({ template }),
      );
      return row.ok && questionOf(row.query);
    };
    expect(asked('Go on: {{ ctx }}')).toBe('Go on: He sat\n\n(A) down.\n(B) up.');
    expect(asked('{{ ctx }} {{ endings | join(" or ") }}')).toBe('He sat down. or up.');
  });
});

describe('a field of such a name', () => {
  test('in the row of an environment or a program may be anything', () => {
    const row = { question: QUESTION, options: { temperature: 1 }, answer: '42' };
    const own = queryFromRow(row, '1', undefined, [{ name: 'mine', begins: false }]);
    const program = queryFromRow(row, '1', undefined, [], undefined, true);
    expect([own, program].map((one) => one.ok && questionOf(one.query))).toEqual([QUESTION, QUESTION]);
    expect(program.ok && program.query.solutions).toEqual(['42']);
    expect(said(row)).toEqual({ options: 'is an object whose keys are no letters' });
  });
});
