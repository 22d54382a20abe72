// Summaries of a run's rollouts are those that its whole records give, however they were read.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RolloutSummary } from '../../domain/rollout/rollout-summary.ts';
import { endAll, openLoose } from './ended-rig.ts';
import type { Breach, Store } from '../../records/store.ts';
import { readSummaries, readTrajectories } from '../../records/reading/trajectories.ts';
import type { SummaryOptions } from '../../records/reading/summary.ts';
import { aQuery, play, putRun } from './play.ts';

let out: string;
let store: Store;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'everturn-'));
  store = openLoose(out);
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

async function summaries(options?: SummaryOptions): Promise<RolloutSummary[]> {
  return collected(readSummaries(store, options));
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function someRun(): Promise<void> {
  const queries = ['a', 'B b', 'c'].map((id) => aQuery(id));
  await putRun(store, queries, { samples: 2 });
  await play(store, { query: queries[0]!, verdicts: ['wrong', 'right', 'right'] });
  await play(store, { query: queries[0]!, sample: 1, verdicts: ['wrong'], stop: 'failed' });
  await play(store, { query: queries[0]!, sample: 1, attempt: 2, verdicts: ['right', 'undecided'], stop: 'undecided' });
  await play(store, { query: queries[1]!, index: 1, verdicts: ['wrong'], unjudged: 1, stop: null });
}

describe('the summaries of a run', () => {
  test('say which rollouts have a person’s message in their context, ended or not', async () => {
    const queries = ['a', 'b', 'c'].map((id) => aQuery(id));
    await putRun(store, queries);
    await play(store, { query: queries[0]!, verdicts: ['wrong', 'right'], said: [2] });
    await play(store, { query: queries[1]!, index: 1, verdicts: ['wrong', 'right'], said: [2], stop: null });
    await play(store, { query: queries[2]!, index: 2, verdicts: ['wrong', 'right'] });
    for (const detail of ['ends', 'turns', 'logprobs'] as const)
      expect((await summaries({ detail })).map(({ steered }) => steered)).toEqual(['message', 'message', undefined]);
  });

  test('are those of the whole records: the last attempt of each sample, in data set order', async () => {
    await someRun();
    const found = await summaries();
    const whole = await collected(readTrajectories(store));
    expect(found.map(({ query, sample, attempt }) => [query, sample, attempt])).toEqual(
      whole.map(({ rollout }) => [rollout.query.queryId, rollout.sample, rollout.attempt]),
    );
    for (const [i, { rollout, turns, end }] of whole.entries()) {
      expect(found[i]).toMatchObject({
        index: rollout.index,
        outcome: end?.outcome ?? null,
        stopReason: end?.stopReason ?? null,
        returns: end?.returns ?? [],
        finishedAt: end?.finishedAt ?? null,
      });
      const judged = turns.filter(({ verdict }) => verdict !== null);
      expect(found[i]!.turns).toHaveLength(judged.length);
      for (const [t, { record, verdict }] of judged.entries()) {
        expect(found[i]!.turns[t]).toMatchObject({
          turn: record.turn,
          verdict: verdict!.verdict,
          reason: verdict!.reason,
          outputTokens: record.outputIds.length,
          contextTokens: record.contextLength,
          finish: record.finish,
          versionEnd: record.versionEnd,
          startedAt: record.startedAt,
          finishedAt: record.finishedAt,
          judgeMs: verdict!.tookMs,
          logprobSum: null,
        });
      }
      const rewards = found[i]!.turns.flatMap(({ reward }) => reward ?? []);
      expect(rewards).toEqual(end?.turnRewards ?? []);
    }
  });

  test('cannot be forged by an answer, and survive version spans beyond the tail', async () => {
    const query = aQuery('a');
    await putRun(store, [query]);
    const forged = '{"finish":"length","versions":[{"version":9,"start":0,"end":9999}]}';
    const long = Array.from({ length: 300 }, (_, i) => ({ version: i, start: i, end: i + 1 }));
    await play(store, {
      query,
      verdicts: ['wrong', 'right', 'right'],
      turn: (turn) =>
        turn === 1
          ? { answer: forged, outputText: forged, model: `m"finish":"length"` }
          : turn === 2
            ? { versions: long, outputIds: long.map(({ version }) => version), logprobs: long.map(() => -1) }
            : { outputIds: [], logprobs: [], trainable: false, textLogprobs: [{ token: '"finish":"', logprob: -1 }] },
    });
    const [found] = await summaries();
    expect(found!.turns.map(({ outputTokens, finish }) => [outputTokens, finish])).toEqual([
      [3, 'stop'],
      [300, 'stop'],
      [1, 'stop'],
    ]);
  });

  test('leave out a rollout with a damaged record and name its file; a torn end was never written', async () => {
    await someRun();
    const at = (file: string) => join(store.folder, 'rollouts/ca/a/0.1', file);
    const end = readFileSync(at('end.json'), 'utf8');
    const breaches: Breach[] = [];
    writeFileSync(at('end.json'), end.replace('"complete"', '"cancelled"'));
    expect(await summaries({ onBroken: (breach) => breaches.push(breach) })).toHaveLength(2);
    expect(breaches).toMatchObject([{ path: 'rollouts/ca/a/0.1/end.json' }]);
    expect(breaches[0]!.problem).toContain('is changed');
    writeFileSync(at('end.json'), end.slice(0, 40));
    expect((await summaries())[0]).toMatchObject({ outcome: null, success: [0, 1, 1] });
  });

  test.each(['a file', 'the line of an ended rollout'])(
    'name a turn of which a byte is changed in %s, until it is repaired',
    async (where) => {
      await someRun();
      if (where !== 'a file') await endAll(out);
      const folder = join(store.folder, where === 'a file' ? 'rollouts/ca/a/0.1' : 'ended');
      const name = where === 'a file' ? 'turn-002.json' : readdirSync(folder).find((one) => one.endsWith('.jsonl'))!;
      const text = readFileSync(join(folder, name), 'utf8');
      const at = text.indexOf(
        '"startedAt":',
        where === 'a file' ? 0 : text.indexOf('"turn":2', text.indexOf('"query":"a","sample":0')),
      );
      writeFileSync(join(folder, name), `${text.slice(0, at + 12)}9${text.slice(at + 13)}`);
      const breaches: Breach[] = [];
      expect(await summaries({ onBroken: (breach) => breaches.push(breach) })).toHaveLength(2);
      expect(breaches).toMatchObject([{ path: 'rollouts/ca/a/0.1/turn-002.json' }]);
      const place = where === 'a file' ? '' : ' \\(.*\\.jsonl, in the line at byte \\d+\\)';
      expect(breaches[0]!.problem).toMatch(new RegExp(`^is changed: .*[0-9a-f]${place}$`));
      writeFileSync(join(folder, name), text);
      expect(await summaries()).toHaveLength(3);
    },
  );

  test('include rollouts that a client started directly', async () => {
    await play(store, { query: aQuery('lone'), index: null, verdicts: ['right'], stop: 'success' });
    expect(await summaries()).toMatchObject([{ query: 'lone', index: null, outcome: 'complete' }]);
  });
});
