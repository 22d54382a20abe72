// A training run of the command line with held-out rows, `first`, as tests play it: its feed, step by step, and what its
// evaluations played.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LocalFeedFile } from '../../client/feed/local-feed.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { errorBySpans } from '../real/servers/weight-tests.ts';
import { openScorer } from '../real/servers/other-weights.ts';
import type { Everturn } from './everturn.ts';
import { until } from './until.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const B = 2;

/** Begins it with `held` rows, held-0, held-1, …, evaluated at each version. */
export async function trainWithHeldOut(everturn: Everturn, held: number, ...more: string[]) {
  const row = (i: number) => ({ id: `held-${i}`, question: `What is ${i} + 7?`, answer: `${i + 7}` });
  everturn.write(
    'held.jsonl',
    Array.from({ length: held }, (_, i) => row(i)),
  );
  const shape = ['--num-turns', '1', '--samples', '2', '--max-new-tokens', '64', '--max-concurrent', '4', ...more];
  const train = ['--train', '--batch-groups', String(B), '--eval', 'held.jsonl', '--eval-every', '1', '--detach'];
  const begun = await everturn.mustRun('run', DATA, '--name', 'first', ...shape, ...train);
  expect(begun.stderr).toContain(`Held out   held.jsonl: ${held} queries`);

  /** Of the local service; a killed worker's is written anew by the next one. */
  const ask = (verb: string, given: object) =>
    until(
      verb,
      async () => {
        const file = readFileSync(join(everturn.folder, 'home/feed.json'), 'utf8');
        const { url, token } = JSON.parse(file) as LocalFeedFile;
        const asked = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(given) };
        const reply = await fetch(`${url}/first/${verb}`, asked).catch(() => undefined);
        if (!reply?.ok) return false;
        return JSON.parse((await reply.text()).split('\n')[0]!) as Record<string, unknown>;
      },
      120_000,
    );
  const { line } = await ask('rewind', { version: 0, request: 'one' });
  const storeOf = (name: string) => openFileStore(join(everturn.folder, 'runs/first-eval'), name);
  const publish = (version: number, weights: string) => ask('version', { version, weights, line });
  return {
    publish,
    /** Trains on a lease, none of it held out, and publishes these weights. */
    async step(version: number, weights: string) {
      const request = { consumer: 't', groups: B, wait: 60, line, request: `step ${version}` };
      const { lease, groups } = await ask('lease', request);
      expect((groups as string[]).filter((id) => id.startsWith('held'))).toEqual([]);
      await ask('acknowledge', { lease, version, line });
      await publish(version, weights);
    },
    async turnsOf(name: string) {
      const turns: { query: string; outcome: string | undefined; label: string | undefined }[] = [];
      for await (const { rollout, turns: played, end } of readTrajectories(storeOf(name)))
        for (const { record } of played)
          turns.push({
            query: rollout.query.queryId,
            outcome: end?.outcome,
            label: record.versions[0]!.versionLabel,
          });
      return turns;
    },
    isEvaluated: (name: string) => async () => (await storeOf(name).get('result')) !== undefined,
    /** The worst error of its logprobs to those of the model in `folder`. */
    async errorOf(name: string, folder: string) {
      const scorer = await openScorer(folder);
      let worst = 0;
      for await (const { turns: played } of readTrajectories(storeOf(name)))
        for (const { record } of played)
          worst = Math.max(worst, await errorBySpans([...record.contextIds], record, () => scorer));
      return worst;
    },
  };
}
