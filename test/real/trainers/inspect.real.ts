// Logs of Inspect, read by its own code (inspect_log.py), whose scores and messages are those of the run's records.
// EVERTURN_INSPECT_PYTHON: a Python that has inspect-ai; run.sh makes one.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { plannedExport } from '../../../library/export-plan.ts';
import { statisticsOf } from '../../../library/statistics.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { runPlace } from '../../../run/place.ts';
import { oddRun } from '../../formats/exports/odd-run.ts';
import { someRun } from '../../formats/exports/some-run.ts';
import { RUN } from '../../records/play.ts';

const folder = process.env['EVERTURN_INSPECT_KEEP'] ?? mkdtempSync(join(tmpdir(), 'everturn-inspect-'));
afterAll(() => {
  if (!process.env['EVERTURN_INSPECT_KEEP']) rmSync(folder, { recursive: true });
});
const python = process.env['EVERTURN_INSPECT_PYTHON'] ?? 'python3';

interface Found {
  readonly version: number;
  readonly results: Readonly<Record<string, readonly number[]>>;
  readonly samples: readonly {
    readonly id: string;
    readonly epoch: number;
    readonly scores: Readonly<Record<string, string>>;
    readonly messages: readonly (readonly [string, string])[];
    readonly completion: string;
    readonly error: string | null;
    readonly again: boolean;
  }[];
  readonly summaries: readonly (readonly [id: string, epoch: number, completed: boolean, messages: number])[];
}

async function readBack(name: string, fill: typeof oddRun): Promise<Found> {
  const store = openFileStore(join(folder, name), RUN);
  await fill(store);
  const to = join(folder, `${name}.eval`);
  await plannedExport('inspect', {})(store, { to, overwrite: true, onSkip: () => {} });
  const script = join(import.meta.dirname, 'inspect_log.py');
  const { stdout, stderr } = spawnSync(python, [script, to], { encoding: 'utf8' });
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as Found;
}

test.each([
  ['some', someRun],
  ['odd', oddRun],
] as const)('Inspect reads the scores, messages and accuracies of the run “%s”', async (name, fill) => {
  const found = await readBack(name, fill);
  expect(found.version).toBe(2);
  const samples = new Map(found.samples.map((sample) => [`${sample.id} ${sample.epoch}`, sample]));
  let ended = 0;
  for await (const { rollout, turns, end } of readTrajectories(openFileStore(join(folder, name), RUN))) {
    if (!end) continue;
    ended++;
    const sample = samples.get(`${rollout.query.queryId} ${rollout.sample + 1}`)!;
    const right = end.success.findLast((one) => one !== null);
    const score = end.outcome === 'complete' ? (right === 1 ? 'C' : 'I') : undefined;
    const answers = sample.messages.filter(([role]) => role === 'assistant').map(([, text]) => text);
    expect(sample.again).toBe(true);
    expect(answers).toEqual(turns.map(({ record }) => record.answer));
    expect(sample.completion).toBe(turns.at(-1)?.record.answer ?? '');
    expect(sample.error === null, sample.id).toBe(end.outcome === 'complete' || end.outcome === 'undecided');
    if (end.outcome !== 'cancelled') expect(sample.scores['judge'], sample.id).toBe(score);
  }
  expect(samples.size).toBe(ended);
  expect(found.summaries.map(([id, epoch, , messages]) => [id, epoch, messages]).toSorted()).toEqual(
    found.samples.map(({ id, epoch, messages }) => [id, epoch, messages.length]).toSorted(),
  );
  const { lastAnswer } = await statisticsOf(runPlace(join(folder, name), RUN));
  expect(found.results['judge mean']).toEqual([lastAnswer.n, lastAnswer.value, lastAnswer.standardError]);
});
