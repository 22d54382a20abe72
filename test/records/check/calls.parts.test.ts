// Records of calls of tools: what is changed in one, removed or swapped is named.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import { rewrite } from './damage.ts';
import { folderOf, openPlayed } from './played-runs.ts';

const { copyOf, problemsOf } = await openPlayed();

const calls = (query: string, file: string, change: Parameters<typeof rewrite>[1]) =>
  rewrite(`${folderOf(query)}/${file}`, change);
const removed = (query: string, file: string) => (folder: string) => rmSync(join(folder, folderOf(query), file));

describe('a check of calls', () => {
  test.each<[string, (folder: string) => void, RegExp]>([
    ['another output', calls('calls', 'call-001.001.json', { output: '9' }), /001\.001|turn-002|verdict-001/],
    ['other arguments', calls('calls', 'call-001.002.json', { arguments: '{}' }), /001\.002|verdict-001/],
    ['another key of an intent', calls('order', 'intent-001.001.json', { key: 'x' }), /intent-001\.001/],
    ['a reply without its calls', calls('calls', 'verdict-001.json', { calls: [] }), /verdict-001/],
    [
      'a record of a call removed',
      removed('calls', 'call-001.001.json'),
      /call-001.001.json: is missing, though the reply to its turn is there/,
    ],
    [
      'an intent removed',
      removed('order', 'intent-001.001.json'),
      /intent-001.001.json: is missing, though the tool must not be called twice/,
    ],
    [
      'calls that a reply does not hold',
      calls('calls', 'turn-001.json', (record) => ({ calls: (record as unknown as TurnRecord).calls!.toReversed() })),
      /turn-001.json: says calls\[\d\].*; the records say/,
    ],
    [
      'the code of a tool changed',
      (folder) => writeFileSync(join(folder, 'code', readdirSync(join(folder, 'code'))[0]!), 'exports.tools = [];'),
      /code\/[0-9a-f]{64}\.cjs: is changed/,
    ],
  ])('finds %s', async (_, harm, problem) => {
    const out = copyOf('tools');
    harm(join(out, 'tools'));
    expect(await problemsOf('tools', out)).toMatch(problem);
  });
});
