// The rows of a lease, as a feed sends them: their age is that of the version that they are trained at.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBatch } from '../../client/feed/feed-rows.ts';
import { argumentProblem, type GrantedLease } from '../../domain/feed/messages.ts';
import type { NeutralRow } from '../../domain/samples/neutral-row.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const store = openFileStore(join(scratchFolder(), 'runs'), RUN);
const lease: GrantedLease = {
  ...{ id: 'one', consumer: 'me', groups: [[0, 0]], version: 6, trainedAt: 7, line: 1, until: 0 },
  floors: [{ line: 0, version: 5 }],
};
const spans = [
  { version: 4, versionLabel: 'line0:v4', start: 0, end: 1 },
  { version: 6, versionLabel: 'line0:v6', start: 1, end: 2 },
  { version: 6, versionLabel: 'line1:v6', start: 2, end: 4 },
];
const turn = () => ({
  ...{ outputIds: [1, 2, 3, 4], logprobs: [-1, -1, -1, -1], versions: spans, versionStart: 4, versionEnd: 6 },
});

async function rowOf(gap?: number): Promise<NeutralRow> {
  if ((await store.countQueries().catch(() => 0)) === 0) {
    await putRun(store, [aQuery('q')]);
    await play(store, { query: aQuery('q'), verdicts: ['right'], turn });
  }
  const batch = await openBatch(store, { run: RUN, queries: 1, samples: 1 }, lease, gap);
  for await (const line of batch.lines()) return JSON.parse(line) as NeutralRow;
  throw new Error('no row');
}

describe('a row of a lease', () => {
  test('masks the tokens that are too old for the version that it is trained at, and those of weights that a rewind took back', async () => {
    const { mask_stale: stale, response_mask: mask, versions } = await rowOf(2);
    expect({ versions, stale, mask }).toEqual({ versions: [4, 6, 6, 6], stale: [1, 1, 0, 0], mask: [0, 0, 1, 1] });
    expect((await rowOf(3)).mask_stale).toEqual([0, 1, 0, 0]);
    expect((await rowOf(0)).mask_stale).toEqual([1, 1, 1, 1]);
  });

  test('says nothing of age where no limit was asked', async () => {
    const row = await rowOf();
    expect(row.response_mask).toEqual([1, 1, 1, 1]);
    expect(row).not.toHaveProperty('mask_stale');
  });

  test.each([-1, 1.5, '2', 2 ** 31])('is not leased with the gap %j', (gap) => {
    const given = { consumer: 'me', groups: 1, max_token_gap: gap };
    expect(argumentProblem('lease', given)).toContain('max_token_gap');
    expect(argumentProblem('lease', { ...given, max_token_gap: 2 })).toBeUndefined();
  });
});
