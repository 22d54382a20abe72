// New verdicts beside the old ones: a free name, a whole file, every turn that was judged once.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RolloutId } from '../../domain/names/ids.ts';
import { openLoose } from './ended-rig.ts';
import { type JudgedTurn, judgedTurns } from '../../records/reading/judged-turns.ts';
import { type VerdictRow, mustBeFreeName, writeJudgements } from '../../records/run/judgements.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { aQuery, play, putRun } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

async function playedStore() {
  const store = openLoose(mkdtempSync(join(root, 'out-')));
  const queries = [aQuery('a'), aQuery('b')];
  await putRun(store, queries);
  await play(store, { query: queries[0]!, index: 0, verdicts: ['wrong'], stop: 'failed', unjudged: 1 });
  await play(store, { query: queries[0]!, index: 0, attempt: 2, verdicts: ['wrong', 'right'], stop: null });
  await play(store, { query: queries[1]!, index: 1, verdicts: ['undecided'], stop: 'undecided' });
  return store;
}

async function* rowsOf(...rows: Partial<VerdictRow>[]): AsyncGenerator<VerdictRow> {
  for (const row of rows) yield row as VerdictRow;
}

describe('the judgements of a run', () => {
  test('every judged turn of every attempt comes once, in order; what was not judged is told', async () => {
    const turns: JudgedTurn[] = [];
    const unjudged: [RolloutId, number][] = [];
    const told = { onUnjudged: (...at: [RolloutId, number]) => void unjudged.push(at), onBroken: () => expect.fail() };
    for await (const turn of judgedTurns(await playedStore(), told)) turns.push(turn);
    expect(turns.map(({ id, verdict }) => [id.query, id.attempt, verdict.turn, verdict.verdict])).toEqual([
      ['a', 1, 1, 'wrong'],
      ['a', 2, 1, 'wrong'],
      ['a', 2, 2, 'right'],
      ['b', 1, 1, 'undecided'],
    ]);
    expect(turns.every(({ turn, verdict }) => turn.hash === verdict.of)).toBe(true);
    expect(unjudged).toMatchObject([[{ query: 'a', attempt: 1 }, 2]]);
  });

  test('a rollout that cannot be believed is told and left out, and the others come', async () => {
    const store = await playedStore();
    writeFileSync(join(store.folder, rolloutFolder({ query: 'a', sample: 0, attempt: 2 }), 'turn-001.json'), '{}');
    const broken: number[] = [];
    const turns: JudgedTurn[] = [];
    const told = { onUnjudged: () => {}, onBroken: (id: RolloutId) => void broken.push(id.attempt) };
    for await (const turn of judgedTurns(store, told)) turns.push(turn);
    expect(broken).toEqual([2]);
    expect(turns).toHaveLength(2);
  });

  test('a name that is taken is refused, also in other letters, and what is there stays', async () => {
    const store = await playedStore();
    await writeJudgements(store, 'First', rowsOf({ query: 'a' }));
    await expect(mustBeFreeName(store, 'first')).rejects.toThrow('already');
    await expect(writeJudgements(store, 'First', rowsOf({ query: 'b' }))).rejects.toThrow('already');
    expect(readFileSync(join(store.folder, 'judgements/First.jsonl'), 'utf8')).toBe('{"query":"a"}\n');
  });

  test.each(['', '../x', 'a/b', '.hidden', 'con'])('%j cannot name judgements', async (name) => {
    await expect(mustBeFreeName(await playedStore(), name)).rejects.toThrow('cannot name');
  });
});
