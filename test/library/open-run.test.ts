// A run as a program reads it: its rollouts in the order of their ends, its rows, numbers, exports and proofs as the commands
// give them; and what a wait for a run that nobody plays, or an option that cannot be meant, gets.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { noCounts } from '../../domain/run/progress.ts';
import { EverturnError, openRun, type Rollout, start, UsageError } from '../../library/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { call } from '../cli/command-line.ts';
import { all } from '../contract/store.ts';
import { someRun } from '../formats/exports/some-run.ts';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { jsonLines } from '../support/json-lines.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const env = { EVERTURN_HOME: join(folder, '.home') };
const opened = (out = 'runs') => openRun(RUN, { cwd: folder, env, out });
const named = ({ query, sample }: Pick<Rollout, 'query' | 'sample'>) => `${query}/${sample}`;

beforeAll(async () => {
  const store = openFileStore(join(folder, 'runs'), RUN);
  await someRun(store);
  await store.put('result', null, { run: RUN, total: 13, cancelled: false, numTurns: 3, counts: noCounts() });
});

describe('the rollouts of a run', () => {
  test('come in the order of their ends, whichever worker stored them', async () => {
    const ended = join(folder, 'runs', RUN, 'ended');
    const kept = readdirSync(ended).map((name) => [name, readFileSync(join(ended, name))] as const);
    const lines = String(kept.find(([name]) => name.endsWith('.jsonl'))![1]).split(/(?<=\n)/);
    for (const [name] of kept) rmSync(join(ended, name));
    for (const worker of [2, 1, 0])
      writeFileSync(join(ended, `${'cab'[worker]}.jsonl`), lines.filter((_, i) => i % 3 === worker).join(''));
    const ends = (await all((await opened()).rollouts())).map(({ endedAt }) => endedAt!);
    for (const name of readdirSync(ended)) rmSync(join(ended, name));
    for (const [name, bytes] of kept) writeFileSync(join(ended, name), bytes);
    expect(ends).toHaveLength(13);
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  });

  test('have their facts at once, and turns, texts and tokens when they are asked for', async () => {
    const rollouts = await all((await opened()).rollouts());
    const one = rollouts.find((rollout) => named(rollout) === 'q1/1')!;
    expect(one).toMatchObject({ outcome: 'complete', stopReason: 'success', success: [0, 1], attempt: 1 });
    expect(one.reward).toBeCloseTo(one.success.length > 1 ? -0.33 + 0.9 * 0.27 : 0);
    expect((await one.turns()).map(({ verdict }) => verdict)).toEqual(['wrong', 'right']);
    const { messages } = await one.texts();
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
    const { turns } = await one.trajectory();
    const [row] = await one.rows();
    expect(row!.response_mask.reduce<number>((sum, mask) => sum + mask, 0)).toBe(
      turns.reduce((sum, { record }) => sum + record.outputIds.length, 0),
    );
    const failed = rollouts.find(({ outcome }) => outcome === 'failed')!;
    expect(failed).toMatchObject({ query: 'q@3', sample: 1, reason: 'scripted', reward: null });
    expect(await failed.rows()).toEqual([]);
  });

  test('of a run that nobody plays are those that ended, and then an error that says so', async () => {
    const out = join(folder, 'left');
    const store = openFileStore(out, RUN);
    const [one, other] = [aQuery('a'), aQuery('b')];
    await putRun(store, [one, other]);
    await play(store, { query: one, index: 0, verdicts: ['right'], stop: 'success' });
    await play(openLoose(out), { query: other, index: 1, verdicts: ['wrong'], stop: null });
    const run = await opened(out);
    expect((await all(run.rollouts({ follow: false }))).map(named)).toEqual(['a/0']);
    const seen: string[] = [];
    const following = (async () => {
      for await (const rollout of run.rollouts()) seen.push(named(rollout));
    })();
    await expect(following).rejects.toMatchObject({ boundary: 'temporal', reason: 'service-ended' });
    expect(seen).toEqual(['a/0']);
    await expect(run.result()).rejects.toMatchObject({ reason: 'service-ended' });
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(run.result({ signal: stopped })).rejects.toThrow('enough');
  });
});

describe('what a run gives', () => {
  test('is what the commands print', async () => {
    const run = await opened();
    const printed = async (...args: string[]) => JSON.parse((await call(folder, args)).out) as unknown;
    expect(await run.stats({ k: [1, 3] })).toEqual(await printed('stats', RUN, '--k', '1,3', '--json'));
    expect(await run.stats({ by: 'task' })).toEqual(await printed('stats', RUN, '--by', 'task', '--json'));
    const { out } = await call(folder, ['check', RUN, '--json', '--no-tokenizer']);
    const lines = jsonLines<{ event: string; path?: string }>(out);
    const breaches: string[] = [];
    const checked = await run.check({ tokenizer: false, onBreach: ({ path }) => breaches.push(path) });
    expect({ event: 'summary', ...checked }).toEqual(lines.at(-1));
    expect(breaches).toEqual(lines.slice(0, -1).map(({ path }) => path));
    const exported = await run.export('rows', 'one.jsonl', { texts: true });
    const same = await printed('export', RUN, '--format', 'rows', '--texts', '--to', 'two.jsonl', '--json');
    expect({ ...exported, file: '' }).toEqual({ ...(same as object), file: '' });
    const text = readFileSync(join(folder, 'one.jsonl'), 'utf8');
    expect(text).toBe(readFileSync(join(folder, 'two.jsonl'), 'utf8'));
    expect(await all(run.rows({ texts: true }))).toEqual(jsonLines(text));
    await expect(run.export('rows', 'one.jsonl')).rejects.toMatchObject({ reason: 'file-exists' });
    const status = (await printed('status', RUN, '--json')) as Record<string, unknown>;
    expect(status).toMatchObject((await run.result()) as object);
  });

  test('is refused where an option cannot be meant, by its name', async () => {
    const run = await opened();
    await expect(openRun('none', { cwd: folder })).rejects.toBeInstanceOf(UsageError);
    await expect(openRun('none', { cwd: folder })).rejects.toMatchObject({ reason: 'no-such-run' });
    for (const [asked, said] of [
      [() => run.stats({ ks: [1] } as object), /no option "ks"/],
      [() => run.stats({ k: [0] }), /option k /],
      [() => run.stats({ k: [64] }), /^`k` 64 is above/],
      [() => run.stats({ rows: 'x.jsonl' } as object), /^`rows` names the data set for `by`/],
      [
        () => (run.status as (options: object) => Promise<unknown>)({ follow: true }),
        /status\(\) has no option "follow"/,
      ],
      [() => run.export('kto', 'file', { texts: true }), /^`texts` means nothing to `format` kto/],
      [() => all(run.rows({ minMembers: 0.5 })), /option minMembers/],
      [() => all(run.rows({ successRate: [0.9, 0.1] })), /^`successRate` "0.9:0.1"/],
      [() => run.export('csv', 'file'), /no export format "csv"/],
      [() => run.check({ export: 'nowhere' }), /"nowhere" is not a file/],
    ] as const) {
      const error = await asked().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(error).toBeInstanceOf(EverturnError);
      expect((error as Error).message).toMatch(said);
    }
  });
});

describe('what a program gives', () => {
  const out = () => ({ out: join(folder, 'runs') });
  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['no name', () => openRun(undefined as never), /no name of a run/],
    ['a number as name', () => openRun(5 as never), /no name of a run/],
    ['no object as options', () => openRun(RUN, null as never), /options of openRun\(\) are null/],
    ['an option of another name', () => openRun(RUN, { outt: 'elsewhere' } as never), /no option "outt"/],
    ['a signal that is none', () => openRun(RUN, { ...out(), signal: {} as never }), /signal of openRun\(\) is {}/],
    ['nothing at all to start', () => start(undefined as never), /options of start\(\) are missing/],
    ['no data set', () => start({} as never), /dataset of start\(\) is missing/],
    ['a word in place of yes', () => start({ dataset: 'x', strict: 'yes' as never }), /strict of start\(\) is "yes"/],
    ['a number as listener', () => start({ dataset: 'x', onEvent: 5 as never }), /onEvent of start\(\) is 5/],
    ['a temperature that is no number', () => start({ dataset: 'x', temperature: Number.NaN }), /"NaN" does not fit/],
    ['no rollout to fork', async () => (await openRun(RUN, out())).fork({ fromTurn: 2 } as never), /query of fork\(\)/],
    [
      'no number of new weights',
      async () => (await openRun(RUN, out())).updateWeights({ from: 'step-7' } as never),
      /weightVersion of updateWeights\(\) is missing/,
    ],
    [
      'no file to export to',
      async () => (await openRun(RUN, out())).export('rows', undefined as never),
      /export\(\) has no file/,
    ],
  ])('is refused by name: %s', async (_, call, message) => {
    const refused = await call().catch((error: unknown) => error);
    expect(refused).toMatchObject({ boundary: 'usage', message: expect.stringMatching(message) });
    expect((refused as { fix?: string }).fix).toBeTruthy();
  });
});
