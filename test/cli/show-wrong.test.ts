// `everturn show <run> --wrong`: the answers that are wrong, beside their references, and how many there are of each reason.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { call } from './command-line.ts';

const out = mkdtempSync(join(tmpdir(), 'everturn-wrong-'));
const SORTED = { title: 'How many hills?', categories: { subject: 'Intermediate Algebra', level: '3' } };
const QUERIES = ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => aQuery(id, id === 'a3' ? SORTED : {}));
const everturn = (...args: string[]) => call(out, args);

beforeAll(async () => {
  const store = openLoose(join(out, 'runs'));
  await putRun(store, QUERIES);
  const [right, wrong, spoiled, failed, steered] = QUERIES;
  await play(store, { query: steered!, index: 4, verdicts: ['wrong', 'wrong', 'wrong'], said: [2] });
  await play(store, { query: failed!, index: 3, verdicts: [], stop: 'failed' });
  await play(store, { query: failed!, index: 3, attempt: 2, verdicts: ['right', 'right', 'right'] });
  await play(store, { query: spoiled!, index: 2, verdicts: ['right', 'right', 'wrong'] });
  const cut = () => ({ finish: 'length' as const });
  await play(store, { query: wrong!, index: 1, verdicts: ['wrong', 'wrong', 'wrong'], turn: cut });
  await play(store, { query: right!, index: 0, verdicts: ['wrong', 'right', 'right'] });
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

describe('everturn show --wrong', () => {
  test('answers that are wrong at last are listed in data set order, beside their references, with the line that shows one', async () => {
    const { out: text, err } = await everturn('show', RUN, '--wrong');
    expect(text.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual(['query', 'a2', 'a3', '']);
    expect(text).toMatch(/a2 +\S+ +\S+ +42 +cut +What is a2\?/);
    expect(err).toContain(`2 wrong answers. One whole: everturn show ${RUN} <query>`);
  });

  test('reasons are counted, and JSON has each answer with its turn', async () => {
    const { out: text } = await everturn('show', RUN, '--wrong', '--by', 'reason');
    expect(text).toMatch(/reason +wrong +share +cut\n\S+ +2 +100\.0 % +1/);
    const { answers, wrong } = JSON.parse((await everturn('show', RUN, '--wrong', '--json')).out);
    expect(wrong).toBe(2);
    expect(answers[0]).toMatchObject({ query: 'a2', turn: 3, reference: '42', isCut: true });
  });

  test('of a category alone those of it are listed, by the words of its row; one that no query has is refused with those there are', async () => {
    for (const category of ['intermediate algebra', '3']) {
      const { out: text } = await everturn('show', RUN, '--wrong', '--category', category);
      expect(text.split('\n').slice(1)).toEqual([expect.stringMatching(/^a3 .* How many hills\?$/), '']);
    }
    const { code, err } = await everturn('show', RUN, '--wrong', '--category', 'algebra');
    expect([code, err]).toEqual([2, expect.stringContaining('There are: 3, Intermediate Algebra.')]);
  });

  test('a query and --wrong, --by alone, and neither are refused', async () => {
    for (const args of [['a1', '--wrong'], ['a1', '--by', 'reason'], ['a1', '--category', '3'], []])
      expect((await everturn('show', RUN, ...args)).code).toBe(2);
  });
});
