// CSV and Parquet data sets: the contract of data sets, hostile files, and the same rows as JSON lines give.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { questionOf } from '../../../domain/query/query.ts';
import { csvRecords } from '../../../formats/datasets/csv.ts';
import { openDataset } from '../../../formats/datasets/index.ts';
import { parquetDataset } from '../../../formats/datasets/parquet.ts';
import { badOf, datasetContract, goodOf, rowsOf } from '../../contract/dataset.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-tables-'));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
function file(content: string | Uint8Array, extension: string): string {
  const path = join(root, `${files++}${extension}`);
  writeFileSync(path, content);
  return path;
}
const csv = (content: string | Uint8Array, extension = '.csv') => rowsOf(openDataset(file(content, extension)));

type RowObject = Readonly<Record<string, unknown>>;
const columnsOf = (rows: readonly object[]) => [...new Set(rows.flatMap((row) => Object.keys(row)))];
const textOf = (value: unknown) => (typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value));
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

function csvText(rows: readonly object[]): string {
  const names = columnsOf(rows);
  const line = (row: object) => names.map((name) => quoted(textOf((row as RowObject)[name]))).join(',');
  return [names.join(','), ...rows.map(line)].map((text) => `${text}\r\n`).join('');
}

/** Every column as text or, for lists and objects, as JSON. */
function parquetBytes(rows: readonly object[]): Uint8Array {
  const columnData = columnsOf(rows).map((name) => {
    const data = rows.map((row) => (row as RowObject)[name] ?? null);
    const plain = data.every((value) => value === null || typeof value === 'string');
    return { name, data, type: plain ? ('STRING' as const) : ('JSON' as const) };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 }));
}

describe('a Parquet data set', () => {
  datasetContract('parquet', {
    write: (rows) =>
      rows.length > 0
        ? parquetDataset(file(parquetBytes(rows), '.parquet'))
        : parquetDataset(
            file(
              new Uint8Array(
                parquetWriteBuffer({ columnData: [{ name: 'id', data: [] as string[], type: 'STRING' }] }),
              ),
              '.parquet',
            ),
          ),
    open: parquetDataset,
  });

  test.each(['verl', 'verl-zstd'])(
    '%s: its layout is read, by row, and a row without an answer is bad',
    async (name) => {
      const rows = await rowsOf(openDataset(join(import.meta.dirname, `made/${name}.parquet`)));
      expect(goodOf(rows)).toEqual([
        expect.objectContaining({
          queryId: '1',
          prompt: { kind: 'messages', messages: [{ role: 'user', content: expect.stringMatching(/^What is 48/) }] },
          solutions: ['72'],
        }),
        expect.objectContaining({ queryId: '2', solutions: ['1.5'] }),
      ]);
      expect(badOf(rows)).toEqual([
        expect.objectContaining({ line: 3, file: expect.stringContaining(`${name}.parquet`) }),
      ]);
    },
  );

  test('numbers are the digits that were written: float32, decimals, 64-bit integers', async () => {
    const bytes = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'question', data: ['a?', 'b?'], type: 'STRING' },
          { name: 'answer', data: [0.1, 1234.5], type: 'FLOAT' },
        ],
      }),
    );
    expect(goodOf(await rowsOf(parquetDataset(file(bytes, '.parquet')))).map((query) => query.solutions)).toEqual([
      ['0.1'],
      ['1234.5'],
    ]);
    const large = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'question', data: ['a?', 'b?'], type: 'STRING' },
          { name: 'answer', data: [42n, 2n ** 60n + 1n], type: 'INT64' },
        ],
      }),
    );
    const rows = await rowsOf(parquetDataset(file(large, '.parquet')));
    expect(goodOf(rows).map((query) => query.solutions)).toEqual([['42']]);
    expect(badOf(rows)[0]).toMatchObject({ line: 2, field: 'answer', problem: expect.stringContaining('too large') });
  });

  test.each(['verl', 'verl-zstd'])(
    '%s: cut or altered anywhere it is an error or its other rows, in bounded time',
    async (name) => {
      const whole = readFileSync(join(import.meta.dirname, `made/${name}.parquet`));
      const outcome = async (bytes: Uint8Array) =>
        rowsOf(parquetDataset(file(bytes, '.parquet'))).then(
          () => 'rows',
          (error: { reason?: string }) => error.reason,
        );
      for (const size of [0, 4, 11, 12, 100, whole.length - 1])
        expect(await outcome(whole.subarray(0, size)), `${size} bytes`).toBe('dataset-unreadable');
      const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
          const bytes = Buffer.from(whole);
          for (const [at, value] of changes) bytes[at] = value;
          const start = process.cpuUsage();
          expect(['rows', 'dataset-unreadable', 'dataset-no-good-row', 'dataset-empty']).toContain(
            await outcome(bytes),
          );
          expect(process.cpuUsage(start).user).toBeLessThan(5e6);
        }),
        { numRuns: process.env['EVERTURN_TESTS'] === 'all' ? 300 : 50 },
      );
    },
  );
});

describe('a CSV data set', () => {
  const head = 'id,question,answer\n';

  test('rows come in file order, good and bad, each with its line, and ids are unique', async () => {
    const rows = await csv(`${head}b,What?,1\n\nx,,\n"a","Two\nlines?",2\nb,Again?,3`);
    expect(rows.map((row) => (row.ok ? [row.line, row.query.queryId] : [row.bad.line, row.bad.field]))).toEqual([
      [2, 'b'],
      [4, 'prompt'],
      [5, 'a'],
      [7, 'id'],
    ]);
  });

  test('quotes, separators, line ends, a byte order mark and CRLF change nothing of a cell', async () => {
    const texts = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\n', '\r', '\t', ';', ' ', 'é', '😀', "'", '\\'),
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(texts, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        async (questions, crlf, blockSize) => {
          const end = crlf ? '\r\n' : '\n';
          const text = `\ufeffquestion,x${end}${questions.map((one) => `${quoted(one)},"${one.length}"${end}`).join('')}`;
          const bytes = Buffer.from(text);
          async function* blocks() {
            for (let at = 0; at < bytes.length; at += blockSize) yield bytes.subarray(at, at + blockSize);
          }
          const records: string[] = [];
          for await (const some of csvRecords(blocks(), 0x2c, 1000))
            records.push(...some.map((record) => record.bytes!.toString('utf8')));
          expect(records.slice(1)).toEqual(questions.map((one) => `${quoted(one)},"${one.length}"`));
        },
      ),
    );
    const rows = await csv(`\ufeffid,question,answer\r\n"a","Say ""hi"", then\r\nadd 1, 2","3"\r\n`);
    expect(goodOf(rows)[0]).toMatchObject({ queryId: 'a', solutions: ['3'] });
    expect(JSON.stringify(goodOf(rows)[0]!.prompt)).toContain('Say \\"hi\\", then\\r\\nadd 1, 2');
  });

  test('a table of JSON rows gives the queries that the same JSON lines give', async () => {
    const rows = [
      { id: 'm', messages: [{ role: 'user', content: 'One, "two"\nthree?' }], answer: '3' },
      { id: 's', question: 'Which?', solutions: ['\\boxed{2}', '2'] },
      {
        id: 'v',
        prompt: [{ role: 'user', content: 'What is 1 + 1?' }],
        reward_model: { style: 'rule', ground_truth: '2' },
      },
      { id: 't', prompt: '[INST] raw text [/INST]', answer: '[1, 2]' },
      { id: 'c', question: 'Pick.', choices: ['7', '8'], answer: 'B' },
    ];
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(goodOf(await csv(csvText(rows)))).toEqual(goodOf(await rowsOf(openDataset(file(lines, '.jsonl')))));
  });

  test.each([
    ['too few cells', 'a,What?', 'has 2 cells, and the header has 3'],
    ['too many cells', 'a,What?,1,2', 'has 4 cells, and the header has 3'],
    ['text behind a closing quote', 'a,"What"? no,1', 'behind a closing quote'],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x2c, 0xff, 0x2c, 0x31]), 'not UTF-8'],
  ])('%s make that row bad, and no other', async (_, row, problem) => {
    const bytes = Buffer.concat([
      Buffer.from(`${head}first,What?,1\n`),
      Buffer.from(row as string),
      Buffer.from('\nlast,What?,1\n'),
    ]);
    const rows = await csv(bytes);
    expect(goodOf(rows).map(({ queryId }) => queryId)).toEqual(['first', 'last']);
    expect(badOf(rows)).toEqual([expect.objectContaining({ line: 3, problem: expect.stringContaining(problem) })]);
  });

  test('a list as Python prints it is a bad row that names the cell', async () => {
    const rows = await csv(`id,question,solutions\na,What?,"['1']"\nb,What?,"[""1""]"\n`);
    expect(goodOf(rows).map(({ queryId }) => queryId)).toEqual(['b']);
    expect(badOf(rows)[0]).toMatchObject({ line: 2, field: 'solutions', fix: expect.stringContaining('json.dumps') });
  });

  test('a quote that nothing closes is one bad row, named by the line on which it begins', async () => {
    const rows = await csv(`${head}a,What?,1\nb,"What?,1\nc,What?,1\n`);
    expect(badOf(rows)).toEqual([expect.objectContaining({ line: 3, problem: 'opens a quote that nothing closes' })]);
  });

  test('a record of 40 MiB is a bad row, and is never held', async () => {
    const limit = 1 << 20;
    async function* blocks() {
      yield Buffer.from('h\n"');
      for (let i = 0; i < 40; i++) yield Buffer.alloc(1 << 20, 'x');
      yield Buffer.from('"\nnext\n');
    }
    const found: [number, number | undefined, number][] = [];
    // Garbage that nobody has collected yet is not held.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for await (const records of csvRecords(blocks(), 0x2c, limit)) {
      collect();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      for (const { line, bytes, length } of records) found.push([line, bytes?.length, length]);
    }
    expect(found).toEqual([
      [1, 1, 1],
      [2, undefined, 40 * (1 << 20) + 2],
      [3, 4, 4],
    ]);
    expect(most).toBeLessThan(10 << 20);
  });

  test.each(['null', 'None', 'NaN', 'nan', ' NULL ', '<NA>', '#N/A', 'N/A', 'NaT', 'undefined'])(
    'an answer %j is a bad row by its name: a table’s missing value is no answer',
    async (cell) => {
      for (const field of ['answer', 'solution', 'final_answer']) {
        const rows = await csv(`id,question,${field},other\na,What?,${cell},${cell}\nb,Again?,7,${cell}\n`);
        expect(badOf(rows)).toMatchObject([{ line: 2, field, problem: expect.stringContaining('missing value') }]);
        expect(goodOf(rows)).toHaveLength(1);
      }
      const meant = await csv(`id,question,solutions\na,Which?,"[""${cell}""]"\n`);
      expect(goodOf(meant)).toMatchObject([{ solutions: [cell] }]);
    },
  );

  test.each([
    ['id,question,id\n1,2,3\n', 'names "id" twice'],
    ['question|answer\nWhat?|1\n', 'is one column'],
    ['question,answer\rWhat?,1\r', 'end in CR alone'],
  ])('the header %j is refused', async (text, problem) => {
    await expect(csv(text)).rejects.toMatchObject({ message: expect.stringContaining(problem) });
  });

  test.each([
    ['question;answer\n"One; or, two\n?";1\n', ['One; or, two\n?']],
    ['\ufeffsep=;\r\nquestion;answer\r\nOne?;1\r\n', ['One?']],
    ['question\tanswer\nOne, two?\t1\n', ['One, two?']],
    ['question,answer\nOne; two?,1\n', ['One; two?']],
  ])('the header %j says what separates its columns', async (text, asked) => {
    expect(goodOf(await csv(text)).map(questionOf)).toEqual(asked);
  });

  test('a comma between digits in an answer is no separator of thousands or lists unasked where semicolons separate columns', async () => {
    const rows = await csv('question;answer;solutions\nA, 1?;3,14;\nB?;"1,234";\nC?;;"[""3,14""]"\nD?;3.14;\n');
    expect(badOf(rows)).toMatchObject([
      { line: 2, field: 'answer', fix: expect.stringContaining('Write 3.14 for a decimal') },
      { line: 3, field: 'answer' },
    ]);
    expect(goodOf(rows).map(questionOf)).toEqual(['C?', 'D?']);
  });

  test('tabs, gzip and an index column without a name are read', async () => {
    expect(goodOf(await csv('id\tquestion\tanswer\na\tOne, two?\t3\n', '.tsv'))).toHaveLength(1);
    expect(goodOf(await csv(gzipSync(',question,answer\n0,What?,1\n'), '.csv.gz'))[0]).toMatchObject({ queryId: '2' });
  });
});
