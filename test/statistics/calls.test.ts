// Calls of tools in the statistics of a run, from a run that was played: test/fixtures/run-tools.json.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import type { RunStatistics } from '../../domain/statistics/run-statistics.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { unpack } from '../support/packed-run.ts';

const out = mkdtempSync(join(tmpdir(), 'everturn-calls-'));
beforeAll(() => unpack('run-tools.json', join(out, 'tools')));
afterAll(() => rmSync(out, { recursive: true }));

async function stats(...args: string[]): Promise<string> {
  const io = scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(out, '.home') } });
  expect(await main(io, ['stats', 'tools', '--out', out, ...args])).toBe(0);
  return io.text.out;
}

describe('the statistics of a run with tools', () => {
  test('count each call by name, how it ended, its seconds and its share of turns', async () => {
    const { calls, timing } = JSON.parse(await stats('--json')) as RunStatistics;
    const short = calls.map(({ name, calls: n, outcomes, turns, ofTurns, seconds }) => [
      ...[name, n, outcomes.ok, outcomes.failed, outcomes.refused],
      `${turns}/${ofTurns}`,
      seconds.n,
    ]);
    expect(short).toEqual([
      ['price', 7, 6, 0, 1, '6/18', 6],
      ['order', 2, 2, 0, 0, '2/18', 2],
      [null, 1, 0, 0, 1, '1/18', 0],
      ['add', 1, 1, 0, 0, '1/18', 1],
      ['fail', 1, 0, 1, 0, '1/18', 1],
      ['long', 1, 1, 0, 0, '1/18', 1],
      ['prize', 1, 0, 0, 1, '1/18', 0],
    ]);
    const refusals = Object.fromEntries(calls.map(({ name, refusals: by }) => [String(name), by]));
    expect(refusals).toMatchObject({
      price: { 'bad-arguments': 1 },
      null: { unreadable: 1 },
      prize: { 'unknown-tool': 1 },
      add: {},
    });
    // Time of tools is no time of judging: answers alone.
    expect(timing!.judgeSeconds.n).toBe(8);
  });

  test('show them as a table', async () => {
    const text = await stats();
    expect(text).toMatch(/call +calls +ok +failed +timed out +refused +of turns/);
    expect(text).toMatch(/price +7 +6 +0 +0 +1 +33\.3 %/);
    expect(text).toMatch(/unreadable +1 /);
    expect(text).toContain('refused      1 unreadable, 1 unknown-tool, 1 bad-arguments');
  });
});
