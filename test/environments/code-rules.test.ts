// The rules of the code judge that need no sandbox: what is a case, what is equal.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proveSandbox } from '../../environments/code/canary.ts';
import { casesOf } from '../../environments/code/cases.ts';
import { sameOutput, sameValue } from '../../environments/code/compare.ts';
import { exactOf, type ExactValue, parseExactJson } from '../../environments/code/exact-json.ts';
import { readReport } from '../../environments/code/language.ts';
import { DEFAULT_LIMITS } from '../../environments/code/limits.ts';
import { createReader } from '../../environments/code/reader.ts';
import { runSandboxed } from '../../environments/code/sandboxed.ts';
import { createSlots } from '../../environments/code/slots.ts';

describe('printed lines', () => {
  test.each([
    ['3\n', '3'],
    ['1 2\n3', '  1 2  \r\n3\n\n\n'],
    ['3', '3.0'],
    ['3', '+3'],
    ['0.5', '.5'],
    ['1.0 2.0', '1   2'],
    ['1000000', '1000000.0000'],
    ['0.3333333333', '0.33333333333333331'],
    ['1e-3', '0.001'],
    ['0.033333333333', '0.033333'],
    ['0.000333333333', '0.000333'],
    ['0.014285714286 0.028571428571 0.042857142857', '0.014286 0.028571 0.042857'],
    ['0.5', '0.500001'],
    ['0.0', '-0.0000004'],
    ['1234567.5', '1234568.5'],
    ['-0.0', '0'],
    ['', '\n\n'],
    ['3\n\n4', '3\n4'],
    ['YES 1', 'YES 1'],
  ])('%j is met by %j', (expected, got) => expect(sameOutput(expected, got)).toBe(true));

  test.each([
    ['3', '2.9999999'],
    ['3', '3.0000001'],
    ['3', '3 3'],
    ['3', ''],
    ['', '3'],
    ['3\n4', '3 4'],
    ['YES', 'yes'],
    ['a  b', 'a b'],
    ['0101', '101'],
    ['0.5', '0.50001'],
    ['0.033333333333', '0.033337'],
    ['0.5', '0.5000011'],
    ['1234567.5', '1234569'],
    ['0.5', '0.5 '.repeat(2)],
    ['12345678901234567890', '12345678901234567891'],
    ['0.5', 'nan'],
    ['1e999', 'inf'],
    ['1.5', '1e999'],
    ['1', '1\u0000'],
    ['7', '٧'],
    ['1000', '1,000'],
    ['1', 'True'],
  ])('%j is not met by %j', (expected, got) => expect(sameOutput(expected, got)).toBe(false));
});

describe('returned values', () => {
  const read = (text: string) => parseExactJson(text) as ExactValue;
  test.each([
    ['1', '1'],
    ['1', '1.0'],
    ['1.0', '1'],
    ['0.3', '0.30000000000000004'],
    ['0.033333333333', '0.033333'],
    ['[1, [2.5, "a"], null]', '[1,[2.5,"a"],null]'],
    ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['"\\u00e9"', '"é"'],
  ])('%s is met by %s', (expected, got) => expect(sameValue(read(expected), read(got))).toBe(true));

  test.each([
    ['1', 'true'],
    ['true', '1'],
    ['0', 'false'],
    ['1', '"1"'],
    ['"1"', '1'],
    ['null', '0'],
    ['null', '[]'],
    ['[]', '{}'],
    ['[1]', '1'],
    ['[1, 2]', '[2, 1]'],
    ['[1, 2]', '[1, 2, 3]'],
    ['{"a": 1}', '{"a": 1, "b": 2}'],
    ['{"a": 1}', '{"b": 1}'],
    ['{"__proto__": 1}', '{}'],
    ['123456789012345678901234567890', '123456789012345678901234567891'],
    ['123456789012345678901234567890', '1.2345678901234568e29'],
    ['1', 'NaN'],
    ['1.5', 'Infinity'],
    ['1', '1.0000001'],
  ])('%s is not met by %s', (expected, got) => expect(sameValue(read(expected), read(got))).toBe(false));

  test('every JSON value is read as it was written, and equals itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        // Whole numbers that JavaScript rounds are refused before they get here.
        fc.pre(!/\d{16}/.test(text));
        const read = parseExactJson(text);
        expect(read).not.toBeUndefined();
        expect(sameValue(exactOf(JSON.parse(text)), read as ExactValue)).toBe(true);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  test.each([
    '',
    ' ',
    '[',
    '[1',
    '[1,]',
    '{"a"}',
    '{a: 1}',
    "'a'",
    '"a',
    '01',
    '1.',
    '.5',
    '+1',
    'nul',
    '1 2',
    '"\\x"',
    '[',
    '-',
  ])('is not read: %j', (text) => expect(parseExactJson(text)).toBeUndefined());

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
  test('one line with the nonce is a report, and nothing else is', () => {
    expect(readReport('n value [1]\n', 'n')).toEqual({ kind: 'value', json: '[1]' });
    expect(readReport('n no-function\n', 'n')).toEqual({ kind: 'no-function' });
    for (const text of [
      '',
      'value 1\n',
      'n value 1',
      'n value 1\nn value 2\n',
      'm value 1\n',
      'xn value 1\n',
      'n\n',
      'n yes\n',
    ])
      expect(readReport(text, 'n')).toBeUndefined();
  });

  test('our marks are taken off wherever the chunks are cut, and the rest is counted', () => {
    const text = Buffer.from('ready\ngo\nready\ngo\n');
    for (let cut = 0; cut <= text.length; cut++) {
      const reader = createReader(9, 9);
      expect(reader.print(text.subarray(0, cut)) && reader.print(text.subarray(cut))).toBe(true);
      expect(reader.finish()).toMatchObject({ stage: 'running' });
      expect(reader.finish().output.toString()).toBe('ready\ngo\n');
      expect(reader.print(Buffer.from('x'))).toBe(false);
    }
    expect(createReader(9, 9).print(Buffer.from('bwrap: no'))).toBe(false);
  });

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

  test('a machine without bubblewrap has no sandbox, and is told what to install', async () => {
    const proof = await proveSandbox({ env: { PATH: '/nowhere' } });
    expect(proof).toMatchObject({
      ok: false,
      why: expect.stringContaining('bwrap'),
      fix: expect.stringContaining('apt'),
    });
  });

  test('a sandbox that cannot start is trouble to try again, never a verdict', async () => {
    const broken = { file: '/usr/bin/false', args: [] };
    const absent = { file: '/nowhere/bwrap', args: [] };
    for (const launch of [broken, absent]) {
      const ran = runSandboxed(launch, Buffer.alloc(0), DEFAULT_LIMITS, new AbortController().signal);
      await expect(ran).rejects.toMatchObject({ name: 'JudgeError', reason: 'sandbox-trouble', retryable: true });
    }
  });
});
