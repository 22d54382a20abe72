// The messages of the viewer: the same numbers as the records, in data set order, of runs that have ended and of one
// that is still played.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { putAct } from '../../records/run/steering.ts';
import { rowKey } from '../../viewer/model/row.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { open, playSome, QUERIES, type ViewRig, viewRig } from './rig.ts';

let rig: ViewRig;
beforeEach(async () => void (rig = await viewRig()));
afterEach(() => rig.close());

const ALL = { filter: '', sort: '' };

describe('the list of runs', () => {
  test('names a copied run by its folder', async () => {
    await playSome(rig.store);
    cpSync(rig.store.folder, `${rig.store.folder}-copy`, { recursive: true });
    expect((await rig.api.runs()).runs.map(({ run }) => run).sort()).toEqual([RUN, `${RUN}-copy`]);
    expect((await rig.api.run(`${RUN}-copy`)).head.run).toBe(`${RUN}-copy`);
  });
});

describe('more runs than are kept open', () => {
  const names = Array.from({ length: 9 }, (_, i) => `${RUN}-${i}`);
  beforeEach(async () => {
    await playSome(rig.store);
    for (const name of names) cpSync(rig.store.folder, join(rig.out, name), { recursive: true });
  });
  const endedIn = async (name: string) => (await rig.api.compare(name, RUN)).a.ended;

  test('are read whole by each of those that read them at once', async () => {
    const { runs } = await rig.api.several(names);
    expect(runs.map(({ head }) => head.ended)).toEqual(names.map(() => 3));
    expect(await Promise.all(names.map(endedIn))).toEqual(names.map(() => 3));
    const [once, again] = await Promise.all([rig.api.several(names), rig.api.several(names.toReversed())]);
    expect([...once.runs, ...again.runs].map(({ wrong }) => wrong.first)).toEqual(
      Array.from({ length: 18 }, () => runs[0]!.wrong.first),
    );
  });

  test('end a look only where nobody waits for it, and it is begun anew for who does', async () => {
    const { index } = await rig.runs.read(RUN);
    const whole = index.refresh();
    index.close();
    await whole;
    expect([index.rows().length, index.listed]).toEqual([3, true]);
    const left = (await rig.runs.read(RUN)).index;
    left.close();
    await expect.poll(() => left.progress.reading).toBe(true);
    await left.refresh();
    expect([left.rows().length, left.progress.reading]).toEqual([3, undefined]);
  });
});

describe('the list of rollouts', () => {
  test('has every rollout that has begun, in data set order, with its facts', async () => {
    await playSome(rig.store);
    await open(rig.store, 3, { verdicts: ['right'], unjudged: 1 });
    const { rows, count } = await rig.api.rows(RUN, ALL, 0, 100);
    expect(count).toBe(4);
    expect(rows.map(({ query, state, success }) => [query, state, success])).toEqual([
      ['a1', 'complete', [0, 1, 1]],
      ['a2', 'complete', [1, 0, 1]],
      ['a3', 'failed', [0]],
      ['a4', 'open', [1]],
    ]);
    expect(rows[0]!.turns).toEqual({
      tokens: [3, 3, 3],
      context: [3, 9, 15],
      ms: [5, 5, 5],
      finish: 'sss',
      reasons: ['scripted', 'scripted', 'scripted'],
      extracted: null,
      server: null,
      versions: [0, 0],
    });
    expect(rows[3]!.doing).toMatchObject({ turn: 2, what: 'judge' });
  });

  test('shows rollouts that a client started directly, and each attempt', async () => {
    await putRun(rig.store, QUERIES);
    await play(rig.store, { query: QUERIES[1]!, index: 1, verdicts: ['wrong'], stop: 'failed' });
    await play(rig.store, { query: QUERIES[1]!, index: 1, attempt: 2, verdicts: ['right'] });
    await play(rig.store, { query: aQuery('Own Question? é'), index: null, verdicts: ['right'] });
    const { rows } = await rig.api.rows(RUN, ALL, 0, 100);
    expect(rows.map(({ query, attempt }) => [query, attempt])).toEqual([
      ['a2', 1],
      ['a2', 2],
      ['Own Question? é', 1],
    ]);
    const { summary } = await rig.api.run(RUN);
    expect([summary.begun, summary.ends.map(({ state, count }) => [state, count])]).toEqual([2, [['complete', 2]]]);
  });

  test('has an attempt that a person had played again while the list was open', async () => {
    await playSome(rig.store);
    expect((await rig.api.rows(RUN, ALL, 0, 100)).count).toBe(3);
    await play(rig.store, { query: QUERIES[2]!, index: 2, attempt: 2, verdicts: ['right', 'right', 'right'] });
    await expect.poll(async () => (await rig.api.rows(RUN, ALL, 0, 100)).count).toBe(4);
  });

  test('knows the rollouts that people judged or wrote a note on, once they did', async () => {
    await playSome(rig.store);
    const noted = async (filter: string) =>
      (await rig.api.rows(RUN, { filter, sort: '' }, 0, 9)).rows.map(({ query, marks }) => [query, marks]);
    expect(await noted('has:note')).toEqual([]);
    const { hash } = (await rig.store.get('turn', { run: RUN, query: 'a2', sample: 0, attempt: 1 }, 1))!;
    const of = { query: 'a2', sample: 0, attempt: 1, turn: 1, hash };
    await putAct(rig.store, { act: 'note', of, text: 'odd', by: 'ana', via: 'cli', at: 5 });
    expect(await noted('has:note')).toEqual([['a2', ['note']]]);
    expect(await noted('has:verdict')).toEqual([]);
    expect((await noted('-has:note')).length).toBe(2);
  });

  test('comes in pages of the filtered, sorted list', async () => {
    await playSome(rig.store);
    const wrong = await rig.api.rows(RUN, { filter: 'right@1:no', sort: '-query' }, 0, 1);
    expect([wrong.count, wrong.rows.map(({ query }) => query)]).toEqual([2, ['a3']]);
    const second = await rig.api.rows(RUN, { filter: 'right@1:no', sort: '-query' }, 1, 1);
    expect(second.rows.map(({ query }) => query)).toEqual(['a1']);
  });

  test('a run that is still played updates itself', async () => {
    await playSome(rig.store);
    const before = (await rig.api.run(RUN)).progress.revision;
    await open(rig.store, 3, { verdicts: [], unjudged: 1 });
    await expect.poll(async () => (await rig.api.run(RUN)).summary.begun).toBe(4);
    const begun = (await rig.api.rows(RUN, ALL, 0, 9)).rows[3]!;
    expect([begun.state, begun.doing?.what]).toEqual(['open', 'judge']);
    expect((await rig.api.run(RUN)).progress.revision).toBeGreaterThan(before);
    // The same records again, and the rest of them.
    await play(rig.store, { query: QUERIES[3]!, index: 3, verdicts: ['right', 'right', 'right'] });
    await expect.poll(async () => (await rig.api.run(RUN)).summary.ended).toBe(4);
    const quiet = (await rig.api.run(RUN)).progress.revision;
    expect((await rig.api.run(RUN)).progress.revision).toBe(quiet);
  });
});

describe('one rollout', () => {
  test('has its turns with hashes, verdicts and returns, and its neighbours in the list', async () => {
    await playSome(rig.store);
    const place = { query: 'a2', sample: 0, attempt: 1 };
    const message = await rig.api.rollout(RUN, place, ALL);
    expect(message.turns.map(({ verdict, reward }) => [verdict?.verdict, reward])).toEqual([
      ['right', 1],
      ['wrong', -1],
      ['right', 1],
    ]);
    expect(message.turns.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
    expect(message.turns[0]!.record).not.toHaveProperty('outputIds');
    expect([message.previous?.query, message.next?.query]).toEqual(['a1', 'a3']);
    expect(rowKey(message.row)).toBe(rowKey(place));
    const alone = await rig.api.rollout(RUN, place, { filter: 'a2', sort: '' });
    expect([alone.previous, alone.next]).toEqual([null, null]);
  });

  test('that is not there is said to be not there', async () => {
    await playSome(rig.store);
    await expect(rig.api.rollout(RUN, { query: 'a9', sample: 0, attempt: 1 }, ALL)).rejects.toThrow(
      /There is no query "a9"/,
    );
    await expect(rig.api.tokens(RUN, { query: 'a1', sample: 0, attempt: 1 }, 9)).rejects.toThrow(/no turn 9/);
    await expect(rig.api.run('other')).rejects.toThrow(/no run "other"/);
  });
});
