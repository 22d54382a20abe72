// One run whose rollouts end early, some right, some failed or undecided, with two samples of a query: every place that
// shows its accuracy shows the same number.

import { describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { runPlace } from '../../run/place.ts';
import { showEnding } from '../../cli/play/ending.ts';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import { trajectoryResult } from '../../domain/rollout/trajectory.ts';
import type { Store } from '../../records/store.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { countedTurns } from '../../domain/statistics/headline.ts';
import type { ReportData } from '../../viewer/model/messages.ts';
import { makeReport } from '../../viewer/report.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { play, putRun, RUN, type Script, someSettings } from '../records/play.ts';
import { QUERIES, viewRig } from '../viewer/rig.ts';

const SETTINGS = someSettings({ stop: 'success' });
type Played = Omit<Script, 'query'>;
const SCRIPTS: readonly (readonly [Played, Played])[] = [
  [
    { verdicts: ['right'], stop: 'success' },
    { verdicts: ['wrong', 'right'], stop: 'success' },
  ],
  [{ verdicts: ['wrong', 'wrong', 'wrong'] }, { verdicts: ['wrong'], stop: 'failed' }],
  [
    { verdicts: ['undecided'], stop: 'undecided' },
    { verdicts: ['right'], stop: 'success' },
  ],
  [
    { verdicts: [], stop: 'failed' },
    { verdicts: [], stop: 'failed' },
  ],
];
/** By query, of the known samples: turn 1 is ½, 0, 1; any turn and the last one are 1, 0, 1. */
const FIRST = 1 / 2;
const [ANY, LAST] = [2 / 3, 2 / 3];

async function playAll(store: Store, run: string): Promise<void> {
  await putRun(store, QUERIES, { run, samples: 2, settings: SETTINGS });
  const counts = noCounts();
  for (const [index, samples] of SCRIPTS.entries())
    for (const [sample, script] of samples.entries())
      await play(store, { run, query: QUERIES[index]!, index, sample, settings: SETTINGS, ...script });
  for await (const trajectory of readTrajectories(store))
    addResult(counts, trajectoryResult(store.folder, trajectory)!, 3);
  await store.put('result', null, { run, total: 8, cancelled: false, numTurns: 3, counts });
}

describe('a run that ends early', () => {
  test('has one accuracy on every page, list and report, and in every command', async () => {
    const rig = await viewRig();
    await playAll(openFileStore(rig.out, RUN), RUN);
    await playAll(openFileStore(rig.out, 'other'), 'other');
    const call = async <T>(...args: string[]): Promise<T> => {
      const io = scriptedIo({ cwd: rig.out, env: { EVERTURN_HOME: `${rig.out}/.home` } });
      await main(io, [...args, '--out', rig.out, '--json']);
      return JSON.parse(io.text.out) as T;
    };
    interface Number {
      readonly name: string;
      readonly value: number;
    }
    type Several = { atTurns: { accuracy: Number }[] }[];

    const stats = await call<Record<'lastAnswer' | 'returns', Number> & Record<'passAtKFirst' | 'passAtK', Number[]>>(
      'stats',
      RUN,
    );
    const { head, summary } = await rig.api.run(RUN);
    const inList = async () => (await rig.api.runs()).runs.find(({ run }) => run === RUN)!;
    // They are counted in the background.
    await expect.poll(async () => (await inList()).numbers).not.toBeNull();
    const listed = await inList();
    const made = await makeReport({ ...rig, bundle: { script: '', style: '' } }, RUN, { rollouts: 9, tokens: false });
    const island = /<script id="report"[^>]*>(.*?)<\/script>/s.exec(made.html)![1]!;
    const report = (JSON.parse(island) as ReportData).runs[0]!.run;
    const compared = await call<{ a: Number; b: Number }>('compare', RUN, 'other');
    const side = await rig.api.compare(RUN, 'other');
    const several = await call<{ runs: Several }>('compare', RUN, 'other', RUN);
    const sideBySide = await rig.api.several([RUN, 'other']);
    const place = runPlace(rig.out, RUN);
    const result = (await place.store.get('result'))!.record as never;
    const ending = await showEnding(scriptedIo({ cwd: rig.out }), { place, result, maxFailed: 9 }, true);
    const closing = (name: string) =>
      (ending.json as { passAtK: Number[] }).passAtK.find((one) => one.name === name)?.value;

    const found = {
      first: [
        stats.passAtKFirst[0]!.value,
        ...[head, listed, report.head].map(({ numbers }) => numbers!.right.first),
        ...[summary, report.summary].map(({ headline }) => headline.first.value),
        ...[...several.runs, ...sideBySide.runs].map(({ atTurns }) => atTurns[0]!.accuracy.value),
        closing('pass@1 (turn 1)'),
      ],
      any: [
        stats.passAtK[0]!.value,
        ...[head, listed, report.head].map(({ numbers }) => numbers!.right.any),
        ...[summary, report.summary].map(({ headline }) => headline.any.value),
        ...[...several.runs, ...sideBySide.runs].map(({ atTurns }) => atTurns[1]!.accuracy.value),
        ...[compared.a, compared.b, side.numbers.a, side.numbers.b].map(({ value }) => value),
        closing('pass@1 (any of 3 turns)'),
      ],
      last: [
        stats.lastAnswer.value,
        ...[head, listed, report.head].map(({ numbers }) => numbers!.right.last),
        ...[summary, report.summary].map(({ headline }) => headline.last.value),
        closing('pass@1 (last turn)'),
      ],
      return: [
        stats.returns.value,
        ...[head, listed, report.head].map(({ numbers }) => numbers!.meanReturn),
        ...[summary, report.summary].map(({ headline }) => headline.meanReturn.value),
      ],
    };
    expect([...new Set(found.first)]).toEqual([FIRST]);
    expect([...new Set(found.any)]).toEqual([ANY]);
    expect([...new Set(found.last)]).toEqual([LAST]);
    expect(new Set(found.return).size).toBe(1);
    // Of those judged at turn 3, none is right: no accuracy of the run.
    expect(summary.turns.at(-1)).toMatchObject({ turn: 3, judged: 1, right: 0 });
    expect([head, listed].map(({ numbers }) => numbers)).toEqual(
      [head, listed].map(() =>
        expect.objectContaining({
          ended: 8,
          troubles: [
            { state: 'failed', count: 3, reason: 'scripted' },
            { state: 'undecided', count: 1, reason: 'scripted' },
          ],
        }),
      ),
    );
    await rig.close();
  });

  test('has by turn the same numbers in its counts as in its rollouts', async () => {
    const rig = await viewRig();
    await playAll(rig.store, RUN);
    const { summary } = await rig.api.run(RUN);
    const { counts, total } = (await rig.store.get('result'))!.record;

    expect(countedTurns(counts, total)).toEqual(
      summary.turns.map(({ turn, judged, right, rightBy }) => ({
        ...{ turn, judged, right, of: rightBy.n },
        rightBy: Math.round(rightBy.value! * rightBy.n),
      })),
    );
    await rig.close();
  });
});
