// What `check` says of rewards and masks of parts of an answer: nothing of right ones, and of every other kind its fault.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EnvironmentRecord } from '../../../domain/rollout/environment.ts';
import type { VerdictRecord } from '../../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import { checkRun } from '../../../records/check/check.ts';
import { byteTokenizer } from '../../support/scripted-model.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { openLoose } from '../ended-rig.ts';
import { aQuery, play, putRun, someSettings, withRecords } from '../play.ts';

const root = scratchFolder();
const environment = {
  ...{ name: 'steps', version: '1', state: 'none', begins: false, ends: false, timeoutSeconds: 60, door: 'command' },
  ...{ spec: ['python3', 'steps.py'], fingerprint: 'e'.repeat(64) },
} as const satisfies EnvironmentRecord;
const TURN = { outputIds: [97, 98, 99, 256], logprobs: [-1, -1, -1, -1], answer: 'abc', outputText: 'abc<end>' };
const STARTS = [0, 1, 2, 3];
const credit = [
  { from: 0, to: 2, reward: 0.5 },
  { from: 2, to: 3, train: false as const },
];
const RIGHT = { credit, base: 1, reward: 1.5 };

interface Wrong {
  readonly turn?: Partial<TurnRecord>;
  readonly verdict?: Partial<VerdictRecord>;
  readonly credits?: boolean;
}

/** The problems of a rollout with one turn. */
async function said({ turn = { tokenStarts: STARTS }, verdict = RIGHT, credits = true }: Wrong) {
  const own = { ...environment, ...(credits && { credits }) } as EnvironmentRecord;
  const settings = { ...someSettings(), environments: [own] };
  const query = aQuery('one', { environment: 'steps', task: 'environment' });
  const loose = openLoose(mkdtempSync(join(root, 'run-')));
  await putRun(loose, [query], { settings });
  const store = withRecords(loose, {
    verdict: (record) => ({ ...record, environment: own.fingerprint, ...verdict }),
  });
  const versions = [{ version: 0, start: 0, end: 4 }];
  await play(store, { query, settings, verdicts: ['right'], stop: null, turn: () => ({ ...TURN, versions, ...turn }) });
  const problems: string[] = [];
  const tokenizer = { ...byteTokenizer, name: 'the bytes', stopTokenIds: [256] };
  await checkRun(loose, ({ problem }) => problems.push(problem), { tokenizer } as never);
  // The scripted context is of no tokenizer.
  return problems.filter((problem) => !problem.includes('context'));
}

describe('the check of parts of an answer', () => {
  test('right ones are no breach, nor is an answer of which the environment said nothing', async () => {
    expect(await said({})).toEqual([]);
    expect(await said({ verdict: {} })).toEqual([]);
    expect(await said({ verdict: { credit: credit.slice(1), train: false } })).toEqual([]);
    expect(await said({ turn: {}, verdict: {}, credits: false })).toEqual([]);
  });

  test.each<[string, Wrong, string]>([
    ['a reward that is not the sum', { verdict: { ...RIGHT, reward: 2 } }, 'says reward 2; base and spans give 1.5'],
    [
      'named rewards of another sum',
      { verdict: { ...RIGHT, rewards: { a: 2 } } },
      'says base 1; its named rewards give 2',
    ],
    [
      'rewards of spans without the rest',
      { verdict: { credit, reward: 1.5 } },
      'says base undefined, with rewards of spans',
    ],
    ['a rest without rewards of spans', { verdict: { base: 1, reward: 1 } }, 'says base 1, with no rewards of spans'],
    ['a span outside the answer', { verdict: { credit: [{ from: 2, to: 4 }] } }, 'the answer has 3 characters'],
    [
      'spans over each other',
      {
        verdict: {
          credit: [
            { from: 0, to: 2 },
            { from: 1, to: 3 },
          ],
        },
      },
      'none is over another',
    ],
    [
      'a mask of another environment',
      { turn: {}, verdict: { train: false }, credits: false },
      'and its environment does not',
    ],
    ['tokens without a place', { turn: {} }, 'says not where its tokens begin'],
    ['places of nobody’s tokens', { credits: false, verdict: {} }, 'says where its tokens begin, and nobody'],
    ['places of fewer tokens', { turn: { tokenStarts: [0, 1, 2] } }, 'says where 3 of 4 tokens begin'],
    ['a token before the last', { turn: { tokenStarts: [0, 2, 1, 3] } }, 'has a token 3 that begins at 1'],
    ['a token behind the answer', { turn: { tokenStarts: [0, 1, 2, 4] } }, 'has a token 4 that begins at 4'],
    ['a token at another place, by its tokenizer', { turn: { tokenStarts: [0, 1, 1, 3] } }, 'the bytes give'],
  ])('%s is named', async (_, wrong, problem) => {
    expect((await said(wrong)).join('\n')).toContain(problem);
  });
});
