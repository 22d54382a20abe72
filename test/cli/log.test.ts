// `everturn log`: the numbers of a run by weight version, each version once.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { evaluate, HELD_OUT, TRAIN, trained } from '../records/evaluated.ts';
import { play, putRun } from '../records/play.ts';
import { QUERIES } from '../viewer/rig.ts';
import { jsonLines } from '../support/json-lines.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

const out = scratchFolder();

interface Line {
  readonly version: number;
  readonly rollouts: number;
  readonly eval?: object;
}

async function log(run: string): Promise<{ readonly lines: Line[]; readonly waits: string }> {
  const ended = await call(out, ['log', run, '--out', out, '--no-follow']);
  expect(ended.code, ended.err).toBe(0);
  return { lines: jsonLines(ended.out), waits: ended.err };
}

describe('everturn log', () => {
  test('prints a version once none of its rollouts can be in flight, and says what the next waits for', async () => {
    const store = openFileStore(out, 'trained');
    await putRun(store, QUERIES, { run: 'trained', train: TRAIN });
    await trained(store, [[0, 0]], 2);
    const add = (index: number, verdicts: readonly ('right' | 'wrong')[], versions: readonly number[]) =>
      play(store, { run: 'trained', query: QUERIES[index]!, index, verdicts, versions });
    await add(0, ['wrong', 'wrong', 'wrong'], [0, 0, 1]);
    const waits = 'Version 0 waits: no rollout that began with version 2 or later has ended.\n';
    expect(await log('trained')).toEqual({ lines: [], waits });
    await add(1, ['right', 'right', 'right'], [2, 2, 2]);
    await add(3, ['right', 'right', 'right'], [2, 2, 2]);
    expect((await log('trained')).lines).toMatchObject([{ version: 0, rollouts: 1, right: 0, staleness: 1 }]);
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
    expect(await log('trained')).toMatchObject({
      lines: [{ version: 0 }],
      waits: 'Version 2 waits: a rollout with an answer of version 1 is in flight.\n',
    });
  });

  test('prints an evaluated version once it is evaluated, by its newest line, and status says how far each is', async () => {
    const store = openFileStore(out, 'held');
    await putRun(store, QUERIES, { run: 'held', evaluation: HELD_OUT });
    for (const [index, version] of [0, 1, 3, 5].entries())
      await play(store, { run: 'held', query: QUERIES[index]!, index, verdicts: ['right'], versions: [version] });
    expect((await log('held')).lines).toEqual([]);
    await evaluate(out, { run: 'held', version: 0, open: true }, ['right']);
    const status = async () => (await call(out, ['status', 'held', '--out', out])).out;
    expect(await status()).toContain('Held out   right at any turn: version 0 is being played (1 of 1)\n');
    expect((await log('held')).lines).toEqual([]);
    await evaluate(out, { run: 'held', version: 2, line: 1 }, ['wrong']);
    const newest = await evaluate(out, { run: 'held', version: 2, line: 2 }, ['right', 'wrong']);
    await openFileStore(join(out, 'held-eval'), 'held-eval-v0').put('result', null, {
      ...{ run: 'held-eval-v0', total: 1, cancelled: false, numTurns: 3, counts: noCounts() },
    });
    expect(await status()).toContain('Held out   right at any turn: version 0 100.0 %, version 2 50.0 %\n');
    const found = (await log('held')).lines;
    expect(found.map(({ version, rollouts }) => [version, rollouts])).toEqual([
      [0, 1],
      [1, 1],
      [2, 0],
      [3, 1],
    ]);
    expect(found[2]!.eval).toMatchObject({ run: newest, rollouts: 2, right: 0.5, answeredBy: [2, 2] });
  });
});
