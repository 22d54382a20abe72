// Runs that were played with the shipped model: `check` finds nothing in them, and each record that says something else is
// named, by its tokens where the tokenizer is at hand.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import { serverProblem } from '../../../records/check/replay.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { rewrite } from './damage.ts';
import { folderOf, openPlayed, rehash, RUNS } from './played-runs.ts';

const { copyOf, problemsOf } = await openPlayed();
const FOLDER = folderOf('arith-0001');

interface Change {
  /** Of the first rollout. */
  readonly file: string;
  readonly change: object;
  readonly problem: RegExp;
  /** Only the tokenizer tells. */
  readonly byTokens?: true;
}
type Fields = object | ((turn: TurnRecord) => object);

const turn = (change: Fields, problem: RegExp, number = 2): Change => ({
  ...{ file: `turn-00${number}.json`, change, problem },
});
const tokens = (change: Fields, problem: RegExp, number = 2): Change => ({
  ...turn(change, problem, number),
  byTokens: true,
});
const text = (from: string | RegExp, to: string) => (one: TurnRecord) => ({
  contextText: one.contextText.replace(from, to),
});
const HINT = text('<|im_end|>', ' It is 42.<|im_end|>');

const CHANGES: Readonly<Record<string, Change>> = {
  'another question': turn(text(/\d+/, '999999'), /does not show the model the question/, 1),
  'other ids of the same prompt': turn(
    (one) => ({ contextIds: [...one.contextIds, 5] }),
    /has other context ids than/,
    1,
  ),
  'a hint in the prompt': tokens(HINT, /says contextText .*It is 42.*; its rollout and .* give/, 1),
  'a hint in the feedback': tokens(HINT, /says contextText .*It is 42.*; its rollout and .* give/),
  'feedback without its line break': turn((one) => ({ contextText: one.contextText.slice(1) }), /line break/),
  'an answer that its ids do not say': tokens({ answer: '42' }, /says answer .*; its rollout and .* give/),
  'ids that its text does not say': tokens(
    ({ outputIds: [first, ...more] }) => ({ outputIds: [first! + 1, ...more] }),
    /says outputText .*; its rollout and .* give/,
  ),
  'a stop token in the middle': tokens(
    ({ outputIds: [first, , ...more] }) => ({ outputIds: [first, more.at(-1), ...more] }),
    /has the stop token 2 at place 2/,
  ),
  'a cut answer that had budget left': turn({ finish: 'length' }, /ends by length after \d+ tokens of a budget/),
  'a logprob too few': turn((one) => ({ logprobs: one.logprobs.slice(1) }), /has \d+ logprobs for \d+ output tokens/),
  'a positive logprob': turn(
    ({ logprobs: [, ...more] }) => ({ logprobs: [0.5, ...more] }),
    /has the logprob 0.5 at output token 1/,
  ),
  'logprobs of another distribution': turn({ logprobsOf: 'raw' }, /says logprobsOf "raw"; the records say "policy"/),
  'spans with a hole': turn({ versions: [{ version: 0, start: 1, end: 2 }] }, /has version spans that do not cover/),
  'versions that go back': turn(
    ({ outputIds: { length: end } }) => ({
      versions: [
        { version: 3, versionLabel: 'v3', start: 0, end: 1 },
        { version: 2, versionLabel: 'v2', start: 1, end },
      ],
    }),
    /has versions that go back within one answer: v3, v2/,
  ),
  'a version that its label denies': turn(
    ({ versions: [span] }) => ({ versions: [{ ...span, versionLabel: 'step-12' }] }),
    /says versions .*; the records say .*"version":12/,
  ),
  'a wrong context length': turn({ contextLength: 8 }, /says contextLength 8; the records say/),
  'more output than its budget': turn({ maxNewTokens: 2 }, /more than its budget/),
  'a turn drawn from another seed': turn({ seed: 1 }, /says seed 1; the records say \d+/),
  'an answer of another model': turn({ model: 'gpt-5' }, /says model "gpt-5"; the records say "tiny"/),
  'an answer of a server': turn({ server: 'http://a:1' }, /says the server http:\/\/a:1, which is none of tiny/),
  'a turn hidden from training': turn({ trainable: false }, /has token ids or logprobs, and is said to be text only/),
  'ids that are no numbers': turn({ outputIds: ['5'] }, /has no right outputIds/),
  'another discount': {
    file: 'rollout.json',
    change: ({ settings }: { settings: object }) => ({ settings: { ...settings, turnDiscount: 1 } }),
    problem: /says settings\.turnDiscount 1; run\.json says 0\.9/,
  },
  'a turn played after an undecided one': {
    file: 'verdict-001.json',
    change: { verdict: 'undecided' },
    problem: /goes on after turn 1, which ends a rollout by undecided/,
  },
};

describe('a check of runs that were played', () => {
  test.each(RUNS)('finds nothing: %s', async (run) => {
    expect(await problemsOf(run)).toBe('');
    expect(await problemsOf(run, undefined, false)).toBe('');
  });

  test.each(Object.entries(CHANGES))('finds %s', async (_, { file, change, problem, byTokens }) => {
    const out = copyOf('always');
    rewrite(`${FOLDER}/${file}`, change)(join(out, 'always'));
    expect(await problemsOf('always', out, byTokens ?? false)).toMatch(problem);
  });

  test('finds two labels of one version', async () => {
    const out = copyOf('always');
    for (const [query, versionLabel] of [
      ['arith-0001', 'a-0'],
      ['arith-0002', 'b-0'],
    ] as const)
      rewrite(`${folderOf(query)}/turn-001.json`, (record) => ({
        versions: [{ ...(record as unknown as TurnRecord).versions[0], versionLabel }],
      }))(join(out, 'always'));
    expect(await problemsOf('always', out)).toMatch(/names weights b-0; the run has a-0: both are version 0/);
  });

  test('finds a record whose text its content does not give', async () => {
    const out = copyOf('always');
    const twice = (text: string) => text.replace('"finish":"stop"', '"finish":"length","finish":"stop"');
    rehash(join(out, 'always', FOLDER, 'turn-002.json'), twice);
    expect(await problemsOf('always', out, false)).toMatch(/is not the text that its content gives/);
  });

  test('names the servers of a run, and no other', () => {
    const model = 'sglang:http://a:1,http://b:2';
    expect([...serverProblem(model, 'http://b:2/'), ...serverProblem('tiny', null)]).toEqual([]);
    for (const server of ['http://evil:1', null]) expect([...serverProblem(model, server)]).toHaveLength(1);
  });

  test('names a part of an answer that its turn does not begin with, and one that is missing while there is no turn', async () => {
    const out = copyOf('always');
    const store = openFileStore(out, 'always');
    const id = { run: 'always', query: 'arith-0001', sample: 0, attempt: 1 };
    const { outputIds, logprobs, server, versions, startedAt, finishedAt } = (await store.get('turn', id, 1))!.record;
    const part = { outputIds, logprobs, server, versions, startedAt, finishedAt, attempt: 1 } as const;
    await store.put('chunk', id, { ...part, outputIds: outputIds.toReversed(), finish: 'length', turn: 1, chunk: 1 });
    expect(await problemsOf('always', out)).toMatch(/chunk-001.json: is not what turn-001.json begins with/);
    const folder = join(store.folder, FOLDER);
    for (const name of readdirSync(folder)) if (name !== 'rollout.json') rmSync(join(folder, name));
    await store.put('chunk', id, { ...part, finish: 'length', turn: 1, chunk: 2 });
    expect(await problemsOf('always', out)).toMatch(/chunk-001.json: is missing, though part 2/);
  });
});
