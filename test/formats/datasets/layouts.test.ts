// Data sets' own layouts, a fixture each, read and examined as a run reads them: what is asked, and what is right.

import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Row } from '../../../formats/datasets/dataset.ts';
import { examinedRows } from '../../../formats/datasets/examine.ts';
import { openDataset } from '../../../formats/datasets/index.ts';
import { questionOf } from '../../../domain/query/query.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { rowsOf } from '../../support/rows.ts';

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
type Expected = readonly (string | { readonly contains: string })[] | { readonly bad: string; readonly says: string };

const LAYOUTS = rowsOf<{ readonly of: string; readonly rows: readonly Expected[] }>('./layouts.jsonl', import.meta.url);

describe('layouts of data sets', () => {
  test.each(LAYOUTS)('$of is read as its authors mean it', async ({ of, rows: expected }) => {
    const rows = await readAll(of);
    const seen = rows.map((row) =>
      row.ok
        ? [row.query.queryId, ...row.query.solutions]
        : { bad: row.bad.field, says: `${row.bad.problem}. ${row.bad.fix}` },
    );
    expect(seen).toEqual(
      expected.map((one) =>
        'bad' in one
          ? { bad: one.bad, says: expect.stringMatching(one.says) }
          : one.map((text) => (typeof text === 'string' ? text : expect.stringContaining(text.contains))),
      ),
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
