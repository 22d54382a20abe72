// A program starts runs without a command: with options as values, found again by the same call, refused with reasons that stay,
// and silently.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { openRun, type RunEvent, start, type StartOptions } from '../../library/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { type Everturn, openSharedEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';

let everturn: Everturn;
beforeAll(() => {
  everturn = openSharedEverturn();
  const rows = [1, 2, 3].map((n) => ({ id: `q${n}`, question: `What is ${n} + 1?`, answer: `${n + 1}` }));
  everturn.write('rows.jsonl', [...rows, { id: 'bad', question: 'What?' }]);
});
afterAll(() => everturn.close());

const where = () => ({
  ...{ cwd: everturn.folder, home: inject('sharedHome') },
  env: {
    ...process.env,
    EVERTURN_TEMPORAL_CLI: inject('temporalBinary'),
    EVERTURN_IDLE_MINUTES: '5',
    EVERTURN_UI: 'on',
  },
});
const started = (more: Partial<StartOptions> = {}) =>
  start({
    ...{ dataset: 'rows.jsonl', name: 'by-program', numTurns: 2, samples: 2, maxNewTokens: 16 },
    ...where(),
    ...more,
  });

describe('a run that a program starts', { timeout: 120_000 }, () => {
  test('is played, read, and found again by the same call, also at once; nothing is printed', async () => {
    const written = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write'));
    const events: RunEvent[] = [];
    const atOnce = await Promise.all([started({ onEvent: (event) => events.push(event) }), started(), started()]);
    expect(atOnce.filter(({ found }) => found === 'new')).toHaveLength(1);
    const [run] = atOnce;
    expect(run).toMatchObject({ run: 'by-program', folder: join(everturn.folder, 'runs/by-program') });
    const names: string[] = [];
    for await (const { query, sample } of run.rollouts()) names.push(`${query}/${sample}`);
    expect(names.sort()).toEqual(['q1/0', 'q1/1', 'q2/0', 'q2/1', 'q3/0', 'q3/1']);
    expect(await run.result()).toMatchObject({ state: 'ended', total: 6, done: 6 });
    const again = await started();
    expect(again.found).toBe('ended');
    for (const spy of written) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
    expect(events.find(({ type }) => type === 'rows')).toMatchObject({
      ...{ isHeldOut: false, dataset: 'rows.jsonl' },
      rows: { dataset: { accepted: 3, refused: 1 }, badRows: [{ line: 4 }] },
    });
    const { record } = (await openFileStore(join(everturn.folder, 'runs'), run.run).get('run'))!;
    expect(record.origins).toMatchObject({ numTurns: 'input', samples: 'input', temperature: 'default' });
  });

  test('is forked, extended and judged again', async () => {
    const run = await openRun('by-program', where());
    const wish = { query: 'q1', fromTurn: 2, samples: 2, say: 'Check it.', by: 'anna' };
    const fork = await run.fork(wish);
    expect(fork).toMatchObject({ run: expect.stringMatching(/^by-program-fork-/), found: 'new' });
    expect(await fork.result()).toMatchObject({ state: 'ended', total: 2 });
    expect((await run.fork(wish)).found).toBe('ended');
    const longer = await run.extend({ query: 'q1', turns: 1, name: 'longer' });
    expect(await longer.result()).toMatchObject({ state: 'ended', total: 1, numTurns: 3 });
    await expect(run.fork({ query: 'q1', fromTurn: 9 })).rejects.toMatchObject({ reason: 'no-such-turn' });
    expect(await run.judge({ name: 'again' })).toMatchObject({ file: 'judgements/again.jsonl', turns: 12, changed: 0 });
    const none = { from: everturn.folder, weightVersion: 1 };
    await expect(run.updateWeights(none)).rejects.toMatchObject({ reason: 'no-weights' });
  });

  test('goes on where the signal aborts once it is made; it is paused, tuned and cancelled by the run', async () => {
    const leave = new AbortController();
    const left = new Error('left');
    const onEvent = ({ type }: RunEvent) => type === 'made' && leave.abort(left);
    await expect(started({ name: 'left', samples: 2000, signal: leave.signal, onEvent })).rejects.toBe(left);
    const run = await openRun('left', where());
    await until('it is played', async () => (await run.status()).state === 'running');
    await run.pause();
    expect(await run.status()).toMatchObject({ state: 'paused' });
    await run.tune({ maxConcurrent: 3 });
    await run.resume();
    await until('it goes on', async () => (await run.status()).state === 'running');
    expect(await run.status()).toMatchObject({ maxConcurrent: 3 });
    await run.cancel();
    expect(await run.result()).toMatchObject({ state: 'cancelled', total: 6000 });
    await expect(run.pause()).rejects.toMatchObject({ reason: 'run-not-open' });
    await run.cancel();
  });

  test.each([
    [{ temperature: 0 }, 'run-differs'],
    [{ numTurns: 0 }, 'bad-value'],
    [{ turns: 3 } as object, 'unknown-option'],
    [{ name: 'a/b' }, 'run-name'],
    [{ name: 'other', model: () => '2', train: true }, 'bad-settings'],
    [{ name: 'other', strict: true }, 'bad-row'],
    [{ name: 'other', dataset: 'none.jsonl' }, 'dataset-missing'],
    [{ name: 'other', model: 'openai:http://127.0.0.1:9/v1#m', signal: AbortSignal.abort('left') }, undefined],
  ])('is refused with %o, and leaves nothing', async (more, reason) => {
    const refused = await started(more).then(
      () => 'started',
      (error: unknown) => (error instanceof Error && 'reason' in error ? error.reason : undefined),
    );
    expect(refused).toBe(reason);
    expect(existsSync(join(everturn.folder, 'runs/other'))).toBe(false);
  });
});
