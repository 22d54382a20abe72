import fc from 'fast-check';
import { createWriteStream, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { openDataset } from '../../../formats/datasets/index.ts';
import { MAX_LINE_BYTES } from '../../../formats/datasets/json-line.ts';
import { jsonlDataset } from '../../../formats/datasets/jsonl.ts';
import { badRowText } from '../../../formats/datasets/row-fault.ts';
import { badOf, datasetContract, goodOf, rowsOf } from '../../contract/dataset.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-data-'));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
function file(content: string | Uint8Array, extension = '.jsonl'): string {
  const path = join(root, `${files++}${extension}`);
  writeFileSync(path, content);
  return path;
}
const read = (content: string | Uint8Array) => rowsOf(jsonlDataset(file(content)));
const line = (id: string) => JSON.stringify({ id, question: 'What?', answer: '1' });

datasetContract('jsonl', {
  write: (rows) => jsonlDataset(file(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))),
  open: jsonlDataset,
});

describe('a JSONL data set', () => {
  test('a byte order mark, CRLF, blank lines and a missing last line end change nothing', async () => {
    const plain = goodOf(await read(`${line('a')}\n${line('b')}\n`));
    const odd = await read(`\ufeff${line('a')}\r\n\r\n  \n${line('b')}`);
    expect(goodOf(odd)).toEqual(plain);
    expect(odd.map((row) => row.ok && row.line)).toEqual([1, 4]);
  });

  test('an id that is an earlier row’s line number, and the reverse, is a duplicate', async () => {
    const bare = JSON.stringify({ question: 'A?', answer: 'x' });
    expect(badOf(await read(`${bare}\n${line('1')}\n`))[0]).toMatchObject({
      line: 2,
      field: 'id',
      problem: '"1" is the id of line 1, which has none of its own',
    });
    expect(badOf(await read(`${line('2')}\n${bare}\n`))[0]).toMatchObject({
      line: 2,
      field: 'id',
      problem: expect.stringContaining('is missing'),
    });
  });

  test('bytes that are not UTF-8 are named by their line, and other lines stay good', async () => {
    const rows = await read(
      Buffer.concat([
        Buffer.from(`${line('a')}\n{"id":"`),
        Buffer.from([0xc3, 0x28]),
        Buffer.from(`"}\n${line('\ufffd')}\n`),
      ]),
    );
    expect(badOf(rows)).toMatchObject([{ line: 2, field: null, problem: 'holds bytes that are not UTF-8' }]);
    expect(goodOf(rows).map(({ queryId }) => queryId)).toEqual(['a', '\ufffd']);
  });

  test('a UTF-16 file is told so', async () => {
    await expect(read(Buffer.from(`\ufeff${line('a')}`, 'utf16le'))).rejects.toThrow('UTF-16');
  });

  test.each([
    ['on one line', `[${line('a')}, ${line('b')}]`],
    [
      'on many lines',
      JSON.stringify(
        [line('a'), line('b')].map((one) => JSON.parse(one) as object),
        null,
        2,
      ),
    ],
    ['with a bad one', `[\n${line('a')},\n"x]", {"id": "q\\"]", "question": ["[,"]},\n\n${line('b')}\n]\n`],
  ])('the rows of a .json that is one array are its elements, %s', async (_, content) => {
    const rows = await rowsOf(openDataset(file(content, '.json')));
    expect(goodOf(rows).map(({ queryId }) => queryId)).toEqual(['a', 'b']);
    const bad = content.includes('"x]"') ? [{ line: 2 }, { line: 3, field: 'question' }] : [];
    expect(badOf(rows)).toMatchObject(bad);
  });

  test('an array that is cut hides none of its whole rows, and lines in a .json are lines', async () => {
    const cut = await rowsOf(openDataset(file(`[${line('a')},\n${line('b')},\n{"id": "c", "que`, '.json')));
    expect(goodOf(cut)).toHaveLength(2);
    expect(badOf(cut)).toMatchObject([{ line: 3, problem: expect.stringContaining('is not JSON') }]);
    expect(goodOf(await rowsOf(openDataset(file(`${line('a')}\n${line('b')}\n`, '.json'))))).toHaveLength(2);
  });

  test('a JSON array instead of lines is told how to become lines', async () => {
    await expect(read(`[${line('a')}]`)).rejects.toThrow('jq');
    await expect(read(`{"data": [${line('a')}]}`)).rejects.toThrow(
      '`data` is a list of rows. Make a file of them: jq -c ".data[]".',
    );
    await expect(read(`[\n  {\n"id": "a"\n}\n]\n`)).rejects.toThrow('jq');
  });

  test('a line beyond the limit is refused by its number, and the next line is good', async () => {
    const path = join(root, 'long.jsonl');
    const out = createWriteStream(path);
    out.write(`${line('a')}\n{"id":"`);
    const block = 'x'.repeat(1 << 20);
    for (let i = 0; i <= MAX_LINE_BYTES / block.length; i++) out.write(block);
    await new Promise((done) => out.end(`"}\n${line('b')}\n`, () => done(undefined)));
    const rows = await rowsOf(jsonlDataset(path));
    expect(badOf(rows)).toMatchObject([{ line: 2, field: null, problem: expect.stringMatching(/^is 6\d MiB long$/) }]);
    expect(goodOf(rows).map(({ queryId }) => queryId)).toEqual(['a', 'b']);
  });

  test('lines that cross the blocks of a file come out whole', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `${i}-é∞😀${'y'.repeat(i * 20)}`);
    const rows = await read(
      ids.map((id) => `${JSON.stringify({ id, question: '∞'.repeat(40_000), answer: '1' })}\n`).join(''),
    );
    expect(goodOf(rows).map(({ queryId }) => queryId)).toEqual(ids);
  });

  test('a packed file is read as its content; a cut one is an error', async () => {
    const packed = gzipSync(`${line('a')}\n${line('b')}\n`);
    expect(goodOf(await rowsOf(openDataset(file(packed, '.jsonl.gz'))))).toHaveLength(2);
    await expect(rowsOf(openDataset(file(packed.subarray(0, 40), '.jsonl.gz')))).rejects.toMatchObject({
      reason: 'dataset-unreadable',
    });
  });

  test.each(['.jsonl', '.csv', '.jsonl.gz', '.csv.gz'])(
    'a hole of gigabytes in a %s is an error, not a long wait',
    async (end) => {
      const head = end.startsWith('.csv') ? 'question,answer\nWhat?,1\n' : `${line('a')}\n`;
      const packed = end.endsWith('.gz');
      const path = file(packed ? gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(2 ** 24)])) : head, end);
      if (!packed) truncateSync(path, 5 * 2 ** 30);
      await expect(rowsOf(openDataset(path))).rejects.toThrow(`${path} holds 1048576 zero bytes in a row`);
    },
  );

  test('an unknown extension is refused with those that are known', () => {
    expect(() => openDataset('a.arrow')).toThrow(
      expect.objectContaining({ reason: 'dataset-format', fix: expect.stringContaining('.jsonl') }),
    );
  });

  test('a bad row in words names file, line, field, problem and cure, and carries no control character', async () => {
    const rows = await read(`${line('a')}\n{"question":"A?","answer":"1","task":"\u009b31m\\u001b[2J"}\n`);
    const text = badRowText(badOf(rows)[0]!);
    expect(text).toMatch(/:2: `task` is .+ Give one of: math, stem, code/);
    expect(text).not.toMatch(/\p{Cc}/u);
  });

  test('no line whatever hides another: any bytes between two good rows leave both good', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .string({ unit: 'binary' })
        .map((text) => Buffer.from(JSON.stringify({ id: text, messages: [text], question: text }))),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (between) => {
        const rows = await read(
          Buffer.concat([Buffer.from(`${line('first id')}\n`), between, Buffer.from(`\n${line('last id')}\n`)]),
        );
        const ids = goodOf(rows).map(({ queryId }) => queryId);
        expect([ids[0], ids.at(-1)]).toEqual(['first id', 'last id']);
        for (const bad of badOf(rows)) expect(bad.problem + bad.fix).not.toMatch(/\p{Cc}/u);
      }),
      { numRuns: process.env['EVERTURN_TESTS'] === 'all' ? 300 : 60 },
    );
  });

  test.each([
    ['{"question":"A?","answer":"1","answer":"2"}', 'answer', /stands twice/],
    ['{"question":"A?","answer":"1","extra":{"x":1,"x":2}}', 'extra.x', /stands twice/],
    ['{"question":"A?","answer":NaN}', null, /holds NaN/],
    ['{"question":"A?","answer":-Infinity}', null, /holds Infinity/],
    ['\ufeff{"question":"A?","answer":"1"}', null, /begins with a byte order mark/],
    ['{"question":"A?","answer":12345678901234567890}', 'answer', /too large to be exact/],
    ['{"question":"A?","answer":3.14159265358979323846}', 'answer', /too many digits/],
    ['{"question":"A?","answer":1e999}', 'answer', /too large/],
    ['{"id":9007199254740993,"question":"A?","answer":"1"}', 'id', /too large/],
    [
      '{"question":"A?","task":"code","input_output":{"inputs":["1"],"outputs":[9007199254740993]}}',
      'input_output',
      /too many digits/,
    ],
    [`{"question":"A?","answer":"1","x":${'[{"y":'.repeat(150)}1${'}]'.repeat(150)}}`, 'x', /nested deeper/],
  ])('what JSON would pass over in silence is a named bad row: %s', async (text, field, problem) => {
    const [bad, ...others] = badOf(await read(`${line('a')}\n${text}\n${line('b')}\n`));
    expect(bad).toMatchObject({ line: 2, field, problem: expect.stringMatching(problem) });
    expect(others).toEqual([]);
  });

  test('deep nesting is a bad row, not a crash', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const rows = await read(
      `${line('a')}\n${deep}\n{"question":"A?","task":"code","input_output":{"inputs":[${deep}],"outputs":[1]}}\n{"question":${deep},"answer":"1"}\n`,
    );
    expect(badOf(rows).map(({ line: at, field }) => [at, field])).toEqual([
      [2, null],
      [3, 'input_output'],
      [4, 'question'],
    ]);
  });
});
