// Questions with choices, in the shapes of benchmarks: each is asked with all of its choices and has the right one, or the row
// is a bad row that names the field.

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { LETTERS } from '../../../domain/text/choices.ts';
import { questionOf } from '../../../domain/query/query.ts';
import { openDataset } from '../../../formats/datasets/index.ts';
import { queryFromRow, type RowResult } from '../../../formats/datasets/row.ts';
import { askerOf } from '../../../formats/datasets/wording.ts';

const DRUGS = ['Aspartame', 'Caffeine', 'Warfarin', 'Lactose'] as const;
const [A, B, C, D] = DRUGS;
const QUESTION = 'Which drug thins the blood?';
const LISTED = `${QUESTION}\n\n(A) ${A}\n(B) ${B}\n(C) ${C}\n(D) ${D}`;
const read = (row: object): RowResult => queryFromRow({ question: QUESTION, ...row }, '1');
const said = (row: object): unknown => {
  const result = read(row);
  return result.ok ? [questionOf(result.query), ...result.query.solutions] : { [String(result.field)]: result.problem };
};

/** Each of them asks LISTED, and C is right. */
const SHAPES: Readonly<Record<string, object>> = {
  MMLU: { choices: DRUGS, answer: 2 },
  'MMLU as text': { choices: DRUGS, answer: 'C' },
  'MMLU-Pro': { options: DRUGS, answer: 'C', answer_index: 2 },
  MedQA: { options: { A, B, C, D }, answer: C, answer_idx: 'C', meta_info: 'step1' },
  'objects of one letter': { options: [{ A }, { B }, { C }, { D }], expected_answer: 'C' },
  'an object of letters': { choices: { A, B, C, D }, answer: 'C' },
  'an object of small letters': { choices: { a: A, b: B, c: C, d: D }, answer: 'c' },
  'an object of numbers': { choices: { 1: A, 2: B, 3: C, 4: D }, answer: '3' },
  'objects with label and text': {
    choices: DRUGS.map((text, i) => ({ label: LETTERS[i], text })),
    answer: 'C',
  },
  'objects with key and content': {
    choices: DRUGS.map((content, i) => ({ key: LETTERS[i], content })),
    answerKey: 'C',
  },
  'objects with the right one marked': { choices: DRUGS.map((text) => ({ text, is_correct: text === C })) },
  'ARC, OpenBookQA, CommonsenseQA': { choices: { text: DRUGS, label: ['A', 'B', 'C', 'D'] }, answerKey: 'C' },
  'ARC with numbers': { choices: { text: DRUGS, label: ['1', '2', '3', '4'] }, answerKey: '3' },
  'padded lists': { options: [...DRUGS, null, null], answer: 'C' },
  'padded lists of both': { choices: { text: [...DRUGS, null], label: ['A', 'B', 'C', 'D', null] }, answerKey: 'C' },
  'a padded object': { options: { A, B, C, D, E: null, F: '' }, answer: 'C' },
  'AQuA-RAT': { options: DRUGS.map((text, i) => `${LETTERS[i]})${text}`), correct: 'C' },
  AGIEval: { options: DRUGS.map((text, i) => `(${LETTERS[i]})${text}`), label: 'C', answer: null },
  MathQA: { options: `a ) ${A} , b ) ${B} , c ) ${C} , d ) ${D}`, correct: 'c' },
  'a listing in a text': { options: `A. ${A}\nB. ${B}\nC. ${C}\nD. ${D}`, answer: 'C' },
  'JSON in a text': { choices: JSON.stringify(DRUGS), answer: 'C' },
  'JSON of an object in a text': { options: JSON.stringify({ A, B, C, D }), answer: 'C' },
  'C-Eval, CMMLU': { A, B, C, D, Answer: 'C', explanation: '' },
  'MedMCQA with an answer': { opa: A, opb: B, opc: C, opd: D, answer: 'C' },
  'columns option_a': { option_a: A, option_b: B, option_c: C, option_d: D, answer: 'c' },
  'columns Option A': { 'Option A': A, 'Option B': B, 'Option C': C, 'Option D': D, answer: C },
  'columns choice_a with an empty one': {
    choice_a: A,
    choice_b: B,
    choice_c: C,
    choice_d: D,
    choice_e: '',
    answer: 'C',
  },
  'columns ending0': { ending0: A, ending1: B, ending2: C, ending3: D, label: 2 },
  'columns option1': { option1: A, option2: B, option3: C, option4: D, answer: C },
  'small columns': { a: A, b: B, c: C, d: D, answer: 'C' },
  'HellaSwag’s endings': { endings: DRUGS, label: '2' },
  'the letter and its text': { choices: DRUGS, answer: `C. ${C}` },
  verl: { choices: DRUGS, reward_model: { ground_truth: 'C' } },
  'a list of one': { choices: DRUGS, answer: ['C'] },
  'a label that means something else': { choices: DRUGS, answer: 'C', label: 'pharmacy', correct: true },
  'LogiQA’s number': { options: DRUGS, correct_option: 2 },
  'MMLU-Redux': { choices: DRUGS, answer: 2, error_type: 'ok', correct_answer: null },
  'a name in capitals': { OPTIONS: DRUGS, Answer: 'C' },
  'a name with a capital, and one without choices': { Choices: { A, B, C, D }, choices: null, answer: 'C' },
  'ARC, OpenBookQA as first published': {
    question: { stem: QUESTION, choices: DRUGS.map((text, i) => ({ label: LETTERS[i], text })) },
    answerKey: 'C',
  },
};

describe('choices', () => {
  test.each(Object.entries(SHAPES))('are listed, and the right one is known: %s', (_, row) => {
    expect(said(row)).toEqual([LISTED, `(C) ${C}`]);
  });

  test.each([
    [
      'an unknown key',
      { choices: { first: A, second: B }, answer: A },
      { choices: 'is an object whose keys are no letters' },
    ],
    ['booleans', { choices: [true, false], answer: 0 }, { 'choices[0]': 'is a boolean' }],
    ['nested lists', { options: [[A], [B]], answer: 'A' }, { 'options[0]': 'is a list' }],
    ['a text without letters', { options: 'Aspartame, Caffeine', answer: 'A' }, { options: 'is a text, not a list' }],
    ['Python’s list', { options: "['a', 'b']", answer: 'A' }, { options: 'is a text that is no JSON' }],
    ['a number', { choices: 4, answer: 'A' }, { choices: 'is a number' }],
    ['one choice', { choices: [A], answer: 'A' }, { choices: 'has one choice alone' }],
    ['a gap', { choices: [A, null, C], answer: 'A' }, { 'choices[1]': 'is missing between others' }],
    ['a gap of columns', { A, B, D, answer: 'D' }, { D: 'is there without the choice before it' }],
    [
      'objects without text',
      { choices: [{ label: 'A' }, { label: 'B' }], answer: 'A' },
      { 'choices[0]': 'has no text' },
    ],
    ['no answer', { choices: DRUGS }, { answer: 'is missing beside `choices`' }],
    ['no answer in columns', { A, B, C, D }, { answer: 'is missing beside `A`' }],
    ['another letter', { A, B, C, D, answer: 'E' }, { answer: 'is "E", which is none of the choices' }],
    [
      'two right ones',
      { choices: DRUGS.map((text) => ({ text, correct: true })) },
      { choices: 'marks 4 choices as right' },
    ],
    ['two answers', { choices: DRUGS, answer: ['A', 'C'] }, { answer: 'names no choice' }],
    [
      'fields that differ',
      { options: { A, B, C, D }, answer: A, answer_idx: 'C' },
      { answer_idx: 'names another choice than `answer`' },
    ],
    ['MedMCQA’s number', { opa: A, opb: B, opc: C, opd: D, cop: 2 }, { cop: 'is 2, which may count from 0 or from 1' }],
    ['KMMLU’s number', { A, B, C, D, answer: 1 }, { answer: 'is 1, which may count from 0 or from 1' }],
    ['KMMLU’s last number', { A, B, C, D, answer: 4 }, { answer: 'is 4, which may count from 0 or from 1' }],
    ['a number beyond columns', { A, B, C, D, answer: 5 }, { answer: 'is 5, and there are 4 choices' }],
    [
      'MMLU-Redux’s finding that none is right',
      { choices: DRUGS, answer: 2, error_type: 'no_correct_answer', correct_answer: null },
      { error_type: 'is "no_correct_answer"' },
    ],
    [
      'numbered columns',
      { option1: A, option2: B, answer: '1' },
      { answer: 'is "1", which may count from 0 or from 1' },
    ],
    [
      'a number and labels of digits',
      { choices: { 1: A, 2: B, 3: C }, answer: 2 },
      { answer: 'is 2, which may be two of the choices' },
    ],
    ['numbers and a number', { choices: [1, 2, 3], answer: 1 }, { answer: 'is 1, which may be two of the choices' }],
    [
      'one text twice as the answer',
      { choices: [A, A, C], answer: A },
      { answer: 'is "Aspartame", which may be two of the choices' },
    ],
    ['27 choices', { choices: [...LETTERS, 'more'], answer: 'A' }, { choices: 'has 27 choices' }],
  ])('that cannot be read or told apart make a bad row, with its field: %s', (_, row, problem) => {
    expect(said(row)).toEqual(problem);
  });

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
