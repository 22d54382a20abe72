// A pack whose manifest is gone, moved away by somebody who followed an error: it may hold all there is of its rollouts.

import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { packRun } from '../../storage/pack/pack.ts';
import { unpackRun } from '../../storage/pack/unpack.ts';
import { playGoodRun } from '../proof/good-run.ts';
import { again, bytesIn } from './pack-rig.ts';
import { RUN } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-orphans-'));
afterAll(() => rmSync(root, { recursive: true }));

const zipsIn = (packs: string) => readdirSync(packs).filter((name) => name.endsWith('.zip'));

describe('a pack that no manifest names', () => {
  test('stays while its rollouts are nowhere else, and is whole again with its manifest', async () => {
    await playGoodRun(root);
    const loose = bytesIn(join(root, RUN));
    await packRun(again(root), { minAgeMs: 0, rolloutsPerPack: 4 });
    const packs = join(root, RUN, 'packs');
    const before = zipsIn(packs);
    const [first, last] = [join(packs, '000001.json'), join(packs, '000003.json')];
    renameSync(last, `${root}/saved-3.json`);
    for (const name of before) utimesSync(join(packs, name), 1, 1);

    const reported: string[] = [];
    await packRun(again(root), { minAgeMs: 0, onProblem: (path, problem) => reported.push(`${path} ${problem}`) });
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatch(/^packs\/000003-[0-9a-f]{12}\.zip is named by no manifest, and holds rollouts/);
    expect(zipsIn(packs)).toEqual(before);

    renameSync(first, `${root}/saved-1.json`);
    await expect(unpackRun(join(root, RUN))).rejects.toMatchObject({
      message: expect.stringContaining('is named by no manifest') as string,
      fix: expect.stringContaining('from a copy of the run') as string,
    });
    expect(zipsIn(packs)).toEqual(before.filter((name) => !name.startsWith('000002')));
    copyFileSync(`${root}/saved-1.json`, first);
    copyFileSync(`${root}/saved-3.json`, last);
    await unpackRun(join(root, RUN));
    expect(existsSync(packs)).toBe(false);
    expect(bytesIn(join(root, RUN))).toEqual(loose);
  });
});
