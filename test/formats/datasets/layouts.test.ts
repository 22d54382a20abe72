// Data sets' own layouts, a fixture each, read and examined as a run reads them: what is asked, and what is right.

import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Row } from '../../../formats/datasets/dataset.ts';
import { examinedRows } from '../../../formats/datasets/examine.ts';
import { openDataset } from '../../../formats/datasets/index.ts';
import { questionOf } from '../../../domain/query/query.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';

const folder = join(import.meta.dirname, 'fixtures');
const judge = createMathJudge();
afterAll(() => judge.close());

async function readAll(name: string): Promise<Row[]> {
  const file = join(folder, `${name}.jsonl`);
  const rows: Row[] = [];
  for await (const row of examinedRows(openDataset(file).rows(), file, createSolutionReader(judge))) rows.push(row);
  return rows;
}

/** A row is its id and solutions, or the field that is wrong and what the message says. */
type Expected = readonly [id: string, ...solutions: string[]] | { readonly bad: string; readonly says: RegExp };

const LAYOUTS: Readonly<Record<string, readonly Expected[]>> = {
  math: [
    ['1', expect.stringContaining('\\boxed{12}')],
    { bad: 'solution', says: /Figure 2\." and marks no final answer\. Put it into \\boxed/ },
    ['3', expect.stringContaining('\\boxed{-3}')],
  ],
  'math-500': [
    ['test/precalculus/807.json', '\\left( 3, \\frac{\\pi}{2} \\right)'],
    { bad: 'solution', says: /says "7", and `answer` says "9"/ },
  ],
  'aime-1983-2024': [['1983-I-1', '60']],
  'aime-2024': [['2024-II-4', '33'], { bad: 'Solution', says: /says "240", and `Answer` says "204"/ }],
  'aimo-amc': [['0', '142']],
  gsm8k: [
    ['1', expect.stringContaining('#### 72')],
    ['2', expect.stringContaining('#### 160,000')],
    { bad: 'answer', says: /marks no final answer/ },
  ],
  mgsm: [['1', '11']],
  deepscaler: [
    ['1', '\\frac{1}{2}'],
    ['2', '-3'],
  ],
  'numina-cot': [['1', expect.stringContaining('\\boxed{12}')]],
  'numina-1.5': [
    ['1', '60'],
    { bad: 'answer', says: /is "proof"/ },
    { bad: 'solution', says: /marks no final answer/ },
    ['4', 'B'],
    { bad: 'problem_is_valid', says: /is "Incomplete"/ },
  ],
  olympiadbench: [
    ['1606', '$3,-1,4$'],
    ['1607', '$4 \\pi$'],
    { bad: 'error', says: /a tolerance/ },
    { bad: 'image_1', says: /pictures/ },
  ],
  verl: [
    ['1', '34'],
    ['2', '72'],
    ['3', '\\frac{1}{2}', '0.5'],
    { bad: 'reward_model.ground_truth', says: /is missing/ },
  ],
  'open-r1': [['1', '56']],
  areal: [['q-1', '\\boxed{7}', '$\\boxed{7.0}$'], { bad: 'solutions[0]', says: /marks no final answer/ }],
  'big-math': [['1', '\\dfrac{3}{4}']],
  'omni-math': [['1', '4']],
  svamp: [['chal-1', '51']],
  asdiv: [['1', '9']],
  mmlu: [
    ['1', '(C) 6'],
    ['2', '(B) Paris'],
    { bad: 'answer', says: /may be two of the choices/ },
    { bad: 'answer', says: /is 7, and there are 2 choices/ },
  ],
  'mmlu-pro': [['1', '(D) 9'], { bad: 'answer_index', says: /another choice than `answer`/ }],
  arc: [['Mercury_7175875', '(B) iron']],
  'openai-chat': [
    ['1', '42'],
    { bad: 'messages[0].content[1]', says: /is of type "image_url"/ },
    { bad: 'messages', says: /ends with the assistant's own words/ },
  ],
  everturn: [
    ['a', '2'],
    ['b', '2', '3'],
    ['c', '1/4', 'so it is \\boxed{0.25}', '#### .25'],
    ['d', '42'],
    { bad: 'solution', says: /marks no final answer/ },
    { bad: 'solutions[0]', says: /says "6", and `answer` says "5"/ },
    { bad: 'answer[1]', says: /marks no final answer/ },
  ],
};

describe('layouts of data sets', () => {
  test.each(Object.entries(LAYOUTS))('%s is read as its authors mean it', async (name, expected) => {
    const rows = await readAll(name);
    const seen = rows.map((row) =>
      row.ok
        ? [row.query.queryId, ...row.query.solutions]
        : { bad: row.bad.field, says: `${row.bad.problem}. ${row.bad.fix}` },
    );
    expect(seen).toEqual(
      expected.map((one) => ('bad' in one ? { bad: one.bad, says: expect.stringMatching(one.says) } : one)),
    );
  });

  test.each([
    ['svamp', 0, 'Each pack costs 76 dollars. With a discount of 25 dollars, how much does a pack cost?'],
    ['asdiv', 0, 'Seven red apples and two green apples are in the basket. How many apples are in the basket?'],
    ['olympiadbench', 1, 'A disc has radius 2.\n\nWhat is its area?'],
    ['mmlu', 0, 'What is the order of $S_3$?\n\n(A) 2\n(B) 3\n(C) 6\n(D) 12'],
    ['openai-chat', 0, 'What is 6*7?'],
    ['numina-cot', 0, 'What is $3\\cdot 4$?'],
    ['open-r1', 0, 'What is $7\\cdot 8$?'],
  ])('%s, row %i, asks the whole of its question and nothing of its answer', async (name, at, question) => {
    const row = (await readAll(name))[at];
    expect(row?.ok && questionOf(row.query)).toBe(question);
    expect(row?.ok && row.query.prompt.kind === 'messages' && row.query.prompt.messages.at(-1)?.role).toBe('user');
  });
});
