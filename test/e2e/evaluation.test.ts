// A training run of the command line with held-out rows, on the shipped model with weights that really change: the worker is
// killed, and a later version is published, while one is evaluated.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LocalFeedFile } from '../../client/feed/local-feed.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import type { Evaluation } from '../../viewer/model/messages.ts';
import { openScorer, otherWeights } from '../servers/other-weights.ts';
import { errorBySpans } from '../servers/weight-tests.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { until } from '../support/until.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const [HELD, B] = [40, 2];

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn();
  const rows = Array.from({ length: HELD }, (_, i) => ({
    id: `held-${i}`,
    question: `What is ${i} + 7?`,
    answer: `${i + 7}`,
  }));
  writeFileSync(join(everturn.folder, 'held.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterAll(() => everturn?.close());

/** Of the local service; a killed worker's is written anew by the next one. */
async function ask(verb: string, given: object): Promise<Record<string, unknown>> {
  return until(
    verb,
    async () => {
      const { url, token } = JSON.parse(readFileSync(join(everturn.folder, 'home/feed.json'), 'utf8')) as LocalFeedFile;
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(`${url}/first/${verb}`, { method: 'POST', headers, body: JSON.stringify(given) }).catch(
        () => undefined,
      );
      if (!reply?.ok) return false;
      return JSON.parse((await reply.text()).split('\n')[0]!) as Record<string, unknown>;
    },
    120_000,
  ) as Promise<Record<string, unknown>>;
}

const storeOf = (name: string) => openFileStore(join(everturn.folder, 'runs/first-eval'), name);
async function turnsOf(name: string) {
  const turns: { query: string; outcome: string | undefined; label: string | undefined }[] = [];
  for await (const { rollout, turns: played, end } of readTrajectories(storeOf(name)))
    for (const { record } of played)
      turns.push({
        query: rollout.query.queryId,
        outcome: end?.outcome,
        label: record.versions[0]!.versionLabel,
      });
  return turns;
}
const isEvaluated = (name: string) => async () => (await storeOf(name).getResult()) !== undefined;

describe('everturn run --train --eval', () => {
  test(
    'plays each held-out row once by the version, whatever is killed, and leases none',
    { timeout: 600_000 },
    async () => {
      const folders = [join(everturn.folder, 'step-1'), join(everturn.folder, 'step-2')] as const;
      cpSync(otherWeights(), folders[0], { recursive: true });
      cpSync(TINY_FOLDER, folders[1], { recursive: true });
      const shape = ['--num-turns', '1', '--samples', '2', '--max-new-tokens', '64', '--max-concurrent', '4'];
      const train = ['--train', '--batch-groups', String(B), '--eval', 'held.jsonl', '--eval-every', '1', '--detach'];
      const begun = await everturn.run('run', DATA, '--name', 'first', ...shape, ...train);
      expect(begun.code, begun.stderr).toBe(0);
      expect(begun.stderr).toContain(`Held out   held.jsonl: ${HELD} queries`);

      const { line } = await ask('rewind', { version: 0, request: 'one' });
      const step = async (version: number) => {
        const request = { consumer: 't', groups: B, wait: 60, line, request: `step ${version}` };
        const { lease, groups } = await ask('lease', request);
        expect((groups as string[]).filter((id) => id.startsWith('held'))).toEqual([]);
        await ask('acknowledge', { lease, version, line });
        await ask('version', { version, weights: folders[version - 1], line });
      };
      await step(1);
      const name = 'first-eval-line1-v1';
      await until('a tenth is answered', async () => (await turnsOf(name)).length >= HELD / 10, 120_000);
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      expect(await isEvaluated(name)()).toBe(false);
      await step(2);
      for (const one of ['first-eval-v0', name, 'first-eval-line1-v2'])
        await until(`${one} has ended`, isEvaluated(one), 240_000);

      const turns = await turnsOf(name);
      expect(new Set(turns.map(({ query }) => query)).size).toBe(HELD);
      expect(turns).toHaveLength(HELD);
      expect(turns.every(({ outcome, label }) => outcome === 'complete' && label === 'line1:v1')).toBe(true);
      const scorer = await openScorer(folders[0]);
      let worst = 0;
      for await (const { turns: played } of readTrajectories(storeOf(name)))
        for (const { record } of played)
          worst = Math.max(worst, await errorBySpans([...record.contextIds], record, () => scorer));
      expect(worst).toBeLessThan(1e-3);

      const stats = JSON.parse((await everturn.call('stats', 'first', '--json')).stdout) as {
        evaluations: Evaluation[];
      };
      expect(stats.evaluations).toMatchObject(
        ['first-eval-v0', name, 'first-eval-line1-v2'].map((run, version) => ({
          ...{ run, version, state: 'ended', total: HELD, rollouts: HELD, answeredBy: [version, version] },
        })),
      );
      for (const run of ['first-eval-v0', name, 'first-eval-line1-v2']) {
        const checked = await everturn.run('check', run);
        expect(checked.code, checked.stdout + checked.stderr).toBe(0);
      }
      expect((await everturn.run('cancel', 'first')).code).toBe(0);
      const logged = await everturn.run('log', 'first');
      const lines = logged.stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as { version: number; eval?: Evaluation });
      expect(lines.map(({ version, eval: found }) => [version, found?.rollouts])).toEqual(
        [0, 1, 2].map((v) => [v, HELD]),
      );
    },
  );
});
