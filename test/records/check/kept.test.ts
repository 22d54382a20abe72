// What `check` says of kept sets: nothing of right ones, and of every other kind its fault.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packedKept } from '../../../domain/rollout/kept-sets.ts';
import type { RolloutSettings } from '../../../domain/rollout/settings.ts';
import { checkRun } from '../../../records/check/check.ts';
import { type ForcedPass, keptBegins } from '../../../records/check/kept.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { openLoose } from '../ended-rig.ts';
import { aQuery, play, putRun, someSettings } from '../play.ts';

const root = scratchFolder();

/** The problems of a rollout's turn with three tokens, of these sets. */
async function said(kept: string, part: Partial<RolloutSettings> = {}, forced?: ForcedPass, of: object = {}) {
  const settings = someSettings({ topP: 0.8, topK: 3, ...part });
  const store = openLoose(mkdtempSync(join(root, 'run-')));
  await putRun(store, [aQuery('one')], { settings });
  const ids = { outputIds: [5, 6, 256], logprobs: [-0.1, -0.2, -0.3] };
  const versions = [{ version: 0, start: 0, end: 3 }];
  const query = aQuery('one');
  await play(store, {
    query,
    verdicts: ['right'],
    settings,
    stop: null,
    turn: () => ({ ...ids, versions, kept, ...of }),
  });
  const problems: string[] = [];
  const { forcedTokens } = await checkRun(store, ({ problem }) => problems.push(problem), { forced });
  return { problems, forcedTokens };
}

const RIGHT = packedKept([[5, 9], null, [7, 8, 256]]);

describe('the check of kept sets', () => {
  test('right sets are no breach', async () => {
    expect(await said(RIGHT)).toEqual({ problems: [], forcedTokens: undefined });
  });

  test.each<[string, string, Partial<RolloutSettings>, RegExp]>([
    [
      'without their token',
      packedKept([[5], [9], [256]].map((set, i) => (i === 1 ? set : null))),
      {},
      /token 2 was drawn from ids without it/,
    ],
    ['larger than top-k', RIGHT, { topK: 2 }, /token 3 was drawn from 3 ids; top-k is 2/],
    ['of fewer tokens', packedKept([[5, 9]]), {}, /has 1 kept sets for 3 output tokens/],
    [
      'of its token alone, which was not sure',
      packedKept([[5], null, null]),
      {},
      /token 1 was drawn from itself alone/,
    ],
    ['of a draw that leaves nothing out', RIGHT, { topP: 1, topK: 1e8 }, /its rollout leaves no token out/],
    ['of a greedy answer', RIGHT, { temperature: 0 }, /its rollout leaves no token out/],
    ['that cannot be read', 'AAA=A', {}, /has no right kept: it should be sets of token ids/],
  ])('sets %s are named', async (_, kept, part, problem) => {
    expect((await said(kept, part)).problems[0]).toMatch(problem);
  });

  test('a server’s set holds what is as probable as the last of its top-k, and no more than that can be', async () => {
    const server = { server: 'http://10.0.0.1' };
    const sizes = async (topK: number) =>
      (await said(RIGHT, { topK }, undefined, server)).problems.filter((problem) => problem.includes('top-k'));
    expect(await sizes(2)).toEqual([]);
    const wide = packedKept([[5, 9], [6, 9], Array.from({ length: 60 }, (_, i) => 200 + i)]);
    expect((await said(wide, { topK: 3 }, undefined, server)).problems.join()).toMatch(
      /was drawn from 60 ids; top-k is 3/,
    );
  });

  test('the model itself is asked for each recorded token, and what it does not keep is named', async () => {
    const asked: unknown[] = [];
    const right = await said(RIGHT, {}, async ({ outputIds, sets, sampling: { topP } }) => {
      asked.push({ outputIds, sets, topP });
      return null;
    });
    expect(right).toEqual({ problems: [], forcedTokens: 3 });
    expect(asked).toEqual([{ outputIds: [5, 6, 256], sets: [[5, 9], null, [7, 8, 256]], topP: 0.8 }]);
    const { problems } = await said(RIGHT, {}, async () => 2);
    expect(problems).toEqual(['says that output token 3 was drawn from other ids than its model keeps']);
  });

  test('a turn begins with the sets of its parts', () => {
    const of = (...sets: (number[] | null)[]) => ({
      kept: packedKept(sets),
      outputIds: sets.map(() => 5),
      logprobs: sets.map(() => -1),
    });
    expect(keptBegins(of([5, 9], null, [5]), [of([5, 9]), of(null)])).toBe(true);
    expect(keptBegins(of([5, 9], null, [5]), [of([5, 9]), of([5])])).toBe(false);
    const { kept: _, ...unsaid } = of([5]);
    expect(keptBegins(unsaid, [unsaid])).toBe(true);
  });
});
