// Which members of a group the feed starts itself: never one that its run has yet to begin.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps, WorkflowClosing } from '../../activities/deps.ts';
import { groupActivities, type WatchedGroups, type WatchInput } from '../../activities/groups.ts';
import { NO_FILTER } from '../../domain/samples/group.ts';
import { openFileStore } from '../../records/file-store.ts';
import { makeFeedRun } from '../support/feed-run.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const out = scratchFolder();

/** Resolves with the watch's answer, or 'waits' once Temporal was asked three times without one. */
async function watched(run: string, closing: WorkflowClosing): Promise<WatchedGroups | 'waits'> {
  await makeFeedRun(out, run, { queries: 1 });
  const env = new MockActivityEnvironment();
  let [asked, clock] = [0, 0];
  const deps = {
    openStore: openFileStore,
    now: () => (clock += 60_000),
    closedRollouts: async (_: string, ids: readonly string[]) => {
      if (++asked === 3) env.cancel();
      return new Map(ids.map((id) => [id, closing]));
    },
  } as unknown as ActivityDeps;
  const shape = { queries: 1, epochs: 1, samples: 2, batchGroups: 1, maxStaleness: 1, filter: NO_FILTER };
  const input: WatchInput = { run, out, shape, playing: [[0, 0]], next: 1, restarts: {} };
  const answer = env.run(groupActivities(deps).watchGroups as never, input) as Promise<WatchedGroups>;
  return answer.catch((error: unknown) => {
    if (asked >= 3) return 'waits' as const;
    throw error;
  });
}

describe('a group whose members have no record', () => {
  test('is left to its run while no workflow of theirs was ever started', async () => {
    expect(await watched('absent', 'absent')).toBe('waits');
  });

  test('is played by the feed once their workflows have closed', async () => {
    const found = await watched('closed', 'other');
    expect(found).toMatchObject({ ended: [], start: [{ sample: 0 }, { sample: 1 }] });
  });
});
