// The tables of an evaluation: their numbers are those of `everturn eval`, and a benchmark that has ended is read again once its
// rollouts change.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { evaluationTable } from '../../library/evaluate/table.ts';
import { openFileStore } from '../../records/file-store.ts';
import { mustReadEvaluation, recordEvaluation } from '../../records/run/evaluation-record.ts';
import { runPlace } from '../../run/place.ts';
import { play } from '../records/play.ts';
import { addressed } from '../../viewer/evaluation-facts.ts';
import { COMMIT, playEvaluation, settingsOf, SYSTEM, TEMPLATE, withMeaning } from './evaluation-rig.ts';
import { QUERIES, type ViewRig, viewRig } from './rig.ts';

describe('the tables of an evaluation', () => {
  let rig: ViewRig;
  beforeEach(async () => {
    rig = await viewRig();
    await playEvaluation(rig.out);
  });
  afterEach(() => rig.close());

  test('have the numbers and the settings of everturn eval', async () => {
    const { benchmarks, settings } = await rig.api.evaluation('e');
    const { cells } = await mustReadEvaluation(rig.out, 'e');
    const placed = cells
      .filter(({ benchmark }) => benchmark === 'sums')
      .map((cell) => ({ ...cell, place: runPlace(rig.out, cell.run) }));
    const printed = await evaluationTable(placed, () => undefined);
    const [sums, hard] = benchmarks;
    expect(sums!.runs.map(({ atTurns }) => atTurns)).toEqual(printed.benchmarks[0]!.runs.map(({ atTurns }) => atTurns));
    expect(sums!.runs.map(({ label, wrong }) => [label, wrong.last])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 0],
    ]);
    expect(sums!.runs.map(({ tookMs }) => tookMs)).toEqual(
      printed.benchmarks[0]!.runs.map(({ tookSeconds }) => tookSeconds && 1000 * tookSeconds),
    );
    expect(settings.map(([name]) => name)).toEqual(printed.settings.map(({ name }) => name));
    expect(hard!.runs[0]).toMatchObject({
      head: { state: 'failed', numbers: { troubles: [{ count: 4, reason: 'scripted' }] } },
    });
    expect(hard!.unread).toEqual([{ label: 'c', problem: expect.stringContaining('There is no run "e-hard-c"') }]);
  });

  test('say what they are of: dates, models with their hosts, and of each benchmark data and words', async () => {
    const { played, models, benchmarks } = await rig.api.evaluation('e');
    expect(played![0]).toBe(1);
    expect(played![1]).toBeGreaterThan(1);
    expect(models).toEqual(['a', 'b', 'c'].map((label) => [label, `${label} at models.example`]));
    const [source, ...others] = benchmarks[0]!.sources;
    expect(source).toMatchObject({ labels: [], system: SYSTEM, template: TEMPLATE });
    expect(others).toEqual([]);
    expect(source!.facts).toEqual([
      ['data', `hf:made/sums@${COMMIT}/main`],
      ['main.jsonl, SHA-256', 'a'.repeat(64)],
      ['rows', '4, bad ones left out: 1'],
      ['rows of its page', '7, and its data have 5'],
      ['rows as played, SHA-256', expect.stringMatching(/^[0-9a-f]{64}$/)],
    ]);
    expect(benchmarks[1]!.sources.map(({ labels, facts }) => [labels, facts[0]])).toEqual([[[], ['data', 'q.jsonl']]]);
  });

  test.each([
    ['openai:https://u:secret@models.example/v1#gpt-x', 'gpt-x at models.example'],
    ['sglang:http://one:30000,http://two', 'sglang at one:30000, two'],
    ['tiny', 'tiny'],
    ['transformers:./a#b', 'transformers:./a#b'],
  ])('name the host of %s and no key', (model, named) => expect(addressed(model)).toBe(named));

  test('of a benchmark that has ended follow a rollout that is played again', async () => {
    const cells = [{ benchmark: 'hard', label: 'a', run: 'e-hard-a' }];
    await recordEvaluation(rig.out, 'f', cells.map(withMeaning), 1);
    const right = async () => (await rig.api.evaluation('f')).benchmarks[0]!.runs[0]!.atTurns[0]!.accuracy.value;
    expect([await right(), await right()]).toEqual([null, null]);
    const script = { run: 'e-hard-a', settings: settingsOf('a'), query: QUERIES[0]!, attempt: 2, index: 0 };
    await play(openFileStore(rig.out, 'e-hard-a'), { ...script, verdicts: ['right'] });
    expect(await right()).toBe(1);
  });

  test('of two evaluations at once are whole', async () => {
    const cells = [{ benchmark: 'sums', label: 'b', run: 'e-sums-b' }];
    await recordEvaluation(rig.out, 'f', cells.map(withMeaning), 1);
    const both = await Promise.all([rig.api.evaluation('e'), rig.api.evaluation('f'), rig.api.evaluation('e')]);
    expect(both.map(({ benchmarks: [first] }) => first!.runs.map(({ wrong }) => wrong.last))).toEqual([
      [2, 1, 0],
      [1],
      [2, 1, 0],
    ]);
    await expect(rig.api.evaluation('g')).rejects.toThrow('There is no evaluation "g"');
  });
});
