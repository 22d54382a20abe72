// A rollout's first step: what is refused leaves nothing behind, and what was accepted is not asked again.

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
import { scratchFolder } from '../support/scratch-folder.ts';

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
