// A run that has ended, and lost a rollout together with its name: no command takes it for a smaller run.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { openLoose } from '../records/ended-rig.ts';
import { play, putRun, RUN } from '../records/play.ts';
import { QUERIES, SCRIPTS } from '../viewer/rig.ts';
import { scriptedIo } from './scripted-io.ts';

const out = mkdtempSync(join(tmpdir(), 'everturn-lost-'));
const folder = join(out, RUN);
const complete = SCRIPTS.length;
afterAll(() => rmSync(out, { recursive: true }));
beforeAll(async () => {
  const store = openLoose(out, RUN);
  await putRun(store, QUERIES, { run: RUN });
  for (const [index, script] of SCRIPTS.entries()) await play(store, { query: QUERIES[index]!, index, ...script });
  const counts = { ...noCounts(), outcomes: { ...noCounts().outcomes, complete } };
  await store.putResult({ run: RUN, total: complete, cancelled: false, numTurns: 3, counts });
  rmSync(join(folder, rolloutFolder({ query: 'a1', sample: 0, attempt: 1 })), { recursive: true });
});

describe('a run that lost a rollout with its name', () => {
  test.each([
    ['stats', folder],
    ['report', folder, '--to', join(out, 'report.html')],
    ['compare', folder, folder],
    ['export', folder, '--format', 'messages', '--to', join(out, 'rows.jsonl')],
  ])('is no smaller run for %s', async (...args) => {
    const io = scriptedIo({ cwd: out });
    const code = await main(io, args);
    expect(io.text.err).toContain(`a result with ${complete} complete, and ${complete - 1} rollouts`);
    expect(code).toBe(1);
  });
});
