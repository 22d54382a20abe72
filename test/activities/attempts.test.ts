// A rollout takes the place of no other: samples beyond the run's, and attempts at what has not failed, are refused.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { openActivity } from '../../activities/open.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import type { OpenedRollout } from '../../domain/rollout/rollout-facts.ts';
import { openFileStore } from '../../records/file-store.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();
const RUN = 'r';
const store = openFileStore(root, RUN);
const deps: Partial<ActivityDeps> = {
  version: 'test',
  openStore: openFileStore,
  parseSettings: (run) => completeSettings(run),
  permit: () => undefined,
  now: Date.now,
};
const open = (input: Partial<RolloutInput>) =>
  new MockActivityEnvironment().run(openActivity(deps as ActivityDeps), { run: RUN, out: root, index: 0, ...input });

async function ended(outcome: 'complete' | 'failed', sample: number): Promise<void> {
  await open({ sample });
  await store.putEnd(
    { run: RUN, query: 'q', sample, attempt: 1 },
    {
      ...{ outcome, stopReason: outcome === 'failed' ? 'failed' : 'max-turns', turnRewards: [], returns: [] },
      failure: outcome === 'failed' ? { boundary: 'model', reason: 'server-unreachable', message: '', turn: 1 } : null,
      ...{ success: [], turns: [], finishedAt: 1 },
    },
  );
}

describe('a rollout of a run that has a data set', () => {
  test('is one of its samples, and follows an attempt that failed', async () => {
    await store.putQueries([
      { queryId: 'q', prompt: { kind: 'text', text: '1 + 1 = ' }, task: 'math', solutions: ['2'] },
    ]);
    await store.putRun({
      format: 'everturn-run/1',
      run: RUN,
      settings: completeSettings(RUN),
      origins: {},
      samples: 2,
      dataset: { path: '/data.jsonl', sha256: 'a', accepted: 1, refused: 0 },
      versions: { everturn: 'test', node: process.version },
      createdAt: 1,
    });
    await ended('complete', 0);
    await ended('failed', 1);
    for (const input of [{ sample: 2 }, { sample: 0, attempt: 2 }, { sample: 1, attempt: 3 }])
      await expect(open(input), JSON.stringify(input)).rejects.toMatchObject({ reason: 'not-allowed' });
    const next = (await open({ sample: 1, attempt: 2 })) as OpenedRollout;
    expect(next.rollout).toMatchObject({ sample: 1, attempt: 2 });
  });
});
