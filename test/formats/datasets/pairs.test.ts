// Lines to be judged: good ones as pairs, bad ones by line, field and what would be right, in file order.

import { describe, expect, test } from 'vitest';
import { badRowText } from '../../../formats/datasets/problem.ts';
import { type JudgeName, type PairRow, readPairs } from '../../../formats/datasets/pairs.ts';

async function read(text: string, judge?: JudgeName): Promise<PairRow[]> {
  async function* blocks() {
    yield Buffer.from(text);
  }
  const rows: PairRow[] = [];
  for await (const row of readPairs(blocks(), 'pairs.jsonl', judge)) rows.push(row);
  return rows;
}
const lines = (...rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const good = { answer: '1', solutions: ['1'] };

describe('pairs of answer and solution', () => {
  test('a line without an id goes by its number, blank lines are passed over', async () => {
    const rows = await read(`\ufeff${lines(good)}\r\n\n${lines({ ...good, id: 'x' }, { ...good, id: 7 })}`);
    expect(rows.map((row) => row.ok && row.pair.id)).toEqual(['1', 'x', '7']);
  });

  test('input_output means code, also as a text; else it is mathematics', async () => {
    const io = { inputs: ['1'], outputs: ['2'] };
    const rows = await read(
      lines({ answer: '', input_output: io }, { answer: '', input_output: JSON.stringify(io) }, good),
    );
    expect(rows.map((row) => row.ok && row.pair.judge)).toEqual(['code', 'code', 'math']);
    expect(rows.map((row) => row.ok && row.pair.inputOutput)).toEqual([io, io, undefined]);
  });

  test('the judge can be named for all lines', async () => {
    const both = { ...good, input_output: { inputs: ['1'], outputs: ['2'] } };
    const [asMath] = await read(lines(both), 'math');
    expect(asMath).toMatchObject({ ok: true, pair: { judge: 'math', solutions: ['1'] } });
    const [asCode] = await read(lines(good), 'code');
    expect(asCode).toMatchObject({
      ok: false,
      bad: { field: 'input_output', problem: 'is missing, and the judge is code' },
    });
  });

  test('what is right is said as in a data set, except that `answer` is the model’s', async () => {
    const rows = await read(
      lines(
        { answer: '1', ground_truth: 5 },
        { answer: '1', reward_model: { ground_truth: '6' } },
        { ...good, solution: '7' },
      ),
    );
    expect(rows.map((row) => row.ok && row.pair.solutions)).toEqual([['5'], ['6'], ['1']]);
  });

  test('a question beside the answer is the judge’s, and a field that nothing reads is named', async () => {
    const [one, two] = await read(
      lines(
        { ...good, question: 'How many cups?', level: 5 },
        { ...good, problem: 'Find x.', options: { question: 'Find x.' } },
      ),
    );
    expect(one).toMatchObject({ ok: true, pair: { options: { question: 'How many cups?' } } });
    expect(one?.ok && one.notes.map(badRowText)).toEqual([
      expect.stringContaining('pairs.jsonl:1: `level` is not read.'),
    ]);
    expect(two).toMatchObject({ ok: true, pair: { options: { question: 'Find x.' } }, notes: [] });
  });

  test.each([
    ['{"answer": "1", "answer": "2", "solutions": ["1"]}', '`answer` stands twice in one object'],
    ['{"answer": "1"', 'the line is not JSON'],
    ['[1]', 'the line is a list, not an object'],
    [{ solutions: ['1'] }, '`answer` is missing, not a text'],
    [{ answer: null, solutions: ['1'] }, '`answer` is null, not a text'],
    [{ answer: '1' }, '`solutions` is missing'],
    [{ answer: '1', solutions: [] }, '`solutions` is an empty list'],
    [{ answer: '1', solutions: ['1', null] }, '`solutions[1]` is null, not a text'],
    [{ answer: '1', solutions: [2 ** 60] }, '`solutions[0]` is a number too large to be exact'],
    [
      { answer: '1', input_output: { inputs: ['1'], outputs: [] } },
      '`input_output.outputs` has 0 entries for 1 inputs',
    ],
    [{ answer: '1', input_output: { inputs: [] } }, '`input_output.outputs` is missing, not a list'],
    [{ ...good, decimals: 2 }, '`decimals` is an option'],
    [{ ...good, id: { a: 1 } }, '`id` is an object'],
    [
      { ...good, question: 'Find x.', options: { question: 'Find y.' } },
      '`options.question` is another text than `question`',
    ],
    [{ ...good, question: 7 }, '`question` is a number, not a text'],
    [{ ...good, options: { decimals: 1.5 } }, '`options.decimals` is no number of places'],
    [{ ...good, options: { strict: 1 } }, '`options.strict` is a number'],
    [{ ...good, options: { decimal: 1 } }, '`options` has "decimal", which is no option'],
    [{ ...good, options: 'x' }, '`options` is a text, not an object'],
  ])('a bad line hides no other, and is named: %j', async (row, problem) => {
    const text = typeof row === 'string' ? `${row}\n` : lines(row);
    const [before, bad, after] = await read(lines(good) + text + lines(good));
    expect([before?.ok, after?.ok]).toEqual([true, true]);
    expect(bad?.ok === false && badRowText(bad.bad)).toContain(`pairs.jsonl:2: ${problem}`);
  });
});
