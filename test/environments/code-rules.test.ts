// The rules of the code judge that need no sandbox: what is a case, what is equal.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { casesOf } from '../../environments/code/cases.ts';
import { sameOutput, isSameValue } from '../../environments/code/compare.ts';
import { exactOf, type ExactValue, parseExactJson } from '../../environments/code/exact-json.ts';
import { createSlots } from '../../environments/code/code-environment.ts';
import { rowsOf } from '../support/rows.ts';

const OUTPUTS = rowsOf<{ of: string; expected: string; got: string; same: boolean }>(
  './code-outputs.jsonl',
  import.meta.url,
);
const rowsAbout = (what: string) => OUTPUTS.filter(({ of }) => of === what);
const read = (text: string) => parseExactJson(text) as ExactValue;

describe('what a program gives', () => {
  test.each(rowsAbout('printed'))('as lines: $expected is met by $got: $same', ({ expected, got, same }) =>
    expect(sameOutput(expected, got)).toBe(same),
  );

  test.each(rowsAbout('returned'))('as a value: $expected is met by $got: $same', ({ expected, got, same }) =>
    expect(isSameValue(read(expected), read(got))).toBe(same),
  );

  test.each(rowsAbout('no JSON'))('is not read: $expected', ({ expected }) =>
    expect(parseExactJson(expected)).toBeUndefined(),
  );

  test('every JSON value is read as it was written, and equals itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        // Whole numbers that JavaScript rounds are refused before they get here.
        fc.pre(!/\d{16}/.test(text));
        const read = parseExactJson(text);
        expect(read).not.toBeUndefined();
        expect(isSameValue(exactOf(JSON.parse(text)), read as ExactValue)).toBe(true);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  test('nesting and length of hostile text are bounded', () => {
    expect(parseExactJson('['.repeat(1_000_000))).toBeUndefined();
    expect(parseExactJson(`"${'a'.repeat(3_000_000)}"`)).toHaveLength(3_000_000);
    expect(parseExactJson('9'.repeat(2_000_000))).toBeUndefined();
  });
});

describe('cases of a data set', () => {
  const cases = (inputs: unknown[], outputs: unknown[], name?: string) => [
    ...casesOf({ inputs, outputs, ...(name ? { fn_name: name } : {}) }),
  ];

  test('texts and lists of lines are standard input', () => {
    expect(cases(['1\n', ['1', '2']], ['2', ['3', '4']])).toMatchObject([
      { kind: 'stdin', stdin: '1\n', expected: '2' },
      { kind: 'stdin', stdin: '1\n2', expected: '3\n4' },
    ]);
  });

  test('one JSON value a line is one argument', () => {
    expect(cases(['[1, 2]\n"a"', ''], ['3', 'null'], 'f')).toMatchObject([
      { args: '[[1, 2],"a"]', expected: [3n] },
      { args: '[]', expected: [null] },
    ]);
  });

  test('a list of one is the value, or the list, only where every output is such a list', () => {
    expect(cases([[1]], [[5]], 'f')).toMatchObject([{ args: '[1]', expected: [[5n], 5n] }]);
    expect(cases([[1], [2]], [[5], [5, 6]], 'f')).toMatchObject([{ expected: [[5n]] }, { expected: [[5n, 6n]] }]);
  });

  test('what no program can be judged by is told apart, not failed', () => {
    expect(cases([{ a: 1 }, 'x', '1'], ['1', 7, undefined])).toMatchObject([
      { reason: 'bad-case' },
      { reason: 'bad-case' },
      { reason: 'bad-case' },
    ]);
    expect(cases(['not json'], ['1'], 'f')).toMatchObject([{ reason: 'bad-case' }]);
    expect(cases([[2 ** 60]], [1], 'f')).toMatchObject([{ reason: 'inexact-number' }]);
  });
});

describe('the rules for code', () => {
  test('places are given in order, and waiting ends with the signal', async () => {
    const slots = createSlots(1);
    const never = new AbortController();
    const order: number[] = [];
    let finish = () => {};
    const first = slots.use(never.signal, () => new Promise<void>((resolve) => void (finish = resolve)));
    const given = new AbortController();
    const second = slots.use(given.signal, async () => void order.push(2));
    const third = slots.use(never.signal, async () => void order.push(3));
    given.abort(new Error('cancelled'));
    await expect(second).rejects.toThrow('cancelled');
    expect(order).toEqual([]);
    finish();
    await Promise.all([first, third, slots.idle()]);
    expect(order).toEqual([3]);
  });
});
