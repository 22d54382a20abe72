// The same seed gives the same trajectories today as in the run that commit f4cc944 played: test/records/check/old-run.test.ts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/files.ts';
import { unpack } from '../records/check/forger.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const FLAGS = '--limit 4 --num-turns 3 --samples 2 --seed 7 --deterministic'.split(' ');

const folder = mkdtempSync(join(tmpdir(), 'everturn-old-run-'));
let everturn: Everturn;
beforeAll(() => {
  unpack('run-old.json', folder);
  everturn = openEverturn();
});
afterAll(async () => {
  await everturn.close();
  rmSync(folder, { recursive: true });
});

/** Of every turn what the model and the judge made of it, by rollout. */
async function played(runs: string): Promise<Record<string, unknown>> {
  const store = openFileStore(runs, 'old');
  const all: Record<string, unknown> = {};
  for await (const id of store.listRollouts()) {
    const end = (await store.getEnd(id))!.record;
    const turns = await Promise.all(
      end.turns.map(async (_, i) => {
        const { contextIds, outputIds, contextText, outputText, seed, finish } = (await store.getTurn(id, i + 1))!
          .record;
        const { verdict } = (await store.getVerdict(id, i + 1))!.record;
        return { contextIds, outputIds, contextText, outputText, seed, finish, verdict };
      }),
    );
    all[`${id.query}/${id.sample}`] = { turns, rewards: end.rewards, success: end.success };
  }
  return all;
}

describe('a run of an older release', () => {
  test('played again with the same seed gives the same ids, texts and rewards', { timeout: 300_000 }, async () => {
    const ended = await everturn.run('run', DATA, '--name', 'old', ...FLAGS);
    expect(ended.code, ended.stderr).toBe(0);
    const before = await played(folder);
    expect(Object.keys(before)).toHaveLength(8);
    expect(await played(join(everturn.folder, 'runs'))).toEqual(before);
  });
});
