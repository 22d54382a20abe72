// Tries the data of a benchmark's page: they are loaded, every row is read and asked as a run would, and each solution is read by the
// judge. A page that names no commit is pinned to the one that was found.

import { writeFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { type Benchmark, findRows } from '../formats/benchmarks/find-rows.ts';
import type { BadRow } from '../formats/datasets/dataset.ts';
import { readRegular } from '../local/machine/regular-file.ts';
import type { DatasetRecord } from '../records/format/run-record.ts';
import type { Caller } from './caller.ts';
import { withJudge } from './prepare-run.ts';
import { readRows } from './rows.ts';

export interface VerifiedBenchmark {
  readonly dataset: DatasetRecord;
  readonly badRows: readonly BadRow[];
  /** There are as many rows as the page says; null where it says none. */
  readonly hasSize: boolean | null;
  /** The commit that was written into the page; null: it names one, or its data are a file. */
  readonly pinned: string | null;
}

const MOST_BYTES = 1 << 20;

/** Throws a DatasetError where the data are not to be had, a StoreError where the page cannot be written. */
export async function verifyBenchmark(benchmark: Benchmark, named: string, caller: Caller): Promise<VerifiedBenchmark> {
  const { page, file } = benchmark;
  const { source, wording, size } = await findRows(benchmark, named, caller);
  const { dataset, badRows } = await withJudge(async (reader) => {
    const rows = await readRows({ dataset: source, limit: null, shuffleSeed: null, wording, size }, reader);
    rows.close();
    return rows;
  });
  const pinned = dataset.hub && page.source.revision === undefined ? dataset.hub.commit : null;
  if (pinned !== null) {
    const document = parseDocument(readRegular(file, MOST_BYTES));
    document.setIn(['source', 'revision'], pinned);
    await writeFile(file, document.toString({ lineWidth: 0 }));
  }
  return { dataset, badRows, hasSize: page.size === undefined ? null : dataset.pageSize === undefined, pinned };
}
