// A run that has ended, and lost a rollout together with its name: no command takes it for a smaller run.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { noCounts } from '../../domain/run/progress.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { openLoose } from '../records/ended-rig.ts';
import { play, putRun, RUN } from '../records/play.ts';
import { QUERIES, SCRIPTS } from '../viewer/rig.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

const out = scratchFolder();
const folder = join(out, RUN);
const complete = SCRIPTS.length;
beforeAll(async () => {
  const store = openLoose(out, RUN);
  await putRun(store, QUERIES, { run: RUN });
  for (const [index, script] of SCRIPTS.entries()) await play(store, { query: QUERIES[index]!, index, ...script });
  const counts = { ...noCounts(), outcomes: { ...noCounts().outcomes, complete } };
  await store.put('result', null, { run: RUN, total: complete, cancelled: false, numTurns: 3, counts });
  rmSync(join(folder, rolloutFolder({ query: 'a1', sample: 0, attempt: 1 })), { recursive: true });
});

describe('a run that lost a rollout with its name', () => {
  test.each([
    ['stats', folder],
    ['report', folder, '--to', join(out, 'report.html')],
    ['compare', folder, folder],
    ['export', folder, '--format', 'messages', '--to', join(out, 'rows.jsonl')],
  ])('is no smaller run for %s', async (...args) => {
    const { code, err } = await call(out, args);
    expect(err).toContain(`a result with ${complete} complete, and ${complete - 1} rollouts`);
    expect(code).toBe(1);
  });
});
