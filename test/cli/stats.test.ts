// `everturn stats` as a user calls it: text and JSON of one folder, without a server; and what bad input gets.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Statistics } from '../../library/statistics.ts';
import { putAct } from '../../records/run/steering.ts';
import type { RunStatistics } from '../../domain/statistics/run-statistics.ts';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

let out: string;
async function someRun(): Promise<void> {
  const store = openLoose(out);
  const queries = ['a', 'b', 'c'].map((id) => aQuery(id));
  await putRun(store, queries, { samples: 2, settings: someSettings({ numTurns: 2 }) });
  const settings = someSettings({ numTurns: 2 });
  for (const [index, query] of queries.entries()) {
    for (const sample of [0, 1]) {
      if (index === 2 && sample === 1) continue;
      const verdicts = index === 2 || sample === 1 ? (['wrong', 'wrong'] as const) : (['wrong', 'right'] as const);
      await play(store, {
        query,
        index,
        sample,
        verdicts,
        settings,
        turn: () => ({ server: '\u001b[31m=HYPERLINK("x")' }),
      });
    }
  }
}

const stats = (...args: string[]) => call(out, ['stats', RUN, '--out', out, ...args]);

describe('everturn stats', () => {
  beforeEach(async () => {
    out = testFolder();
    await someRun();
  });

  test('--fail-under is a gate: all rollouts count, also those that are not there yet', async () => {
    // 2 of 6 are right; 5 have ended.
    for (const [share, wanted] of [
      ['0', 0],
      ['0.33', 0],
      ['0.34', 10],
      ['1', 10],
    ] as const) {
      const { code, err } = await stats('--fail-under', share);
      expect([share, code]).toEqual([share, wanted]);
      if (wanted === 10) expect(err).toContain('0.3333: 2 of 6 rollouts (5 have ended) are right at any turn up to 2.');
    }
    expect((await stats('--fail-under', '0.1', '--at-turn', '1')).code).toBe(10);
    for (const share of ['1.5', '-0.1', '80%', 'x', '']) {
      const { code, err } = await stats(`--fail-under=${share}`);
      expect([share, code]).toEqual([share, 2]);
      expect(err).toContain('0.8 is 80 %');
    }
    expect((await stats('--fail-under', '0.5', '--by', 'task')).code).toBe(2);
  });

  test('--judgements counts under another judge, and how often that one and people contradict the run’s', async () => {
    const store = openLoose(out);
    const rows = [];
    for (const query of ['a', 'b', 'c'])
      for (const sample of query === 'c' ? [0] : [0, 1])
        for (const turn of [1, 2]) {
          const own = (await store.get('verdict', { run: RUN, query, sample, attempt: 1 }, turn))!.record;
          const of = (await store.get('turn', { run: RUN, query, sample, attempt: 1 }, turn))!.hash;
          // The other judge calls the first answers to `a` right, says nothing of `c`, and agrees on all else.
          const verdict = query === 'a' && turn === 1 ? 'right' : own.verdict;
          const was = { verdict: own.verdict, reason: own.reason };
          if (query !== 'c')
            rows.push({
              ...{ query, sample, attempt: 1, turn, of, verdict, reason: own.reason },

              was,
              by: 'x',
            });
        }
    mkdirSync(join(store.folder, 'judgements'));
    const file = join(store.folder, 'judgements', 'other.jsonl');
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const of = { query: 'b', sample: 0, attempt: 1, turn: 2, hash: rows[5]!.of };
    for (const by of ['ana', 'bob'])
      await putAct(store, { act: 'verdict', of, verdict: 'wrong', reason: null, after: null, by, via: 'cli', at: 5 });
    const plain = JSON.parse((await stats('--json')).out) as Statistics;
    expect(plain.contradicted).toMatchObject([{ name: 'judge contradicted by people', value: 1, n: 1 }]);
    const { code, out: text, err } = await stats('--json', '--judgements', 'other');
    expect(code, err).toBe(0);
    const found = JSON.parse(text) as Statistics;
    expect(found.judgements).toBe('other');
    // `c` is as unknown, both samples of `a` are right at once, one of `b` is right at turn 2.
    expect(found.passAtKFirst[0]).toMatchObject({ value: 0.5, n: 2, leftOut: 1 });
    expect(found.passAtK[0]).toMatchObject({ value: 0.75, n: 2 });
    expect(found.contradicted[1]).toMatchObject({ name: 'judge contradicted by judgements other', value: 0.25, n: 8 });
    expect((await stats('--judgements', 'other')).out).toContain('judge contradicted by people: 100.0 %');
    expect((await stats('--judgements', 'no')).err).toContain('There are: other.');
    writeFileSync(file, 'x\n', { flag: 'a' });
    expect((await stats('--judgements', 'other')).err).toContain('other.jsonl: line 9 is not a judgement');
  });

  test('prints one JSON object with every number, its n, interval and definition', async () => {
    const { code, out: text } = await stats('--json', '--k', '1,2');
    expect(code).toBe(0);
    const found = JSON.parse(text) as RunStatistics & { readonly run: string };
    expect(found).toMatchObject({ run: RUN, total: 6, ended: 5, queries: 3, atTurn: 2 });
    expect(found.passAtK.map(({ name, value, n, leftOut }) => [name, value, n, leftOut])).toEqual([
      ['pass@1 (any of 2 turns)', 1 / 3, 3, 0],
      ['pass@2 (any of 2 turns)', 1, 2, 1],
    ]);
    for (const estimate of [...found.passAtKFirst, ...found.passAtK, ...found.byTurn.map(({ accuracy }) => accuracy)]) {
      expect(estimate.definition.length).toBeGreaterThan(20);
      expect(estimate.interval).toHaveLength(2);
    }
    expect(found.provisional).toMatchObject({ of: 6, ended: 5, closedPrefix: { length: 5 } });
  });

  test('shows a run in progress as a closed prefix with bounds, and says that it is provisional', async () => {
    const { out: text } = await stats();
    expect(text).toContain('In progress: 5 of 6 rollouts ended');
    expect(text).toContain('of the first 5 rollouts in play order');
    expect(text).toContain('at the end between 33.3 % and 50.0 % of all rollouts are right');
    expect(text).toMatch(/turn {2}judged {2}right/);
  });

  test.each([
    [['--k', '0'], '--k "0" is not a list'],
    [['--k', '1,x'], 'is not a list of whole numbers'],
    [['--k', '3'], '--k 3 is above the 2 samples of each query'],
    [['--at-turn', '9'], 'the run plays 2 turns'],
    [['--price-in', '1'], 'Give both --price-in and --price-out'],
    [['--prices', 'none.yaml'], 'cannot be read as YAML or JSON'],
  ])('refuses %j in one paragraph', async (args, said) => {
    const { code, err, out: text } = await stats(...args);
    expect([code, text]).toEqual([2, '']);
    expect(err).toContain(said);
  });

  test('leaves out a damaged rollout, names its file, and is no success', async () => {
    writeFileSync(join(out, RUN, 'rollouts/3e/b/0.1/end.json'), '{"format":"everturn-end/1"}\n');
    const { code, err, out: text } = await stats('--json');
    expect(code).toBe(1);
    expect(err).toContain('1 rollout left out');
    expect(err).toContain('rollouts/3e/b/0.1/end.json');
    expect(JSON.parse(text)).toMatchObject({ ended: 4 });
  });

  test('leaves out rollouts with a person’s message and says how many, unless they are asked for', async () => {
    const store = openLoose(out);
    const settings = someSettings({ numTurns: 2 });
    await play(store, { query: aQuery('c'), index: 2, sample: 1, verdicts: ['right', 'right'], settings, said: [2] });
    const { err, out: text } = await stats('--json');
    expect(JSON.parse(text)).toMatchObject({ ended: 5, total: 5, steered: { message: 1, fork: 0 }, provisional: null });
    expect(err).toContain('1 rollout with a person’s message in the context left out: --include-steered counts it.');
    const all = await stats('--json', '--include-steered');
    expect(JSON.parse(all.out)).toMatchObject({ ended: 6, total: 6, steered: { message: 0, fork: 0 } });
    expect(all.err).toBe('');
  });

  const rows = (level: (id: string) => unknown, ask = (id: string) => `What is ${id}?`) => {
    const file = join(out, 'rows.jsonl');
    const line = (id: string) =>
      JSON.stringify({ id, prompt: ask(id), answer: '42', level: level(id), info: { split: id }, tags: [id] });
    writeFileSync(file, `${['a', 'b', 'c'].map(line).join('\n')}\n`);
    return file;
  };

  test('splits by a field of the rows: each part, and all together', async () => {
    const file = rows((id) => (id === 'a' ? 10 : id === 'b' ? 9 : null));
    const { code, out: text } = await stats('--by', 'level', '--rows', file, '--json');
    expect(code).toBe(0);
    const { groups } = JSON.parse(text) as { groups: (RunStatistics & { value: string | null })[] };
    expect(groups.map(({ value, ended, queries }) => [value, ended, queries])).toEqual([
      ['9', 2, 1],
      ['10', 2, 1],
      [null, 1, 1],
    ]);
    const table = await stats('--by', 'info.split', '--rows', file);
    expect(table.out).toMatch(/^a .*\n(b .*\n)(c .*\n)all /m);
  });

  test('splits by a category that queries were given, without their data set', async () => {
    const categories = { subject: 'Algebra' };
    const store = openLoose(out, 'sorted');
    const queries = [aQuery('a', { categories }), aQuery('b')];
    await putRun(store, queries, { run: 'sorted' });
    for (const [index, query] of queries.entries())
      await play(store, { run: 'sorted', query, index, verdicts: ['right', 'right', 'right'] });
    const found = await call(out, ['stats', 'sorted', '--out', out, '--by', 'subject']);
    expect([found.code, found.out]).toEqual([0, expect.stringMatching(/^Algebra .*\n\(none\) .*\nall /m)]);
  });

  test.each([
    ['a field that no row has', 'What', 'depth', 'There are: task, id, prompt, answer, level, info.split, tags'],
    ['rows that ask something else', 'Who', 'level', 'rows.jsonl:1: row "a" asks another question'],
  ])('refuses %s', async (_, ask, field, said) => {
    const file = rows(
      (id) => id,
      (id) => `${ask} is ${id}?`,
    );
    const { code, err } = await stats('--by', field, '--rows', file);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });
});
