// Benchmarks whose answers follow instructions, from their names to a verdict; and rows of instructions that are bad.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { judgeRules } from '../../../environments/rules/rules-environment.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { benchmarkNames, shippedBenchmark } from '../../../formats/benchmarks/find-rows.ts';
import { queryFromRow } from '../../../formats/datasets/row.ts';
import { made, putInCache, rowsNamed } from './read-benchmark.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-rules-'));
const math = createMathJudge();
const reader = createSolutionReader(math);
afterAll(() => {
  math.close();
  rmSync(root, { recursive: true });
});

describe('a benchmark of rules', () => {
  test('is IFBench, or IFEval', () =>
    expect(benchmarkNames().filter((name) => shippedBenchmark(name).page.scorer === 'rules')).toEqual([
      'ifbench',
      'ifeval',
    ]));
});

describe('IFBench', () => {
  test('is asked as its authors do, and judged loosely as they report it', async () => {
    putInCache('ifbench', root);
    const { queries, rows } = await rowsNamed('ifbench', root, reader);
    expect(rows.byTask).toMatchObject({ rules: 3 });
    expect(queries.map(({ queryId }) => queryId)).toEqual(['0', '1', '2']);
    expect(queries[1]!.prompt).toEqual({
      kind: 'messages',
      messages: [{ role: 'user', content: 'Praise a made-up hill. The output should not contain any whitespace.' }],
    });
    const verdicts = (replies: readonly string[]) => queries.map((query, i) => judgeRules(query, replies[i]!).verdict);
    expect(verdicts(['It has 2 bays, 3 isles.', 'High!', 'Maybe.'])).toEqual(['right', 'right', 'right']);
    expect(verdicts(['Sure:\nIt has 2 bays, 3 isles.', 'Here:\nHigh!', '**no**'])).toEqual(['right', 'right', 'right']);
    expect(verdicts(['It has 2 bays.', 'So high!', 'It is deep.'])).toEqual(['wrong', 'wrong', 'wrong']);
  });

  test('is known in a file without a page, and judged strictly there', async () => {
    const { queries } = await rowsNamed(made('ifbench', 'jsonl'), root, reader);
    expect(queries[1]).toMatchObject({ task: 'rules', instructions: [{ name: 'format:no_whitespace', args: {} }] });
    expect(judgeRules(queries[1]!, 'Here:\nHigh!').verdict).toBe('wrong');
  });
});

describe('IFEval', () => {
  test('is asked as its authors do, and judged by its rules', async () => {
    putInCache('ifeval', root);
    const { queries, rows } = await rowsNamed('ifeval', root, reader);
    expect(rows.byTask).toMatchObject({ rules: 3 });
    expect(queries.map(({ queryId }) => queryId)).toEqual(['11', '12', '13']);
    expect(queries[1]!.prompt).toEqual({
      kind: 'messages',
      messages: [
        {
          role: 'user',
          content: 'List three made-up rivers as exactly 3 bullet points such as:\n* This is a point.',
        },
      ],
    });
    const verdicts = (replies: readonly string[]) => queries.map((query, i) => judgeRules(query, replies[i]!).verdict);
    expect(verdicts(['"It is deep."', '* Ro\n* Lu\n* Mi', 'It is high.'])).toEqual(['right', 'right', 'right']);
    expect(verdicts(['It is deep.', '* Ro\n* Lu', 'It is so very high that I am out of breath.'])).toEqual([
      'wrong',
      'wrong',
      'wrong',
    ]);
  });

  test('is known in a file without a page', async () => {
    const { queries } = await rowsNamed(made('ifeval', 'jsonl'), root, reader);
    expect(queries[2]).toMatchObject({
      queryId: '3',
      task: 'rules',
      instructions: [{ name: 'length_constraints:number_words', args: { relation: 'less than', num_words: 9 } }],
    });
  });

  test('leaves rows that have an answer to the other judges', async () => {
    const row = { question: '1+1', answer: '2', key: 1, prompt: 'Write.', instruction_id_list: ['a:b'], kwargs: [{}] };
    writeFileSync(join(root, 'both.jsonl'), JSON.stringify(row));
    const { queries } = await rowsNamed(join(root, 'both.jsonl'), root, reader, { prompt: 'Go on: {{ question }}' });
    expect(queries).toMatchObject([{ task: 'math' }]);
  });

  const ROW = { prompt: 'Go.', instruction_id_list: ['startend:end_checker'], kwargs: [{ end_phrase: 'So.' }] };
  test.each([
    [
      { instruction_id_list: ['count:words'] },
      'instruction_id_list[0]',
      'is "count:words", for which there is no rule',
    ],
    [{ instruction_id_list: [] }, 'instruction_id_list', 'is a list'],
    [{ instruction_id_list: ['toString'] }, 'instruction_id_list[0]', 'no rule'],
    [{ kwargs: [] }, 'kwargs', 'has not one object for each instruction'],
    [{ kwargs: ['So.'] }, 'kwargs[0]', 'is a text, not an object'],
    [{ kwargs: [{ end_phrase: null }] }, 'kwargs[0]', 'does not fit startend:end_checker: `end_phrase` is missing'],
    [{ kwargs: [{ end_phrase: '' }] }, 'kwargs[0]', '`end_phrase` takes a text that is not empty'],
    [
      { instruction_id_list: ['count:words_japanese'], kwargs: [{ N: 0 }] },
      'kwargs[0]',
      'does not fit count:words_japanese: `N` takes a whole number above 0',
    ],
    [{ prompt: ' ' }, 'question', 'is empty'],
  ])('refuses a bad row by its field: %j', (change, field, problem) => {
    const read = queryFromRow({ ...ROW, ...change }, '1');
    expect(read).toMatchObject({ ok: false, field });
    expect(read.ok ? '' : read.problem).toContain(problem);
  });
});
