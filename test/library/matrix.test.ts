// The cells of an evaluation: benchmarks × models × what is varied.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isRunName } from '../../domain/names/ids.ts';
import { ownSlug, slugOf, type Varied, variantsOf } from '../../library/evaluate/matrix.ts';
import { isRefused } from '../../library/evaluate/cells.ts';
import { planCells } from '../../library/evaluate/plan.ts';
import type { RecordedCell } from '../../records/run/evaluation-record.ts';
import { resolveOptions } from '../../run/config.ts';

const labels = (models: string[], varied: Varied) => variantsOf(models, varied).map(({ label }) => label);

describe('the variants of an evaluation', () => {
  test('are one where nothing is varied', () => {
    expect(variantsOf([], [])).toEqual([{ label: '', whole: '', given: {} }]);
    expect(variantsOf(['tiny'], [])).toEqual([{ label: 'tiny', whole: 'tiny', given: { model: 'tiny' } }]);
  });

  test('are each model with each value, named by both', () => {
    const models = ['openai:http://a#x', 'openai:http://a#y'];
    expect(labels(models, [['temperature', [0, 1]]])).toEqual([
      ...['x, temperature=0', 'x, temperature=1'],
      ...['y, temperature=0', 'y, temperature=1'],
    ]);
    const wholes = variantsOf(['openai:http://a#x', 'openai:http://b#x'], []).map(({ whole }) => whole);
    expect(wholes).toEqual(['openai:http://a#x', 'openai:http://b#x']);
    expect(variantsOf([], [['environment', ['./a.ts']]])[0]!.given).toEqual({ environment: ['./a.ts'] });
  });

  test('have names of their own, whatever the values hold', () => {
    const labels = ['system=../work/brief.txt', 'prompt={{ body }}', 'topP=0.5', '{{}}', `prompt=${'x'.repeat(99)}. `];
    const names = labels.map((label) => slugOf(label, 98) || ownSlug(label, '', 98));
    expect(names.map((name) => isRunName(`a-${name}`))).toEqual(names.map(() => true));
    expect(new Set(names).size).toBe(names.length);
    expect(slugOf(`${'x'.repeat(9)}a`, 9)).toBe('xxxxxxxxx');
    expect(ownSlug('one', 'x'.repeat(9), 9)).toMatch(/^xxxx-[\da-f]{4}$/);
    expect(ownSlug('one', 'x', 9)).not.toBe(ownSlug('two', 'x', 9));
    expect(slugOf('gpt-x, temperature=0', 98)).toBe('gpt-x-temperature-0');
  });

  test('refuse an option or a model that is given twice', () => {
    expect(() => variantsOf(['tiny', 'tiny'], [])).toThrow('twice');
    expect(() =>
      labels(
        [],
        [
          ['topP', [0]],
          ['topP', [1]],
        ],
      ),
    ).toThrow('varied twice');
    expect(() => labels(['tiny'], [['model', ['tiny']]])).toThrow('varied twice');
  });
});

describe('the cells of an evaluation', () => {
  const cellsOf = (benchmarks: string[], name?: string, input: object = {}) =>
    planCells({
      ...{
        benchmarks,
        variants: variantsOf(['openai:http://a#x/y', 'tiny'], []),
        name,
        out: 'runs',
        strict: false,
        cwd: '/',
      },
      resolve: (given, below) => resolveOptions({ ...below, input: { ...input, ...given } }),
    });

  test('play one turn, and what the page of their benchmark says below what the caller says', () => {
    const [gpqa, , file] = cellsOf(['gpqa-diamond', './rows.jsonl']).map((cell) => {
      if (isRefused(cell)) throw cell.refused;
      const { options, origins } = cell.wish.resolved;
      return [options.numTurns, options.samples, origins.samples];
    });
    expect(gpqa).toEqual([1, 4, 'benchmark']);
    expect(file).toEqual([1, 1, 'default']);
    const [own] = cellsOf(['gpqa-diamond'], undefined, { samples: 2, numTurns: 3 });
    expect(own).toMatchObject({
      wish: { resolved: { options: { numTurns: 3, samples: 2 }, origins: { samples: 'input' } } },
    });
  });

  test('have names of runs from benchmark and model', () => {
    const names = (cells: ReturnType<typeof cellsOf>) => cells.map((cell) => (isRefused(cell) ? null : cell.wish.name));
    expect(names(cellsOf(['gsm8k', './a/rows.jsonl'], 'n'))).toEqual([
      'n-gsm8k-x-y',
      'n-gsm8k-tiny',
      'n-rows-x-y',
      'n-rows-tiny',
    ]);
    expect(new Set(names(cellsOf(['./a/rows.jsonl', './b/rows.jsonl'], 'n'))).size).toBe(4);
    const long = names(
      cellsOf(['hf:organisation-with-a-long-name/data-set-with-a-long-name@main/config/split'], 'n'.repeat(60)),
    );
    for (const name of long) expect(isRunName(name!), name!).toBe(true);
    expect(names(cellsOf(['gsm8k']))).toEqual([undefined, undefined]);
  });

  test('keep their names when others of the same short name are added, in any order', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'everturn-plan-'));
    for (const folder of ['a', 'b']) {
      mkdirSync(join(cwd, folder));
      writeFileSync(join(cwd, folder, 'rows.csv'), 'question,answer\n1+1,2\n');
    }
    const plan = (benchmarks: string[], models: string[], known: readonly RecordedCell[] = []) =>
      planCells({
        ...{ benchmarks, variants: variantsOf(models, []), name: 'n', out: 'runs', strict: false, cwd, known },
        resolve: (given, below) => resolveOptions({ ...below, input: given }),
      }).map((cell) => {
        if (isRefused(cell)) throw cell.refused;
        const { benchmark, label, of, wish } = cell;
        return { benchmark, label, of, run: wish.name! };
      });
    const first = plan(['a/rows.csv'], ['openai:http://a#x']);
    expect(first).toMatchObject([{ benchmark: 'rows', label: 'x', run: 'n-rows-x' }]);
    const all = plan(['b/rows.csv', './a/rows.csv'], ['openai:http://b#x', 'openai:http://a#x'], first);
    expect(all[3]).toEqual(first[0]);
    expect(new Set(all.map(({ run }) => run)).size).toBe(4);
    expect(all[0]!.label).toBe('openai:http://b#x');
    expect(plan(['b/rows.csv'], ['openai:http://b#x'], all)).toEqual([all[0]]);
    rmSync(cwd, { recursive: true });
  });

  test('have a judge that names a model alone where a page says what it judges by, and beside it a file its own', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'everturn-plan-'));
    const model = { server: 'http://judge.test/v1', model: 'm' };
    const choices = [{ choice: 'Y', verdict: 'right' }];
    writeFileSync(join(cwd, 'alone.json'), JSON.stringify(model));
    writeFileSync(join(cwd, 'whole.json'), JSON.stringify({ ...model, name: 'w', instructions: 'Is it?', choices }));
    const judgesOf = (benchmarks: string[], judge: string) =>
      planCells({
        ...{ benchmarks, variants: variantsOf(['tiny'], []), name: undefined, out: 'runs', strict: false, cwd },
        resolve: (given, below) => resolveOptions({ ...below, input: { ...given, environment: [judge] } }),
      }).map((cell) => (isRefused(cell) ? cell.refused : cell.wish.resolved.options.environment));
    const [alone, whole, gone] = ['rubric:alone.json', 'rubric:whole.json', 'rubric:gone.json'] as const;
    expect(judgesOf(['simpleqa', './rows.jsonl'], alone)).toEqual([[alone], []]);
    expect(judgesOf(['simpleqa', './rows.jsonl'], whole)).toEqual([[whole], [whole]]);
    // Who names a judge for files alone means it for them, and is told what it lacks.
    expect(judgesOf(['./rows.jsonl'], alone)).toEqual([[alone]]);
    expect(judgesOf(['simpleqa', './rows.jsonl'], gone)).toEqual([[gone], [gone]]);
    rmSync(cwd, { recursive: true });
  });

  test('of a benchmark that there is not are refused alone', () => {
    const cells = cellsOf(['gsm8j', 'gsm8k']);
    expect(cells.map(isRefused)).toEqual([true, true, false, false]);
    expect(cells[0]).toMatchObject({ label: 'x/y', refused: { reason: 'no-benchmark' } });
    expect(() => cellsOf(['gsm8k', 'gsm8k'])).toThrow('given twice');
  });
});
