// What every data set format keeps: rows in file order, each good or with its problem named, as often as
// asked; and errors that say what is wrong with the file.

import { expect, test } from 'vitest';
import type { BadRow, Dataset, Row } from '../../formats/datasets/dataset.ts';
import type { Query } from '../../domain/query/query.ts';

export interface DatasetPlace {
  /** A data set that holds these rows. */
  readonly write: (rows: readonly object[]) => Dataset;
  readonly open: (file: string) => Dataset;
}

export function datasetContract(name: string, { write, open }: DatasetPlace): void {
  const good = (id: string) => ({ id, question: `What is ${id}?`, answer: '1' });

  test(`${name}: rows come in file order, good and bad, the same each time`, async () => {
    const dataset = write([good('b'), { id: 'x' }, good('a')]);
    const first = await rowsOf(dataset);
    expect(first.map((row) => (row.ok ? row.query.queryId : row.bad.field))).toEqual(['b', 'prompt', 'a']);
    expect(await rowsOf(dataset)).toEqual(first);
  });

  test(`${name}: a bad row says file, line, field, problem and cure`, async () => {
    const [bad] = badOf(await rowsOf(write([good('a'), { id: 'b', question: 5, answer: '1' }])));
    expect(bad).toMatchObject({ line: 2, field: 'question' });
    for (const text of [bad!.file, bad!.problem, bad!.fix]) expect(text.length).toBeGreaterThan(3);
  });

  test(`${name}: a second row of the same id is bad, the first stays good`, async () => {
    const rows = await rowsOf(write([good('a'), good('b'), good('a')]));
    expect(rows.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(badOf(rows)[0]).toMatchObject({ line: 3, field: 'id' });
  });

  test(`${name}: each solution has the field that says it, and one field decides`, async () => {
    const [row] = await rowsOf(write([{ ...good('a'), answer: ['1', '2'], solution: '\\boxed{2}' }]));
    expect(row).toMatchObject({
      query: { solutions: ['1', '2'] },
      stated: {
        solutions: [
          { field: 'answer[0]', text: '1' },
          { field: 'answer[1]', text: '2' },
        ],
        beside: [{ field: 'solution', text: '\\boxed{2}' }],
      },
    });
  });

  test(`${name}: reading may stop at any row`, async () => {
    for await (const row of write([good('a'), good('b')]).rows()) {
      expect(row.ok).toBe(true);
      break;
    }
  });

  test(`${name}: a missing file, a folder, and data without a good row are errors of the data set`, async () => {
    await expect(rowsOf(open('/nowhere/at-all.jsonl'))).rejects.toMatchObject({ reason: 'dataset-missing' });
    await expect(rowsOf(open('/'))).rejects.toMatchObject({ reason: 'dataset-is-folder' });
    await expect(rowsOf(write([]))).rejects.toMatchObject({ reason: 'dataset-empty' });
    await expect(rowsOf(write([{ id: 'x' }]))).rejects.toMatchObject({ reason: 'dataset-no-good-row' });
  });
}

export async function rowsOf(dataset: Dataset): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of dataset.rows()) rows.push(row);
  return rows;
}

export const badOf = (rows: readonly Row[]): BadRow[] => rows.flatMap((row) => (row.ok ? [] : [row.bad]));
export const goodOf = (rows: readonly Row[]): Query[] => rows.flatMap((row) => (row.ok ? [row.query] : []));
