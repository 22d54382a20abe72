// A run's folder for tests of the feed: a data set of made-up rows, one turn each.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings } from '../../run/config.ts';
import { createRun } from '../../run/create-run.ts';
import { evaluationPlace } from '../../run/evaluations.ts';
import { newRecord, offeredOf } from '../../run/plan.ts';
import { readRows } from '../../run/rows.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { TrainRecord } from '../../records/format/run-record.ts';

export interface Made {
  readonly queries?: number;
  readonly samples?: number;
  readonly epochs?: number;
  readonly train?: Partial<TrainRecord> | null;
  readonly model?: string;
  /** So many held-out rows, h0, h1, …, evaluated at each version that `every` divides. */
  readonly heldOut?: { readonly queries: number; readonly every: number };
}

/** Accepts `queries` rows, q0, q1, …, whose answer is 4, into a run's folder. */
export async function makeFeedRun(
  out: string,
  run: string,
  { queries = 8, samples = 2, epochs, train = {}, model, heldOut }: Made = {},
): Promise<void> {
  mkdirSync(out, { recursive: true });
  const rowsOf = (letter: string, length: number) => {
    const dataset = join(out, `${run}.${letter}.jsonl`);
    const rows = Array.from({ length }, (_, i) => ({ id: `${letter}${i}`, question: `Is ${i}?`, answer: '4' }));
    writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
    return readRows({ dataset, limit: null, shuffleSeed: null });
  };
  const defaults = { batchGroups: 2, maxStaleness: 1, successRate: null, dropZeroVariance: false, minMembers: null };
  const settings = parseSettings(run, { numTurns: 1, ...(model === undefined ? {} : { model }) });
  const held = heldOut && (await rowsOf('h', heldOut.queries));
  const evaluation = held && { every: heldOut!.every, samples: 1, queries: offeredOf(held.dataset) };
  if (held) {
    const first = { run, version: 0, line: 0 };
    const place = evaluationPlace({ ...first, out });
    const evaluates = { ...first, label: null };
    const made = {
      run: place.run,
      dataset: held.dataset,
      settings,
      samples: 1,
      origins: { numTurns: 'flag' },
      evaluates,
    } as const;
    await createRun(openFileStore(place.out, place.run), newRecord(made, Date.now()), held.queries());
  }
  const rows = await rowsOf('q', queries);
  const made = {
    ...{ run, dataset: rows.dataset, settings, samples },
    ...(evaluation && { evaluation }),
    ...(epochs === undefined ? {} : { epochs }),
    ...(train === null ? {} : { train: { ...defaults, ...train } }),
    origins: { numTurns: 'flag', ...(model === undefined ? {} : { model: 'flag' as const }) },
  } as const;
  await createRun(openFileStore(out, run), newRecord(made, Date.now()), rows.queries());
}
