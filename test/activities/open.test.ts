// A rollout's first step: what is refused leaves nothing behind, what was accepted is not asked again, and none takes the
// place of another.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { openActivity } from '../../activities/open.ts';
import { parseSettings } from '../../run/config.ts';
import { queryFromRow } from '../../formats/datasets/row.ts';
import { DatasetError } from '../../domain/errors/errors.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { RolloutInput } from '../../domain/run/messages.ts';
import { aRunRecord } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { OpenedRollout } from '../../domain/rollout/rollout-facts.ts';

const root = scratchFolder();

function opening(readSolutions: ActivityDeps['readSolutions']) {
  const deps: Partial<ActivityDeps> = {
    version: 'test',
    openStore: openFileStore,
    parseRow(row) {
      const parsed = queryFromRow(row, '1');
      if (parsed.ok) return parsed.query;
      throw new DatasetError(parsed.problem, { reason: 'bad-row', fix: parsed.fix });
    },
    ...(readSolutions && { readSolutions }),
    parseSettings,
    permit: () => undefined,
    now: Date.now,
  };
  const open = openActivity(deps as ActivityDeps);
  return (input: Omit<RolloutInput, 'out'>) =>
    new MockActivityEnvironment().run(open, { ...input, out: root } as RolloutInput);
}

const row = { id: 'q', question: '1+1?', answer: '2' };
const unusable = async () => {
  throw new DatasetError('Field `answer` of the row: cannot be read', { reason: 'bad-row' });
};

describe('a rollout with its own row', () => {
  test.each<[string, object, ActivityDeps['readSolutions']]>([
    ['a bad row', { row: { id: 'q', question: '1+1?' } }, undefined],
    ['a row whose solution nobody can use', { row }, unusable],
    ['a bad setting', { row, settings: { numTurns: 0 } }, undefined],
    ['an unknown setting', { row, settings: { turns: 3 } }, undefined],
    ['no row and no index', {}, undefined],
  ])('%s leaves no folder', async (_, input, readSolutions) => {
    await expect(opening(readSolutions)({ run: 'refused', ...input })).rejects.toThrow();
    expect(existsSync(join(root, 'refused'))).toBe(false);
  });

  test('one that was accepted is not asked again', async () => {
    const accepted = await opening(async () => {})({ run: 'again', row });
    expect(await opening(unusable)({ run: 'again', row })).toEqual(accepted);
    await expect(opening(unusable)({ run: 'again', row: { ...row, id: 'other' } })).rejects.toThrow('cannot be read');
  });
});

const RUN = 'r';
const store = openFileStore(root, RUN);
const open = (input: Partial<RolloutInput>) => opening(undefined)({ run: RUN, index: 0, ...input });

async function ended(outcome: 'complete' | 'failed', sample: number): Promise<void> {
  await open({ sample });
  await store.put(
    'end',
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
    const dataset = { path: '/data.jsonl', sha256: 'a', accepted: 1, refused: 0 };
    await store.put('run', null, aRunRecord(RUN, completeSettings(RUN), { samples: 2, dataset }));
    await ended('complete', 0);
    await ended('failed', 1);
    for (const input of [{ sample: 2 }, { sample: 0, attempt: 2 }, { sample: 1, attempt: 3 }])
      await expect(open(input), JSON.stringify(input)).rejects.toMatchObject({ reason: 'not-allowed' });
    const next = (await open({ sample: 1, attempt: 2 })) as OpenedRollout;
    expect(next.rollout).toMatchObject({ sample: 1, attempt: 2 });
  });
});
