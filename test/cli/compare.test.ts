// `everturn compare` as a user calls it: two folders, without a server; its exit codes make a gate.

import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

let out: string;
beforeEach(() => void (out = testFolder()));

/** The run's folder is `<out>/<name>/r1`: the script writes one run name only. */
async function runIn(name: string, right: number, part: { temperature?: number; text?: string } = {}): Promise<string> {
  const store = openFileStore(join(out, name), RUN);
  const settings = someSettings({ numTurns: 1, temperature: part.temperature ?? 1 });
  const queries = Array.from({ length: 10 }, (_, i) =>
    aQuery(
      i === 0 ? '\u001b[31mq0' : `q${i}`,
      i === 9 && part.text ? { prompt: { kind: 'text', text: part.text } } : {},
    ),
  );
  await putRun(store, queries, { settings });
  for (const [index, query] of queries.entries())
    await play(store, { query, index, settings, verdicts: [index < right ? 'right' : 'wrong'] });
  return join(out, name, RUN);
}

const compare = (...args: string[]) => call(out, ['compare', ...args]);

describe('everturn compare', () => {
  test('exits with 10 only if the second run is worse by more than --min-delta', async () => {
    const [good, bad] = [await runIn('good', 9), await runIn('bad', 2, { temperature: 0.5 })];
    expect((await compare(good, bad)).code).toBe(0);
    const gated = await compare(good, bad, '--min-delta', '0.02');
    expect(gated.code).toBe(10);
    expect(gated.err).toContain('by more than --min-delta 0.02');
    expect((await compare(bad, good, '--min-delta', '0')).code).toBe(0);
    expect((await compare(good, bad, '--min-delta', '0.8')).code).toBe(0);
  });

  test('with --min-delta exits with 10 where nothing can be compared: a gate never passes for want of answers', async () => {
    const good = await runIn('good', 9);
    const store = openFileStore(join(out, 'none'), RUN);
    await putRun(store, [aQuery('another')], { settings: someSettings({ numTurns: 1 }) });
    expect((await compare(good, store.folder)).code).toBe(0);
    const gated = await compare(good, store.folder, '--min-delta', '0.5');
    expect([gated.code, gated.err]).toEqual([10, expect.stringContaining('nobody knows whether')]);
  });

  test('puts more than two runs into one table, each against the first, with the cost of each', async () => {
    const runs = [await runIn('base', 4), await runIn('same', 4), await runIn('best', 9)];
    const { code, out: text } = await compare(...runs, '--price-in', '1000000', '--price-out', '0');
    expect(code).toBe(0);
    const rows = text.split('\n').filter((line) => line.startsWith(RUN));
    expect(rows[0]).toMatch(/ 40\.0 % {2}16\.8 to 68\.7 +10 +3 +3 +\S+ +30\.0000 +1:30$/);
    expect(rows[1]).toMatch(/±0\.0 points +– +1\.0000/);
    expect(rows[2]).toMatch(/\+50\.0 points +\+12\.3 to \+87\.7 points +0\.0150/);
    const json = JSON.parse((await compare(...runs, '--json')).out) as { runs: { atTurns: object[] }[] };
    expect(json.runs[2]!.atTurns).toMatchObject([{ against: { difference: { value: 0.5 }, table: { 'only-b': 5 } } }]);
  });

  test('shows the 2×2, the tests and the settings that differ, and no escape sequence of a query id', async () => {
    const [a, b] = [await runIn('a', 9), await runIn('b', 2, { temperature: 0.5, text: 'Another text.' })];
    const { out: text } = await compare(a, b);
    expect(text).toContain('9 queries in both');
    expect(text).toMatch(/r1 right +2 +7/);
    expect(text).toContain('sign test p = 0.0156');
    expect(text).toContain('temperature: 1 → 0.5');
    expect(text).toContain('1 query with the same id and another text, not compared: q9');
    const only = await compare(a, b, '--show', 'only-a');
    expect(only.out.trim().split('\n')).toHaveLength(7);
    expect((await compare(a, b, '--show', 'both')).out).not.toContain('\u001b');
  });

  test('prints one JSON object', async () => {
    const [a, b] = [await runIn('a', 9), await runIn('b', 2)];
    const found = JSON.parse((await compare(a, b, '--json', '--show', 'only-a')).out) as Record<string, unknown>;
    expect(found).toMatchObject({ pairs: 10, worse: false, show: 'only-a', table: { 'only-a': 7 } });
    expect(found['queries']).toHaveLength(7);
  });

  test.each([
    [['--min-delta', 'x'], 'It takes a number of at least 0'],
    [['--min-delta', '-1'], 'It takes a number of at least 0'],
    [['--at-turn', '4'], 'one of the runs plays 1 turn'],
    [['--show', 'x'], 'Allowed choices are both'],
  ])('refuses %j in one paragraph', async (args, said) => {
    const run = await runIn('a', 1);
    const { code, err } = await compare(run, run, ...args);
    expect(code).toBe(2);
    expect(err).toContain(said);
  });
});
