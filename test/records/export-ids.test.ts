import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formerSampleId, parseSampleId } from '../../domain/rollout/sample-id.ts';
import { areal } from '../../formats/exports/areal.ts';
import { checkRun } from '../../records/check/check.ts';
import { exportRun } from '../../records/export-run.ts';
import { openFileStore } from '../../records/files.ts';
import { aQuery, play, putRun, RUN } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-export-ids-'));
afterAll(() => rmSync(root, { recursive: true }));

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

/** The same file as it was written before `@` was escaped. */
function asBefore(file: string): void {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const former = lines.map((line) => {
    const sample = JSON.parse(line) as { ids: [string] };
    const { query, sample: number } = parseSampleId(sample.ids[0])!;
    return JSON.stringify({ ...sample, ids: [formerSampleId(query, number)] });
  });
  writeFileSync(file, `${former.join('\n')}\n`);
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

  test('of an older export pass where they name one sample each', async () => {
    const run = await exported(['a', 'b@idx']);
    asBefore(run.file);
    expect(await problemsOf(run)).toEqual([]);
  });

  test('of an older export are a breach where two samples share one', async () => {
    const run = await exported(['x', 'x@1']);
    asBefore(run.file);
    expect(await problemsOf(run)).toEqual(['line 3 has the id "x@1" of line 2: export the run again, which escapes @']);
  });

  test('are a breach where an exporter gives one twice', async () => {
    const run = await exported(['x', 'x@1']);
    const careless = {
      ...areal,
      id: ({ rollout }: Parameters<typeof areal.id>[0]) => formerSampleId(rollout.query.queryId, rollout.sample),
    };
    expect(await problemsOf(run, careless)).toContain(
      'gives query "x@1", sample 0 the id "x@1", which query "x", sample 1 has',
    );
  });
});
