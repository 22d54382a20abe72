import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseSampleId } from '../support/sample-name.ts';
import { areal } from '../../formats/exports/areal.ts';
import { checkRun } from '../../records/check/check.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

async function exported(ids: readonly string[], samples = 2) {
  const store = openFileStore(mkdtempSync(join(root, 'run-')), RUN);
  const queries = ids.map((id) => aQuery(id));
  await putRun(store, queries, { samples });
  for (const [index, query] of queries.entries()) {
    for (let sample = 0; sample < samples; sample++)
      await play(store, {
        query,
        index,
        sample,
        verdicts: ['wrong', 'right', 'wrong'],
        turn: (turn) => ({ outputIds: [10 * index + sample, turn, 1] }),
      });
  }
  const file = `${store.folder}.export.jsonl`;
  await exportRun(store, areal, file);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return { store, file, found: lines.map((line) => (JSON.parse(line) as { ids: [string] }).ids[0]) };
}

async function problemsOf({ store, file }: Awaited<ReturnType<typeof exported>>, exporter = areal): Promise<string[]> {
  const problems: string[] = [];
  const onBreach = ({ path, problem }: { path: string; problem: string }) =>
    path.includes('export') && problems.push(problem);
  await checkRun(store, onBreach, { export: { exporter, file } });
  return problems;
}

describe('the ids of an export', () => {
  test('are each there once, whatever the query ids look like', async () => {
    const ids = ['x', 'x@1', 'x@1@1', 'x%401', 'X', 'e\u0301', '\u00e9', '1', '01', ' 1'];
    const run = await exported(ids);
    expect(new Set(run.found).size).toBe(2 * ids.length);
    expect(run.found.map((id) => parseSampleId(id)!.query)).toEqual(ids.flatMap((id) => [id, id]));
    expect(await problemsOf(run)).toEqual([]);
  });

  test('are a breach where an exporter gives one twice', async () => {
    const run = await exported(['x', 'x@1']);
    const careless = {
      ...areal,
      id: ({ rollout: { query, sample } }: Parameters<typeof areal.id>[0]) =>
        sample > 0 ? `${query.queryId}@${sample}` : query.queryId,
    };
    expect(await problemsOf(run, careless)).toContain(
      'gives query "x@1", sample 0 the id "x@1", which another one has',
    );
  });
});
