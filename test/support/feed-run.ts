// A run's folder for tests of the feed: a data set of made-up rows, one turn each.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings } from '../../run/config.ts';
import { createRun } from '../../run/create-run.ts';
import { surveyDataset } from '../../run/survey.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { TrainRecord } from '../../records/format/run-record.ts';

export interface Made {
  readonly queries?: number;
  readonly samples?: number;
  readonly epochs?: number;
  readonly train?: Partial<TrainRecord> | null;
  readonly model?: string;
}

/** Accepts `queries` rows, q0, q1, …, whose answer is 4, into a run's folder. */
export async function makeFeedRun(
  out: string,
  run: string,
  { queries = 8, samples = 2, epochs, train = {}, model }: Made = {},
): Promise<void> {
  mkdirSync(out, { recursive: true });
  const dataset = join(out, `${run}.jsonl`);
  const rows = Array.from({ length: queries }, (_, i) => ({ id: `q${i}`, question: `Is ${i}?`, answer: '4' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const defaults = { batchGroups: 2, maxStaleness: 1, successRate: null, dropZeroVariance: false, minMembers: null };
  await createRun(openFileStore(out, run), {
    run,
    survey: await surveyDataset({ dataset, limit: null, shuffleSeed: null }),
    settings: parseSettings(run, { numTurns: 1, ...(model === undefined ? {} : { model }) }),
    samples,
    ...(epochs === undefined ? {} : { epochs }),
    ...(train === null ? {} : { train: { ...defaults, ...train } }),
    origins: { numTurns: 'flag', ...(model === undefined ? {} : { model: 'flag' as const }) },
  });
}
