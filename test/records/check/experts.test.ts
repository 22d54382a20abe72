// What `check` says of experts: nothing of slices that lie end to end in their files, and of every other kind its fault.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expertsFile, type ExpertsSlice } from '../../../domain/rollout/experts.ts';
import { checkRun } from '../../../records/check/check.ts';
import { sizeOfExperts } from '../../../records/run/experts.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { openLoose } from '../ended-rig.ts';
import { aQuery, play, putRun, someSettings } from '../play.ts';

const root = scratchFolder();
const SHAPE = { layers: 2, perToken: 1, type: 'uint8' } as const;

type Damage = (slices: readonly ExpertsSlice[], folder: string) => readonly ExpertsSlice[];

/** The problems of a turn of two slices, the first of all tokens but the answer's. */
async function said(damage: Damage) {
  const settings = someSettings();
  const store = openLoose(mkdtempSync(join(root, 'run-')));
  await putRun(store, [aQuery('one')], { settings });
  const data = (rows: number) => Uint8Array.from({ length: 2 * rows }, (_, i) => i);
  const kept = new Map<number, Pick<ExpertsSlice, 'sha256' | 'bytes'>>();
  for (const rows of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) kept.set(rows, await store.putExperts(data(rows)));
  await play(store, {
    query: aQuery('one'),
    verdicts: ['right'],
    settings,
    stop: null,
    turn: () => {
      const answer = {
        outputIds: [5, 6, 256],
        logprobs: [-0.1, -0.2, -0.3],
        versions: [{ version: 0, start: 0, end: 3 }],
      };
      // Of three tokens of context.
      const [first, second] = [2, 3];
      const slices = [
        { ...kept.get(first)!, start: 0, rows: first, ...SHAPE },
        // The file has a row more than the record takes of it.
        { ...kept.get(second + 1)!, start: first, rows: second, ...SHAPE },
      ];
      return { ...answer, experts: damage(slices, store.folder) };
    },
  });
  const problems: string[] = [];
  await checkRun(store, ({ problem }) => problems.push(problem));
  return { problems, folder: store.folder };
}

describe('the check of experts', () => {
  test('right ones are no breach, and their files are counted', async () => {
    const { problems, folder } = await said((slices) => slices);
    expect(problems).toEqual([]);
    expect(await sizeOfExperts(folder)).toEqual({ files: 10, bytes: 110 });
  });

  test.each<[string, Damage, RegExp]>([
    [
      'a gap',
      ([one, two]) => [one!, { ...two!, start: two!.start + 1 }],
      /experts from token \d+ on where those before end/,
    ],
    ['a part too few', ([one]) => [one!], /has experts up to token \d+; its last one that was fed is/],
    ['more rows than a file has', ([one, two]) => [{ ...one!, layers: 9 }, two!], /more rows of experts than its file/],
    ['a file that is gone', (all, folder) => (rmSync(join(folder, expertsFile(all[1]!))), all), /which is missing/],
    [
      'a file with another content',
      (all, folder) => (writeFileSync(join(folder, expertsFile(all[1]!)), gzipSync(Buffer.alloc(all[1]!.bytes))), all),
      /is not the file of its name/,
    ],
    ['a torn file', (all, folder) => (writeFileSync(join(folder, expertsFile(all[0]!)), 'torn'), all), /is torn/],
  ])('%s is named', async (_, damage, problem) => {
    const { problems } = await said(damage);
    expect(problems.join('\n')).toMatch(problem);
  });
});
