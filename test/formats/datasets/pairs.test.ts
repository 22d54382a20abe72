// Lines to be judged: good ones as pairs, bad ones by line, field and what would be right, in file order.

import { describe, expect, test } from 'vitest';
import { badRowText } from '../../../formats/datasets/row-fault.ts';
import { type JudgeName, type PairRow, readPairs } from '../../../formats/datasets/pairs.ts';
import { rowsOf } from '../../support/rows.ts';

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

  test.each(rowsOf<{ line: string; problem: string }>('./pairs-bad.jsonl', import.meta.url))(
    'a bad line hides no other, and is named: $line',
    async ({ line, problem }) => {
      const text = `${line}\n`;
      const [before, bad, after] = await read(lines(good) + text + lines(good));
      expect([before?.ok, after?.ok]).toEqual([true, true]);
      expect(bad?.ok === false && badRowText(bad.bad)).toContain(`pairs.jsonl:2: ${problem}`);
    },
  );
});
