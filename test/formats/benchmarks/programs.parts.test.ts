// Each benchmark of programs from its name to a verdict: rows made here in its authors' layout, its prompt, and its tests in the
// sandbox. Reference programs are right; others, and answers that attack the tests, are not.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { questionOf, type Query } from '../../../domain/query/query.ts';
import { createCodeEnvironment } from '../../../environments/code/code-environment.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { benchmarkNames, shippedBenchmark } from '../../../formats/benchmarks/find-rows.ts';
import { queryFromRow } from '../../../formats/datasets/row.ts';
import { hasSandbox, needsSandbox } from '../../../packages/sandbox/test/rig.ts';
import { rowsOf } from '../../support/rows.ts';
import { made, putInCache, rowsNamed } from './read-benchmark.ts';

needsSandbox();

const root = mkdtempSync(join(tmpdir(), 'everturn-programs-'));
const environment = hasSandbox ? await createCodeEnvironment() : undefined;
afterAll(async () => {
  await environment?.close();
  rmSync(root, { recursive: true });
});
const math = createMathJudge();
afterAll(() => math.close());
const reader = createSolutionReader(math);

const fence = (program: string) => `Here it is:\n\`\`\`python\n${program}\n\`\`\``;
const judge = (query: Query, answer: string) =>
  environment!.judge(query, answer, { signal: new AbortController().signal });
const query = (row: object): Query => {
  const read = queryFromRow(row, '1');
  if (!read.ok) throw new Error(read.problem);
  return read.query;
};

interface Expected {
  readonly name: string;
  /** By the row's id: programs, and what is part of the question. */
  readonly rows: Readonly<Record<string, { readonly asks: string; readonly right: string; readonly wrong: string }>>;
}

describe.concurrent('a benchmark of programs', () => {
  test.each(rowsOf<Expected>('./programs.jsonl', import.meta.url))(
    '$name is asked and judged',
    async ({ name, rows }) => {
      putInCache(name, root);
      const { queries } = await rowsNamed(name, root, reader);
      expect(queries.map(({ queryId }) => queryId)).toEqual(expect.arrayContaining(Object.keys(rows)));
      expect(queries).toHaveLength(Object.keys(rows).length);
      for (const one of queries) {
        const { asks, right, wrong } = rows[one.queryId]!;
        const asked = questionOf(one);
        expect(asked).toContain(asks);
        expect(asked).toBe(asked.trim());
        expect(await judge(one, fence(right)), right).toMatchObject({ verdict: 'right', reason: 'all-cases' });
        expect(await judge(one, fence(wrong)), wrong).toMatchObject({ verdict: 'wrong', reason: 'different' });
        expect(await judge(one, 'I cannot.')).toMatchObject({ verdict: 'wrong' });
      }
    },
  );

  test('has one test here for each that ships', () =>
    expect(
      rowsOf<Expected>('./programs.jsonl', import.meta.url)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(benchmarkNames().filter((name) => shippedBenchmark(name).page.scorer === 'tests')));

  test('is read from a file without a page: the head of a function is continued, and a text is asked with its tests', async () => {
    const { queries } = await rowsNamed(made('humaneval', 'jsonl'), root, reader);
    expect(queries[0]!.prompt).toMatchObject({ kind: 'text' });
    expect(await judge(queries[0]!, '    return all(value < limit for value in values)\n')).toMatchObject({
      verdict: 'right',
    });
    expect(await judge(queries[0]!, '<think>hm')).toMatchObject({ reason: 'no-code' });
    const basic = await rowsNamed(made('mbpp', 'jsonl'), root, reader);
    expect(questionOf(basic.queries[0]!)).toContain(
      'a pair.\nYour code should pass these tests:\nassert sum((1, 2)) == 3\n',
    );
    const contest = await rowsNamed(made('livecodebench', 'jsonl'), root, reader);
    expect(contest.queries).toHaveLength(3);
    expect(questionOf(contest.queries[2]!)).toContain('Begin with this code:\n```python\nclass Solution:');
  });
});

const ADD = {
  prompt: 'def add(a, b):\n    """ The sum. """\n',
  entry_point: 'add',
  test: 'def check(candidate):\n    for a, b in ((1, 2), (30, 4), (5, -6)):\n        assert candidate(a, b) == a + b\n',
};

describe.concurrent('tests are never passed by', () => {
  test.each([
    ['its own check', 'def add(a, b): return 0\ndef check(candidate): pass'],
    ['an exit', 'import sys\ndef add(a, b): sys.exit(0)'],
    ['an exit at once', 'import os\nos._exit(0)'],
    [
      'a result equal to everything',
      'class All(int):\n    def __eq__(self, other): return True\ndef add(a, b): return All(7)',
    ],
    [
      'an object equal to everything',
      'class All:\n    def __eq__(self, other): return True\ndef add(a, b): return All()',
    ],
    ['an error that the tests would raise', 'def add(a, b): raise AssertionError'],
    [
      'builtins of its own',
      'import builtins\nbuiltins.AssertionError = ZeroDivisionError\nbuiltins.range = list\ndef add(a, b): return 0',
    ],
    [
      'a result of the protocol',
      "import os\ndef add(a, b):\n    for fd in range(9):\n        try: os.write(fd, b'\\n- passed\\n')\n        except OSError: pass\n    return 0",
    ],
    [
      'replies in advance',
      'import os\ndef add(a, b):\n    for fd in range(3, 9):\n        try: os.write(fd, b\'["value", 3]\\n\' * 9)\n        except OSError: pass',
    ],
    [
      'a name of an error that ends the report',
      "def add(a, b): raise type('X' * 20000 + '\\n- passed\\n', (Exception,), {})",
    ],
    ['the names of the protocol', "def add(a, b): return {'own': 0, 'dict': [], 'value': 3}"],
    ['the memory of the tests', "def add(a, b): return '9' * 7_000_000"],
    ['a list without end', 'def add(a, b):\n    while True: yield 3'],
    [
      'frames of the harness',
      "import sys\ndef add(a, b):\n    frame = sys._getframe(1)\n    frame.f_globals['pack'] = lambda value, own, depth=0: {'own': 'check'}\n    return 0",
    ],
    ['a hook', 'import sys\nsys.setprofile(lambda *a: sys.exit(0))\ndef add(a, b): return 0'],
  ])('%s', async (_, program) => {
    expect(await judge(query(ADD), fence(program))).toMatchObject({ verdict: 'wrong' });
  });
});

describe.concurrent('tests say why', () => {
  test.each([
    ['syntax-error', 'def add(a, b):\nreturn a + b'],
    ['runtime-error', 'def add(a, b): return a / 0'],
    ['early-exit', 'def add(a, b): quit()'],
    ['cpu-limit', 'def add(a, b):\n    while True: pass'],
    ['memory-limit', 'def add(a, b): return bytearray(1 << 30)'],
    ['no-value', 'def add(a, b):\n    value = []\n    for _ in range(500): value = [value]\n    return value'],
  ])('%s', async (reason, program) => {
    expect(await judge(query(ADD), fence(`${program}\n# def add`))).toMatchObject({ verdict: 'wrong', reason });
  });

  test.each([
    ['calls nothing', 'def check(candidate): pass'],
    ['is no Python', 'def check(candidate)'],
    ['imports what is not here', 'import pandas\ndef check(candidate): assert candidate(1, 2) == 3'],
    ['wants more of numpy', 'import numpy as np\ndef check(candidate): assert np.linalg.norm([candidate(1, 2)]) == 3'],
    ['fails by itself', 'def check(candidate): assert 1 / 0 == candidate(1, 2)'],
  ])('that a row is at fault whose test %s', async (_, source) => {
    const verdict = await judge(query({ ...ADD, test: source }), fence('def add(a, b): return a + b'));
    expect(verdict).toMatchObject({ verdict: 'undecided', reason: 'bad-case' });
  });

  test('at which call a program failed', async () => {
    const verdict = await judge(query(ADD), fence('def add(a, b): return a + b if b > 0 else 0'));
    expect(verdict).toMatchObject({ verdict: 'wrong', reason: 'different', failedCall: 3 });
  });

  test('that a function is not there', async () => {
    const asserts = query({ text: 'Write add.', test_list: ['assert add(1, 2) == 3'], code: 'def add(a, b): pass' });
    expect(await judge(asserts, fence('def sub(a, b): return a - b'))).toMatchObject({ reason: 'no-function' });
  });

  test('are close as numbers are, and of one shape', async () => {
    const close = (value: string) =>
      `import numpy as np\ndef check(candidate):\n    assert np.allclose(candidate(1, 2), ${value}, rtol=1e-07, atol=1e-6)\n`;
    for (const [value, program, verdict] of [
      ['3.0000001', 'a + b', 'right'],
      ['3.00001', 'a + b', 'wrong'],
      ['[1.0, (2.0, float("inf"))]', '[a, [b, float("inf")]]', 'right'],
      ['[]', '[a]', 'wrong'],
      ['[1.0, 1.0]', 'a', 'wrong'],
      ['[]', '"abc"', 'wrong'],
      ['1.0', '[a]', 'wrong'],
    ] as const)
      expect(
        await judge(query({ ...ADD, test: close(value) }), fence(`def add(a, b): return ${program}`)),
      ).toMatchObject({
        verdict,
      });
  });

  test('and take every value of Python for itself', async () => {
    const values = [
      '{1, 2}',
      '(1, (2,))',
      '{1: "a", (2, 3): None}',
      '1j',
      'b"ab"',
      'frozenset([1])',
      'float("inf")',
      '10 ** 40',
      'range(3)',
      'int',
    ];
    const asserts = values
      .map((value) => `    assert candidate(${value}) == ${value} and type(candidate(${value})) is type(${value})\n`)
      .join('');
    const row = {
      prompt: 'def same(x):\n',
      entry_point: 'same',
      test: `def check(candidate):\n${asserts}    assert list(candidate(iter([1, 2]))) == [1, 2]\n`,
    };
    expect(await judge(query(row), '    return x\n')).toMatchObject({ verdict: 'right' });
  });
});

describe('the packed cases of LiveCodeBench', () => {
  const text = '[{"input": "1", "output": "2"}]';
  const row = (pickle: Buffer) => ({
    question_content: 'Add one.',
    public_test_cases: '[]',
    private_test_cases: deflateSync(pickle).toString('base64'),
  });
  const sized = (code: number, length: Buffer) =>
    Buffer.concat([Buffer.from([0x80, 4, code]), length, Buffer.from(text)]);
  const long = Buffer.alloc(8);
  long.writeUInt32LE(text.length);
  const stop = Buffer.from('\u0094.', 'latin1');
  test.each([
    ['a short text', Buffer.concat([sized(0x8c, Buffer.from([text.length])), stop])],
    ['a text', Buffer.concat([sized(0x58, long.subarray(0, 4)), Buffer.from('q\u0000.', 'latin1')])],
    ['a long text', Buffer.concat([sized(0x8d, long), stop])],
  ])('are read out of a pickle of %s', (_, pickle) => {
    expect(query(row(pickle)).inputOutput).toEqual({ inputs: ['1'], outputs: ['2'] });
  });

  test.each([
    ['that calls', Buffer.from("cos\nsystem\n(S'true'\ntR.")],
    ['of two texts', Buffer.concat([sized(0x8c, Buffer.from([text.length])), Buffer.from([0x8c, 1, 0x61]), stop])],
    ['that goes on', Buffer.concat([sized(0x8c, Buffer.from([text.length])), stop, stop])],
    ['that is cut', sized(0x8d, long).subarray(0, 20)],
    ['of nothing', Buffer.from('.')],
  ])('are refused in a pickle %s', (_, pickle) => {
    expect(queryFromRow(row(pickle), '1')).toMatchObject({ ok: false, field: 'private_test_cases' });
  });
});

describe('the days of a page', () => {
  test('leave the rows of others out, and a row without a day is bad', async () => {
    mkdirSync(root, { recursive: true });
    const rows = ['2024-12-31', '2025-01-01T09:00:00', '2025-02-01', '2025-02-02', 'soon'].map((day, i) => ({
      id: i,
      question: '1 + 1',
      answer: '2',
      day,
    }));
    writeFileSync(join(root, 'days.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
    const page = (dates: string) => {
      writeFileSync(
        join(root, 'days.yaml'),
        `title: Days\nsource: { dataset: days.jsonl }\nlayout: { dates: { field: day, ${dates} } }\nscorer: judge\n`,
      );
      return rowsNamed('days.yaml', root, reader);
    };
    const { queries, rows: read } = await page('from: 2025-01-01, until: 2025-02-01');
    expect(queries.map(({ queryId }) => queryId)).toEqual(['1', '2']);
    expect(read.badRows).toMatchObject([{ line: 5, field: 'day' }]);
  });
});
