// A sound ledger has no breach, and each harm to one is named.

import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FeedEntry } from '../../../domain/feed/entry.ts';
import { checkFeed } from '../../../records/check/feed.ts';
import { feedFile } from '../../../records/format/layout.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { Store } from '../../../records/store.ts';
import { RUN } from '../play.ts';
import { playGoodRun } from './good-run.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();
beforeAll(() => playGoodRun(join(root, 'good')));

type Said = Record<string, unknown> & { readonly kind: string };
const trained = (
  groups: readonly (readonly [number, number])[],
  leasedAt: number,
  version: number,
  more = {},
): Said => ({
  kind: 'trained',
  lease: `first~${JSON.stringify(groups)}-${leasedAt}-${version}`,
  consumer: 't',
  groups,
  leasedAt,
  version,
  ...more,
});
const version = (n: number): Said => ({ kind: 'version', version: n, weights: null });
const rewind = (to: number): Said => ({ kind: 'rewind', to });
const SOUND: readonly Said[] = [
  trained([[0, 0]], 0, 1),
  version(1),
  trained([[2, 2]], 1, 2),
  rewind(1),
  trained([[2, 3]], 1, 2),
  version(2),
];

async function write(store: Store, said: readonly Said[]): Promise<void> {
  let previous: string | null = null;
  for (const [i, one] of said.entries()) {
    const entry = { ...one, number: i + 1, previous, at: i } as unknown as FeedEntry;
    previous = (await store.put('feed', null, entry)).hash;
  }
}

async function checked(said: readonly Said[], harm: (folder: string, store: Store) => unknown = () => {}) {
  const out = mkdtempSync(join(root, 'bad-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  const store = openFileStore(out, RUN);
  await write(store, said);
  await harm(store.folder, store);
  const problems: string[] = [];
  const { record } = (await store.get('run'))!;
  const facts = await checkFeed(store, record, 4, ({ path, problem }) => problems.push(`${path} ${problem}`));
  return { facts, problems: problems.join('\n') };
}

describe('the check of a ledger', () => {
  test('finds nothing wrong with a sound one, over a rewind', async () => {
    expect(await checked(SOUND)).toEqual({ facts: { entries: 6, version: 2, line: 1, trained: 3 }, problems: '' });
    expect(await checked([])).toEqual({ facts: undefined, problems: '' });
  });

  test.each([
    ['a group trained twice along the line', [...SOUND, trained([[3, 3]], 2, 3)], /groups 3 a second time/],
    [
      'a group trained again without a rewind',
      [trained([[0, 0]], 0, 1), trained([[0, 0]], 0, 1, { lease: 'x' })],
      /a second time/,
    ],
    ['a version that goes back', [...SOUND, version(1)], /goes back from version 2/],
    ['an acknowledgement that goes back', [version(3), trained([[0, 0]], 0, 2)], /goes back to version 2/],
    ['training into the version of the lease', [version(1), trained([[0, 0]], 1, 1)], /into version 1 and leased at 1/],
    ['a lease from the future', [trained([[0, 0]], 5, 6)], /leased at version 5; 0 was published/],
    ['a rewind to what never was', [rewind(3)], /rewinds to version 3/],
    [
      'a lease acknowledged twice',
      [trained([[0, 0]], 0, 1, { lease: 'x' }), trained([[2, 2]], 0, 1, { lease: 'x' })],
      /lease x a second/,
    ],
    ['a group that has no reward', [trained([[1, 1]], 0, 1)], /group 1 .*has 0 of 2 members/],
    ['a group that the run has not', [trained([[4, 4]], 0, 1)], /trains group 4 of a run with 4 groups/],
    [
      'groups that are no set',
      [
        trained(
          [
            [2, 2],
            [0, 0],
          ],
          0,
          1,
        ),
      ],
      /no right groups: it should be ranges of groups/,
    ],
    ['a foreign kind', [{ kind: 'constructor' }], /of no kind that Everturn knows/],
  ] as const)('names %s', async (_, said, problem) => {
    expect((await checked(said)).problems).toMatch(problem);
  });

  test('names a missing, a changed, a foreign and a far entry', async () => {
    const at = (folder: string, n: number) => join(folder, feedFile(n));
    expect((await checked(SOUND, (f) => rmSync(at(f, 2)))).problems).toMatch(/000000002.json is missing/);
    expect((await checked(SOUND, (f) => writeFileSync(at(f, 2), '{}\n'))).problems).toMatch(/000000002/);
    expect((await checked(SOUND, (f) => renameSync(at(f, 5), at(f, 7)))).problems).toMatch(/says it is entry 5/);
    expect((await checked(SOUND, (f) => writeFileSync(join(f, 'feed/000000/x'), ''))).problems).toMatch(
      /not of this run/,
    );
    expect((await checked(SOUND, (f) => writeFileSync(at(f, 900), ''))).problems).toMatch(/000900.json stands alone/);
    const other = await checked(SOUND, async (folder, store) => {
      rmSync(at(folder, 3));
      await store.put('feed', null, {
        ...trained([[2, 2]], 1, 2),
        number: 3,
        previous: 'a',
        at: 0,
      } as unknown as FeedEntry);
    });
    expect(other.problems).toMatch(/000000003.json does not follow entry 2/);
  });
});
