// A data set that becomes a run: solutions are read once, before the run is made; a run is known again without
// reading them; and one that is refused leaves nothing.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createRun } from '../../../run/create-run.ts';
import { newRecord, offeredOf } from '../../../run/plan.ts';
import { readRows, type Rows } from '../../../run/rows.ts';
import { completeSettings } from '../../../domain/run/defaults.ts';
import type { SolutionReader } from '../../../domain/query/solution-reader.ts';
import { openFileStore } from '../../../records/file-store.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-accept-'));
afterAll(() => rmSync(root, { recursive: true }));

let out = '';
let dataset = '';
beforeEach(() => {
  out = mkdtempSync(join(root, 'out-'));
  dataset = join(out, 'rows.jsonl');
});

const lines = (answers: readonly unknown[]) =>
  answers.map((answer, i) => `${JSON.stringify({ id: `q${i}`, question: 'What?', answer })}\n`).join('');
const selection = (more: { limit?: number; shuffleSeed?: number; strict?: boolean } = {}) => ({
  dataset,
  limit: null,
  shuffleSeed: null,
  ...more,
});

/** Cannot use what says "bad", and counts what it is asked. */
function scripted() {
  const asked: string[] = [];
  const reader: SolutionReader = {
    finalAnswer: (text) => ({ text, by: 'whole' }),
    async examine(solutions) {
      asked.push(...solutions);
      return solutions.map((text) => (text === 'bad' ? { usable: false, reason: 'unreadable' } : { usable: true }));
    },
    mayBe: async () => true,
  };
  return { asked, reader };
}

const settings = completeSettings('r');
const make = ({ dataset: read, queries }: Rows, run = 'r') =>
  createRun(
    openFileStore(out, run),
    newRecord({ run, dataset: read, settings, samples: 1, origins: {} }, 1000),
    queries(),
  );

describe('accepting a data set', () => {
  test('a row that the judge cannot use is left out, named, and counted', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3']));
    const { asked, reader } = scripted();
    const rows = await readRows(selection(), reader);
    expect(rows.dataset).toMatchObject({ accepted: 2, refused: 1 });
    expect(rows.badRows[0]).toEqual({
      file: dataset,
      line: 2,
      field: 'answer',
      problem: 'says "bad", which cannot be read by the judge (unreadable)',
      fix: expect.stringContaining('Write one value'),
    });
    expect(asked).toEqual(['1', 'bad', '3']);
    await make(rows);
    const kept = await openFileStore(out, 'r').readQueries(0, 9);
    expect(kept.map(({ queryId }) => queryId)).toEqual(['q0', 'q2']);
  });

  test('the same file is the same run again, and no solution is read a second time', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3']));
    const { asked, reader } = scripted();
    const judged = await readRows(selection(), reader);
    const record = await make(judged);
    const before = asked.length;
    const unread = await readRows(selection());
    expect(await make(unread)).toEqual(record);
    expect(asked.length).toBe(before);
    expect(offeredOf(judged.dataset)).toBe(offeredOf(unread.dataset));
    writeFileSync(dataset, lines(['1', 'bad', '4']));
    await expect(make(await readRows(selection()))).rejects.toMatchObject({ reason: 'run-differs' });
  });

  test('a run from before solutions were read is known by its rows', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3']));
    const record = await make(await readRows(selection()));
    expect(record.dataset).not.toHaveProperty('offered');
    expect(await make(await readRows(selection()))).toEqual(record);
  });

  test('a limit counts usable rows, in file order and shuffled, and says nothing of what lies beyond', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3', '4', 'bad']));
    const few = await readRows(selection({ limit: 2 }), scripted().reader);
    expect(few.dataset).toMatchObject({ accepted: 2, refused: 1 });
    await make(few);
    expect((await openFileStore(out, 'r').readQueries(0, 9)).map(({ queryId }) => queryId)).toEqual(['q0', 'q2']);
    const mixed = await readRows(selection({ limit: 3, shuffleSeed: 5 }), scripted().reader);
    expect(mixed.dataset.accepted).toBe(3);
    await make(mixed, 's');
    const ids = (await openFileStore(out, 's').readQueries(0, 9)).map(({ queryId }) => queryId);
    expect(ids.sort()).toEqual(['q0', 'q2', 'q3']);
  });

  test('--strict refuses the file for one solution that nobody can use', async () => {
    writeFileSync(dataset, lines(['1', 'bad']));
    await expect(readRows(selection({ strict: true }), scripted().reader)).rejects.toMatchObject({ reason: 'bad-row' });
  });

  test('a file without a usable solution is refused with its first bad row', async () => {
    writeFileSync(dataset, lines(['bad', 'bad']));
    await expect(readRows(selection(), scripted().reader)).rejects.toMatchObject({
      reason: 'empty-dataset',
      message: expect.stringContaining(':1: `answer` says "bad"'),
    });
  });

  test('a judge that cannot run is an error, and no bad row', async () => {
    writeFileSync(dataset, lines(['1']));
    const reader: SolutionReader = { ...scripted().reader, examine: () => Promise.reject(new Error('no process')) };
    await expect(readRows(selection(), reader)).rejects.toThrow('no process');
  });

  test('a thousand batches keep their order, and memory holds a few of them', async () => {
    const answers = Array.from({ length: 5000 }, (_, i) => (i % 7 === 3 ? 'bad' : `${i}`));
    writeFileSync(dataset, lines(answers));
    let open = 0;
    let most = 0;
    const { reader } = scripted();
    const slow: SolutionReader = {
      ...reader,
      async examine(solutions) {
        most = Math.max(most, ++open);
        await new Promise((done) => setTimeout(done, solutions[0]?.length));
        open--;
        return reader.examine(solutions);
      },
    };
    const rows = await readRows(selection(), slow);
    expect(rows.dataset.refused).toBe(answers.filter((answer) => answer === 'bad').length);
    expect(most).toBeLessThanOrEqual(3);
    await make(rows);
    const kept = await openFileStore(out, 'r').readQueries(0, 5000);
    expect(kept.map(({ solutions }) => solutions[0])).toEqual(answers.filter((answer) => answer !== 'bad'));
  });
});

describe('rows that were read', () => {
  test('are those of the run, also where the file changes before it is made', async () => {
    writeFileSync(dataset, lines(['1', '\u20282']));
    const rows = await readRows(selection());
    writeFileSync(dataset, lines(['1', '3']));
    await make(rows);
    const kept = await openFileStore(out, 'r').readQueries(0, 9);
    expect(kept.map(({ solutions }) => solutions[0])).toEqual(['1', '\u20282']);
  });
});

describe('a run that is refused', () => {
  const refused = async (rows: Rows) =>
    make({
      ...rows,
      async *queries() {
        yield* rows.queries();
        throw new Error('broken off');
      },
    });

  test('leaves no folder', async () => {
    writeFileSync(dataset, lines(['1', '2']));
    await expect(refused(await readRows(selection()))).rejects.toThrow('broken off');
    expect(existsSync(join(out, 'r'))).toBe(false);
  });

  test('keeps a folder that holds something', async () => {
    writeFileSync(dataset, lines(['1']));
    const rows = await readRows(selection());
    mkdirSync(join(out, 'r'));
    writeFileSync(join(out, 'r', 'notes.txt'), 'mine');
    await expect(refused(rows)).rejects.toThrow('broken off');
    expect(existsSync(join(out, 'r', 'notes.txt'))).toBe(true);
  });
});
