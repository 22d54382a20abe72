// A server that gives text without tokens leaves their number unknown: every command says so, and none shows 0.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { isBlockReport } from '../../domain/run/blocks.ts';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import { trajectoryResult } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { openRates } from '../../cli/view/progress-view.ts';
import { outcomeLine } from '../../cli/view/summary.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';
import { progressOf, resultOf } from './scripted-io.ts';

let out: string;
beforeEach(() => void (out = testFolder()));

const TEXT: Partial<TurnRecord> = { contextIds: [], outputIds: [], logprobs: [], versions: [], trainable: false };

async function runOf(name: string, turn?: Partial<TurnRecord>) {
  const store = openFileStore(join(out, name), RUN);
  const settings = someSettings({ numTurns: 1 });
  const query = aQuery('q');
  await putRun(store, [query], { settings });
  await play(store, { query, settings, verdicts: ['right'], ...(turn && { turn: () => turn }) });
  return store;
}

const everturn = async (...args: string[]) => (await call(out, args)).out;

const ZERO = /(?<![\d.,])0 tokens|tokens[^\n]*(?:p50|:) 0\b|between 0\.0000/;

describe('tokens that nobody knows', () => {
  test('are null or – in stats, compare, show and why, and never 0', async () => {
    const { folder } = await runOf('text', TEXT);
    const known = (await runOf('ids')).folder;
    const shown = [
      await everturn('stats', folder, '--price-in', '3', '--price-out', '15'),
      await everturn('compare', known, folder),
      await everturn('show', folder, 'q'),
      await everturn('why', folder, 'q'),
    ];
    for (const text of shown) expect(text).not.toMatch(ZERO);
    expect(shown[0]).toMatch(/tokens +a turn: p50 –.*; – in all/);
    expect(shown[0]).toMatch(/all together –/);
    expect(shown[0]).toMatch(/tokens per right rollout +–/);
    expect(shown[0]).toMatch(/cost +–/);
    expect(shown[1]).not.toContain('Tokens of an answer');
    expect(shown[2]).toContain('– tokens after –');
    const json = await everturn('stats', folder, '--price-in', '3', '--price-out', '15', '--json');
    const { timing, cost } = JSON.parse(json) as { timing: Record<string, Record<string, unknown>>; cost: unknown };
    expect(cost).toBeNull();
    expect([timing['tokens'], timing['throughput'], timing['tokensPerRight']!['value']]).toEqual([null, null, null]);
    for (const name of ['outputTokens', 'contextTokens', 'tokensPerSecond'])
      expect(timing[name]).toEqual({ n: 0, mean: null, p50: null, p90: null, p99: null, max: null, sum: null });
  });

  test('are null in the counts of a run, for the rest of it, and – where they are shown', async () => {
    const counts = noCounts();
    for (const name of ['text', 'ids']) {
      const store = await runOf(name, name === 'text' ? TEXT : undefined);
      for await (const trajectory of readTrajectories(store)) addResult(counts, trajectoryResult(out, trajectory)!, 1);
    }
    expect(counts).toMatchObject({ turns: 2, tokens: null });
    expect(outcomeLine(resultOf({ counts, total: 2 }))).toContain('2 turns, – tokens.');
    const rates = openRates();
    expect(rates(progressOf({ counts, done: 2, total: 4 }), 1_005_000)).toEqual({
      tokensPerSecond: null,
      remainingMs: 5000,
    });
    expect(isBlockReport({ block: 'b', inFlight: 0, counts, ended: true })).toBe(true);
  });

  test('are those of the endpoint where it counts them: tokens, thoughts, and an exact cost by a file of prices', async () => {
    const usage = { input: 1000, cached: 400, output: 50, reasoning: 30 };
    const { folder } = await runOf('counted', { ...TEXT, usage, reasoning: 'I add them.\u001b[2J' });
    const shown = await everturn('show', folder, 'q');
    expect(shown).toContain('50 tokens after 1000 · 30 tokens of them thought · 400 tokens of the context cached');
    expect(shown).toMatch(/^ +~ I add them\./m);
    expect(shown).not.toContain('\u001b[2J');
    writeFileSync(join(out, 'prices.yaml'), 'tiny: {in: 3, cached: 1, out: 20}\n');
    const text = await everturn('stats', folder, '--prices', 'prices.yaml');
    expect(text).toMatch(/tokens +a turn: p50 50,.*; 50 in all, 30 of them thought/);
    expect(text).toMatch(/context +a turn: p50 1,000,.*; 1,000 in all, 400 of them cached/);
    expect(text).toMatch(/cost +0\.0032$/m);
  });
});
