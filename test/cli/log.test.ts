// `everturn log`: the numbers of a run by weight version, each version once.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { openFileStore } from '../../records/file-store.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { evaluate, HELD_OUT, TRAIN, trained } from '../records/evaluated.ts';
import { play, putRun } from '../records/play.ts';
import { QUERIES } from '../viewer/rig.ts';
import { scriptedIo } from './scripted-io.ts';

let out: string;
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), 'everturn-log-'));
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

describe('everturn log', () => {
  test('prints a version once none of its rollouts can be in flight, and says what the next waits for', async () => {
    const store = openFileStore(out, 'trained');
    await putRun(store, QUERIES, { run: 'trained', train: TRAIN });
    await trained(store, [[0, 0]], 2);
    let waits = '';
    const lines = async () => {
      const io = scriptedIo({ cwd: out, env: {} });
      expect(await main(io, ['log', 'trained', '--out', out, '--no-follow'])).toBe(0);
      waits = io.text.err;
      return io.text.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { version: number });
    };
    const add = (index: number, verdicts: readonly ('right' | 'wrong')[], versions: readonly number[]) =>
      play(store, { run: 'trained', query: QUERIES[index]!, index, verdicts, versions });
    await add(0, ['wrong', 'wrong', 'wrong'], [0, 0, 1]);
    expect(await lines()).toEqual([]);
    expect(waits).toBe('Version 0 waits: no rollout that began with version 2 or later has ended.\n');
    await add(1, ['right', 'right', 'right'], [2, 2, 2]);
    await add(3, ['right', 'right', 'right'], [2, 2, 2]);
    expect(await lines()).toEqual([expect.objectContaining({ version: 0, rollouts: 1, right: 0, staleness: 1 })]);
    // One is in flight with an answer of version 1, and holds later versions back.
    await play(store, {
      run: 'trained',
      query: QUERIES[2]!,
      index: 2,
      sample: 1,
      verdicts: ['wrong'],
      versions: [1],
      stop: null,
    });
    await add(2, ['right', 'right', 'right'], [4, 4, 5]);
    expect((await lines()).map(({ version }) => version)).toEqual([0]);
    expect(waits).toBe('Version 2 waits: a rollout with an answer of version 1 is in flight.\n');
  });

  test('prints an evaluated version once it is evaluated, by its newest line, and status says how far each is', async () => {
    const store = openFileStore(out, 'held');
    await putRun(store, QUERIES, { run: 'held', evaluation: HELD_OUT });
    const lines = async () => {
      const io = scriptedIo({ cwd: out, env: {} });
      expect(await main(io, ['log', 'held', '--out', out, '--no-follow'])).toBe(0);
      return io.text.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { version: number; rollouts: number; eval?: object });
    };
    for (const [index, version] of [0, 1, 3, 5].entries())
      await play(store, { run: 'held', query: QUERIES[index]!, index, verdicts: ['right'], versions: [version] });
    expect(await lines()).toEqual([]);
    await evaluate(out, { run: 'held', version: 0, open: true }, ['right']);
    const status = async () => {
      const io = scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(out, 'home') } });
      expect(await main(io, ['status', 'held', '--out', out])).toBe(0);
      return io.text.out;
    };
    expect(await status()).toContain('Held out   right at any turn: version 0 is being played (1 of 1)\n');
    expect(await lines()).toEqual([]);
    await evaluate(out, { run: 'held', version: 2, line: 1 }, ['wrong']);
    const newest = await evaluate(out, { run: 'held', version: 2, line: 2 }, ['right', 'wrong']);
    await openFileStore(join(out, 'held-eval'), 'held-eval-v0').putResult({
      ...{ run: 'held-eval-v0', total: 1, cancelled: false, numTurns: 3, counts: noCounts() },
    });
    expect(await status()).toContain('Held out   right at any turn: version 0 100.0 %, version 2 50.0 %\n');
    const found = await lines();
    expect(found.map(({ version, rollouts }) => [version, rollouts])).toEqual([
      [0, 1],
      [1, 1],
      [2, 0],
      [3, 1],
    ]);
    expect(found[2]!.eval).toMatchObject({ run: newest, rollouts: 2, right: 0.5, answeredBy: [2, 2] });
  });
});
