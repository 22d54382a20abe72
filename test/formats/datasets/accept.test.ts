// A data set that becomes a run: solutions are read once, before the run is made; a run is known again without
// reading them; and one that is refused leaves nothing.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createRun, nameOfRun } from '../../../run/create-run.ts';
import { examineDataset, surveyDataset } from '../../../run/survey.ts';
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
const make = (survey: Awaited<ReturnType<typeof surveyDataset>>) =>
  createRun(openFileStore(out, 'r'), { run: 'r', survey, settings, samples: 1, origins: {} });

describe('accepting a data set', () => {
  test('a row that the judge cannot use is left out, named, and counted', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3']));
    const { asked, reader } = scripted();
    const survey = await examineDataset(await surveyDataset(selection()), reader);
    expect(survey).toMatchObject({ accepted: 2, refused: 1 });
    expect(survey.badRows[0]).toEqual({
      file: dataset,
      line: 2,
      field: 'answer',
      problem: 'says "bad", which cannot be read by the judge (unreadable)',
      fix: expect.stringContaining('Write one value'),
    });
    expect(asked).toEqual(['1', 'bad', '3']);
    await make(survey);
    const kept = await openFileStore(out, 'r').readQueries(0, 9);
    expect(kept.map(({ queryId }) => queryId)).toEqual(['q0', 'q2']);
  });

  test('the same file is the same run again, and no solution is read a second time', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3']));
    const { asked, reader } = scripted();
    const offered = await surveyDataset(selection());
    const { record } = await make(await examineDataset(offered, reader));
    const before = asked.length;
    expect(await make(await surveyDataset(selection()))).toEqual({ created: false, record });
    expect(asked.length).toBe(before);
    const examined = await examineDataset(offered, scripted().reader);
    expect(nameOfRun(examined, settings, 1)).toBe(nameOfRun(offered, settings, 1));
    writeFileSync(dataset, lines(['1', 'bad', '4']));
    await expect(make(await surveyDataset(selection()))).rejects.toMatchObject({ reason: 'run-differs' });
  });

  test('a run from before solutions were read is known by its rows', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3']));
    const { record } = await make(await surveyDataset(selection()));
    expect(record.dataset).not.toHaveProperty('offered');
    expect((await make(await surveyDataset(selection()))).created).toBe(false);
  });

  test('a limit counts usable rows, in file order and shuffled, and says nothing of what lies beyond', async () => {
    writeFileSync(dataset, lines(['1', 'bad', '3', '4', 'bad']));
    const few = await examineDataset(await surveyDataset(selection({ limit: 2 })), scripted().reader);
    expect(few).toMatchObject({ accepted: 2, refused: 1 });
    await make(few);
    expect((await openFileStore(out, 'r').readQueries(0, 9)).map(({ queryId }) => queryId)).toEqual(['q0', 'q2']);
    const mixed = await surveyDataset(selection({ limit: 3, shuffleSeed: 5 }));
    const shuffledSurvey = await examineDataset(mixed, scripted().reader);
    expect(shuffledSurvey.accepted).toBe(3);
    await createRun(openFileStore(out, 's'), { run: 's', survey: shuffledSurvey, settings, samples: 1, origins: {} });
    const ids = (await openFileStore(out, 's').readQueries(0, 9)).map(({ queryId }) => queryId);
    expect(ids.sort()).toEqual(['q0', 'q2', 'q3']);
  });

  test('--strict refuses the file for one solution that nobody can use', async () => {
    writeFileSync(dataset, lines(['1', 'bad']));
    const offered = await surveyDataset(selection({ strict: true }));
    await expect(examineDataset(offered, scripted().reader)).rejects.toMatchObject({ reason: 'bad-row' });
  });

  test('a file without a usable solution is refused with its first bad row', async () => {
    writeFileSync(dataset, lines(['bad', 'bad']));
    await expect(examineDataset(await surveyDataset(selection()), scripted().reader)).rejects.toMatchObject({
      reason: 'empty-dataset',
      message: expect.stringContaining(':1: `answer` says "bad"'),
    });
  });

  test('a judge that cannot run is an error, and no bad row', async () => {
    writeFileSync(dataset, lines(['1']));
    const reader: SolutionReader = { ...scripted().reader, examine: () => Promise.reject(new Error('no process')) };
    await expect(examineDataset(await surveyDataset(selection()), reader)).rejects.toThrow('no process');
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
    const survey = await examineDataset(await surveyDataset(selection()), slow);
    expect(survey.refused).toBe(answers.filter((answer) => answer === 'bad').length);
    expect(most).toBeLessThanOrEqual(3);
    await make(survey);
    const kept = await openFileStore(out, 'r').readQueries(0, 5000);
    expect(kept.map(({ solutions }) => solutions[0])).toEqual(answers.filter((answer) => answer !== 'bad'));
  });
});

describe('a run that is refused', () => {
  test('leaves no folder where the file changed while it was read', async () => {
    writeFileSync(dataset, lines(['1', '2']));
    const survey = await surveyDataset(selection());
    writeFileSync(dataset, lines(['1', '3']));
    await expect(make(survey)).rejects.toMatchObject({ reason: 'dataset-changed' });
    expect(existsSync(join(out, 'r'))).toBe(false);
    expect((await make(await surveyDataset(selection()))).created).toBe(true);
  });

  test('keeps a folder that holds something', async () => {
    writeFileSync(dataset, lines(['1']));
    const survey = await surveyDataset(selection());
    writeFileSync(dataset, '');
    mkdirSync(join(out, 'r'));
    writeFileSync(join(out, 'r', 'notes.txt'), 'mine');
    await expect(make(survey)).rejects.toThrow();
    expect(existsSync(join(out, 'r', 'notes.txt'))).toBe(true);
  });
});
