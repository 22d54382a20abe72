// A user's own page beside its data: columns that it names, and the rows that it says there are.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { rowsNamed as readBenchmark } from './read-benchmark.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-pages-'));
const judge = createMathJudge();
afterAll(() => {
  judge.close();
  rmSync(root, { recursive: true });
});

const rowsNamed = (named: string, options?: Parameters<typeof readBenchmark>[3]) =>
  readBenchmark(named, root, createSolutionReader(judge), options);
const put = (name: string, text: string) => {
  writeFileSync(join(root, name), text);
  return name;
};

describe("a user's own page", () => {
  test('that names a column which the data lack is refused by its own line, with the columns that are there', async () => {
    put('few.csv', 'Nr,Frage,Fach,day\n1,Was?,,2025-01-01\n');
    const page = 'title: Few\nsource: { dataset: few.csv }\nscorer: judge\nlayout:\n  fields:\n    id: Nr\n';
    for (const [more, says] of [
      [
        '    question: Fragen\n',
        ':7: `layout.fields.question` names no column: there is no Fragen, but Nr, Frage, Fach, day.',
      ],
      [
        '  dates: { field: Tag }\n',
        ':7: `layout.dates.field` names no column: there is no Tag, but Nr, Frage, Fach, day.',
      ],
    ] as const)
      await expect(rowsNamed(put('few.yaml', page + more))).rejects.toMatchObject({
        reason: 'bad-page',
        message: expect.stringContaining(says) as string,
      });
    put('few.csv', 'Nr,Frage,Antwort,Fach\n1,Was?,2,\n2,Wie?,3,Chemie\n');
    const fields = '    question: Frage\n    answer: Antwort\n    category: Fach\n';
    const { queries } = await rowsNamed(put('few.yaml', page + fields));
    expect(queries.map(({ categories }) => categories)).toEqual([undefined, { category: 'Chemie' }]);
    const rare = Array.from({ length: 3000 }, (_, i) => ({ Nr: i, Frage: 'x'.repeat(300), Antwort: '1' }));
    const rows = [...rare, { Nr: 'last', Frage: 'Wie?', Antwort: '3', Fach: 'Chemie' }];
    put('few.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
    const late = await rowsNamed(put('late.yaml', page.replace('few.csv', 'few.jsonl') + fields));
    expect(late.queries.at(-1)?.categories).toEqual({ category: 'Chemie' });
  });

  test('that says another number of rows than its data have is told so, whatever is taken of them', async () => {
    const row = (day: string, i: number) => `${i},What is ${i}?,${i === 3 ? '' : i},2025-0${day}-01`;
    put('sized.csv', `id,question,answer,day\n${['1', '1', '2', '2', '2'].map(row).join('\n')}\n`);
    const page = 'title: Sized\nsource: { dataset: sized.csv }\nscorer: judge\n';
    const sizeOf = async (more: string, limit: number | null = null) => {
      const { rows } = await rowsNamed(put('sized.yaml', page + more), { limit });
      return [rows.dataset.accepted, rows.dataset.pageSize];
    };
    expect(await sizeOf('')).toEqual([4, undefined]);
    expect(await sizeOf('size: 5\n')).toEqual([4, undefined]);
    expect(await sizeOf('size: 5\n', 1)).toEqual([1, undefined]);
    expect(await sizeOf('size: 4\n')).toEqual([4, { said: 4, rows: 5 }]);
    expect(await sizeOf('size: 4\n', 2)).toEqual([2, { said: 4, rows: 5 }]);
    const window = 'layout: { dates: { field: day, from: 2025-02-01 } }\n';
    expect(await sizeOf(`size: 3\n${window}`, 1)).toEqual([1, undefined]);
    expect(await sizeOf(`size: 5\n${window}`, 1)).toEqual([1, { said: 5, rows: 3 }]);
  });
});
