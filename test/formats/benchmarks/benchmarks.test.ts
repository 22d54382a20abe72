// Each benchmark from its name to rows: its own page, its own files in a hub's cache (rows made here, in its authors' layout), its
// prompt, and what the judge takes for right. No hub is asked.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { questionOf } from '../../../domain/query/query.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { benchmarkNames, findBenchmark, shippedBenchmark } from '../../../formats/benchmarks/find-rows.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { resolveOptions } from '../../../run/config.ts';
import { createFirstEvaluation, evaluationPlace } from '../../../run/evaluations.ts';
import { planRun } from '../../../run/plan.ts';
import { rowsOf } from '../../support/rows.ts';
import { scriptedIo } from '../../cli/scripted-io.ts';
import { main } from '../../../cli/main.ts';
import { made, putInCache, rowsNamed as readBenchmark } from './read-benchmark.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-benchmarks-'));
const judge = createMathJudge();
afterAll(() => {
  judge.close();
  rmSync(root, { recursive: true });
});

const rowsNamed = (named: string, options: Parameters<typeof readBenchmark>[3] = {}) =>
  readBenchmark(named, root, createSolutionReader(judge), options);

const read = (name: string) => {
  putInCache(name, root);
  return rowsNamed(name);
};

interface Expected {
  readonly name: string;
  /** A part of each row's solution, by its id. */
  readonly solutions: Readonly<Record<string, string>>;
  /** A part of what the last row asks. */
  readonly asks: string;
  /** Replies to it in the form that its prompt asks for; `$LETTER` is the right choice, `$OTHER` another one. */
  readonly right: string;
  readonly wrong: string;
}
const EXPECTED = rowsOf<Expected>('./expected.jsonl', import.meta.url);

describe('a benchmark', () => {
  test.each(EXPECTED)('$name is read and asked as its authors or their harness have it', async (expected) => {
    const { name, solutions, asks } = expected;
    const { rows, queries } = await read(name);
    expect(queries.map(({ queryId }) => queryId).sort()).toEqual(Object.keys(solutions).sort());
    for (const { queryId, solutions: own } of queries) expect(own[0]).toContain(solutions[queryId]);
    const asked = questionOf(queries.at(-1)!);
    expect(asked).toContain(asks);
    expect(asked).toBe(asked.trim());
    expect(rows.dataset).toMatchObject({ benchmark: name, hub: { files: [{ sha256: expect.any(String) }] } });
    const { solutions: own } = queries.at(-1)!;
    const letter = own[0]!.slice(1, 2);
    const other = letter === 'A' ? 'B' : 'A';
    const verdictOf = async (reply: string) =>
      judge.judge(reply.replace('$LETTER', letter).replace('$OTHER', other), own, { question: asked });
    expect(await verdictOf(expected.right)).toMatchObject({ verdict: 'right' });
    expect(await verdictOf(expected.wrong)).toMatchObject({ verdict: 'wrong' });
    const { wording, dataset } = rows;
    const { run } = planRun({ ...resolveOptions({}), name: undefined, wording, dataset, now: 0 });
    expect(run).toMatch(new RegExp(`^${name}-[0-9a-f]{8}$`));
  });

  test('has one test here for each that ships, but for those with a test file of their own: programs and rules', () =>
    expect(EXPECTED.map(({ name }) => name).sort()).toEqual(
      benchmarkNames().filter((name) => ['judge', 'choices'].includes(shippedBenchmark(name).page.scorer)),
    ));

  test('keeps a choice of any words as its reference, whatever they would say alone', async () => {
    const texts = [
      '$100000 higher because of the computers.',
      'The answer is always yes, and the cell dies.',
      'Males from any socioeconomic background can be affected',
      'methane < 2,3-dimethylbutane < neopentane < n-hexane',
      'Microtubules are the major component of spindle fibers: 13 of them, 5.8 × 10^13 per second, or x = 3',
    ];
    const row = { question: 'Which one?', options: texts, category: 'made', src: 'made' };
    const rows = texts.map((_, i) => ({ ...row, question_id: i, answer: 'ABCDE'[i], answer_index: i }));
    putInCache('mmlu-pro', root, rows);
    const { queries } = await rowsNamed('mmlu-pro');
    expect(queries.map(({ solutions }) => solutions)).toEqual(texts.map((text, i) => [`(${'ABCDE'[i]}) ${text}`]));
    for (const [i, query] of queries.entries())
      for (const letter of 'ABCDE') {
        const { verdict } = await judge.judge(`The answer is (${letter}).`, query.solutions, {
          question: questionOf(query),
        });
        expect([i, letter, verdict]).toEqual([i, letter, letter === 'ABCDE'[i] ? 'right' : 'wrong']);
      }
  });

  test('puts its system text in force, and the words of the command before those of its page', async () => {
    const { queries } = await read('amc23');
    expect(queries[0]!.prompt).toEqual({
      kind: 'messages',
      messages: [
        { role: 'system', content: 'Please reason step by step, and put your final answer within \\boxed{}.' },
        { role: 'user', content: 'What is $3^3$?' },
      ],
    });
    const other = await rowsNamed('amc23', { prompt: 'Say: {{ question }}' });
    expect(questionOf(other.queries[0]!)).toBe('Say: What is $3^3$?');
  });

  test('is asked in its own words where it is held out of a training run that has others', async () => {
    const { rows, queries } = await read('amc23');
    const { dataset } = rows;
    const options = resolveOptions({ flags: { train: true, eval: 'amc23' } });
    const wording = { system: 'Be brief.' };
    const training = planRun({ ...options, name: 'held', wording, dataset, heldOut: dataset, now: 0 });
    const all = async function* () {
      yield* queries;
    };
    await createFirstEvaluation(training, { ...rows, queries: all }, root, []);
    const { out, run } = evaluationPlace({ run: 'held', out: root, version: 0, line: 0 });
    expect((await openFileStore(out, run).get('run'))?.record.wording).toEqual(rows.wording);
  });

  test('asks of one answer or several, and of units, as OlympiadBench does', async () => {
    const { queries, rows } = await read('olympiadbench');
    expect(questionOf(queries[0]!)).toBe(
      'The following is an open-ended problem from an International Math competition. The answer of The problem should be a numerical value. Please calculate the answer according to the given requirements and the information provided. Please use LaTeX format to represent the variables and formulas used in the solution process and results. Please end your solution with "So the final answer is \\boxed{answer}(unit)." and give the result explicitly, note that the unit of the answer should not be included in \\boxed{}.\nFind the area of a square of side 3 cm.',
    );
    expect(rows.badRows).toMatchObject([{ field: 'error' }]);
  });

  test('cites sources, and pins its data if it is verified', () => {
    for (const { page, place } of benchmarkNames().map(shippedBenchmark)) {
      expect(page.cites?.length, place).toBeGreaterThan(1);
      expect(/^[0-9a-f]{40}$/.test(page.source.revision ?? ''), place).toBe(page.verified);
    }
  });
});

const put = (name: string, text: string) => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  return name;
};
const PAGE = 'title: Mine\nsource: { dataset: rows.csv }\nscorer: choices\n';
const MINE = `${PAGE}layout: { fields: { id: Nr, question: Frage }, shuffle: 7 }\n`;
const ROWS = Array.from({ length: 200 }, (_, i) => `n${i},Was ist ${i}?,ja ${i},nein,vielleicht,nie`);

describe("a user's own page", () => {
  test('reads fields under their own names, and shuffles choices by its seed and the row', async () => {
    put(
      'own/rows.csv',
      `Nr,Frage,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n${ROWS.join('\n')}\n`,
    );
    const { queries, rows } = await rowsNamed(put('own/mine.yaml', MINE));
    expect(rows.dataset.benchmark).toBe('mine');
    expect(queries.slice(0, 2).map(({ queryId }) => queryId)).toEqual(['n0', 'n1']);
    const places = queries.map(({ solutions }) => solutions[0]!.slice(1, 2));
    for (const letter of 'ABCD') expect(places.filter((one) => one === letter).length).toBeGreaterThan(25);
    const again = await rowsNamed('own/mine.yaml');
    expect(again.queries).toEqual(queries);
    const other = await rowsNamed(put('own/other.yaml', MINE.replace('shuffle: 7', 'shuffle: 8')));
    expect(other.queries).not.toEqual(queries);
  });

  test.each([
    ['scorer: choices', 'scorer: taste', ':3: `scorer` takes one of judge, choices, tests, rules, rubric.'],
    ['title: Mine', 'titel: Mine', ':1: the line has the unknown field `titel`.'],
    ['title: Mine', 'title: ""', ':1: `title` takes a text that is not empty.'],
    [
      'rows.csv }',
      'rows.csv, split: test }',
      ':2: `source.dataset` is a file, which has no revision, file, config or split.',
    ],
    ['rows.csv }', 'hf:one }', ':2: `source.dataset` hf:one is no place on the hub'],
    ['scorer: choices', 'scorer: judge\nlayout: { shuffle: 1 }', ':4: `layout.shuffle` is for choices'],
    ['scorer: choices', 'scorer: judge\nloose: true', ':4: `loose` is for rules'],
    [
      'scorer: choices',
      'scorer: judge\nsampling: { temperature: -1 }',
      ':4: `sampling.temperature` takes a number from 0',
    ],
    ['scorer: choices', 'scorer: judge\nprompt: "{{ question"', ':4: `prompt` is no template'],
    ['scorer: choices', 'scorer: judge\nprompt: Say hi.', ':4: `prompt` is no template: it shows nothing of a row'],
    [
      'scorer: choices',
      'scorer: judge\nprompt: "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}"',
      ':4: `prompt` is no template: it is too much work: does it loop without end?',
    ],
    [
      'scorer: choices',
      'scorer: tests\nlayout: { dates: { field: day, from: January } }',
      ':4: `layout.dates.from` takes a day, such as 2025-01-31.',
    ],
    ['scorer: choices', 'scorer: [', 'is no YAML'],
  ])('is refused by its line and what would be right: %s as %s', (from, to, says) => {
    const name = put('bad.yaml', PAGE.replace(from, to));
    expect(() => findBenchmark(name, root)).toThrow(expect.objectContaining({ reason: 'bad-page' }) as Error);
    expect(() => findBenchmark(name, root)).toThrow(says);
  });
});

describe('a file without a page', () => {
  test('is read by its columns, as GPQA writes them', async () => {
    const { queries, rows } = await rowsNamed(made('gpqa-diamond', 'csv'));
    expect(queries.map(({ solutions }) => solutions[0]!.slice(4))).toEqual(['0.8 f', 'the second']);
    expect(questionOf(queries[1]!)).toMatch(/^Which made-up particle has spin two here\?\n\n\(A\) the /);
    expect(rows.dataset.benchmark).toBeUndefined();
  });
});

describe('a name', () => {
  test('is that of a file before that of a benchmark, and in any case of letters', () => {
    const folder = join(root, 'beside');
    mkdirSync(folder);
    expect(findBenchmark('GSM8K', folder)?.name).toBe('gsm8k');
    writeFileSync(join(folder, 'gsm8k'), '{}');
    expect(findBenchmark('gsm8k', folder)).toBeUndefined();
    expect(findBenchmark('rows.jsonl', folder)).toBeUndefined();
    expect(() => findBenchmark('none.yaml', folder)).toThrow(/there is no data set at .*none\.yaml/);
  });

  test.each([
    ['aime', 'Near it are: aime24, aime25.'],
    ['zzz', 'There are: aime24, aime25'],
  ])('that none has is refused with those near it: %s', (name, near) => {
    const refused = expect.objectContaining({ reason: 'no-benchmark', fix: expect.stringContaining(near) as string });
    expect(() => findBenchmark(name, root)).toThrow(refused as Error);
  });
});

describe('everturn benchmarks', () => {
  test('lists them, and shows one with the line that plays it', async () => {
    const shown = async (...args: string[]) => {
      const io = scriptedIo();
      expect(await main(io, ['benchmarks', ...args])).toBe(0);
      return io.text.out;
    };
    expect(await shown()).toMatch(/^gpqa-diamond +198 +choices +yes +GPQA Diamond, graduate science$/m);
    expect(await shown('aime25')).toContain('everturn eval aime25\n');
    expect(await shown('aime25')).toContain('Verified   no');
    expect(JSON.parse(await shown('mmlu-pro', '--json'))).toMatchObject({
      name: 'mmlu-pro',
      size: 12032,
      verified: true,
    });
    expect(JSON.parse(await shown('--json'))).toHaveLength(benchmarkNames().length);
  });

  test('is tried row by row by `benchmarks --verify`, and its page names the commit from then on', async () => {
    putInCache('aime25', root);
    const page = join(root, 'own.yaml');
    const shipped = join(import.meta.dirname, '../../../benchmarks/aime25.yaml');
    writeFileSync(page, `# mine\n${readFileSync(shipped, 'utf8')}`);
    const tried = async () => {
      const io = scriptedIo({ cwd: root, env: { HF_HUB_CACHE: join(root, 'hub'), HF_HUB_OFFLINE: '1' } });
      return { code: await main(io, ['benchmarks', './own.yaml', '--verify']), text: io.text.out + io.text.err };
    };
    const first = await tried();
    // Rows made here are fewer than the page says.
    expect(first.code, first.text).toBe(6);
    expect(first.text).toMatch(/^own: \d rows of hf:.* at c{40}$/m);
    expect(first.text).toContain('The page says 30 rows.');
    expect(first.text).toContain('Pinned');
    expect(readFileSync(page, 'utf8')).toMatch(/^# mine\n[^]*\n {2}revision: c{40}\n/);
    expect((await tried()).text).not.toContain('Pinned');
    writeFileSync(page, readFileSync(page, 'utf8').replace(/^size: .*$/m, ''));
    expect((await tried()).code).toBe(0);
  });

  test('the list of the pages is theirs: benchmarks/README.md', () => {
    const file = join(import.meta.dirname, '../../../benchmarks/README.md');
    const [before, rest = ''] = readFileSync(file, 'utf8').split('<!-- list -->');
    const [table, after] = rest.split('<!-- /list -->');
    const rows = benchmarkNames().map((name) => {
      const { title, size, scorer, verified, notes = [] } = shippedBenchmark(name).page;
      return `| [\`${name}\`](${name}.yaml) | ${title} | ${size} | ${scorer} | ${verified ? 'yes' : 'no'} | ${notes.join('; ') || '–'} |`;
    });
    const wanted = ['| name | | rows | scorer | verified | notes |', '|---|---|---|---|---|---|', ...rows].join('\n');
    if (process.env['UPDATE_DOCS'])
      writeFileSync(file, `${before}<!-- list -->\n\n${wanted}\n\n<!-- /list -->${after}`);
    else expect(table?.trim(), 'written by: UPDATE_DOCS=1 npx vitest run test/formats/benchmarks').toBe(wanted);
  });
});
