// A server of held sessions that fails after a move: no retry may make the move twice.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { createEnvironments, type OwnEnvironments } from '../../environments/index.ts';
import { createOwnEnvironments, describeEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { checkRun } from '../../records/check/check.ts';
import { createRun } from '../../run/create-run.ts';
import { surveyDataset } from '../../run/survey.ts';
import { openFileStore } from '../../records/file-store.ts';
import { serveEnvironment } from '../environments/own/http-server.ts';
import { openRig, type Rig } from '../support/rig.ts';

let rig: Rig;
let own: OwnEnvironments;
beforeAll(async () => {
  own = createOwnEnvironments({ log: () => undefined, permitted: (record) => record.spec });
  rig = await openRig({ answer: () => 'I say 4.' }, { environments: createEnvironments({}, own) });
  await rig.startWorker();
});
afterAll(async () => {
  await rig.close();
  await own.close();
});

const GAMES = [{ id: 'g0', name: 'game 0' }];

async function play(run: string, address: string): Promise<CollectionResult> {
  const { record } = await describeEnvironment(parseSpec(address, rig.out), () => undefined);
  const dataset = join(rig.out, `${run}.jsonl`);
  writeFileSync(dataset, GAMES.map((row) => JSON.stringify(row)).join('\n'));
  const environments = [record];
  const survey = await surveyDataset({ dataset, limit: null, shuffleSeed: null, environments });
  const settings = { ...completeSettings(run, { numTurns: 5 }), environments };
  const origins = { environment: 'flag', numTurns: 'flag' } as const;
  await createRun(openFileStore(rig.out, run), { run, survey, settings, samples: 2, origins });
  const args = [{ run, out: rig.out }];
  return rig.client.workflow.execute('collection', { workflowId: run, taskQueue: 'everturn', args });
}

async function breaches(run: string): Promise<string[]> {
  const found: string[] = [];
  await checkRun(openFileStore(rig.out, run), ({ path, problem }) => void found.push(`${path}: ${problem}`));
  return found;
}

describe("a run of the user's own environment", () => {
  test.each([false, true])(
    'held by a server that fails after a move is not asked for that move again, unless it says that it may: %s',
    async (idempotent) => {
      const moves: string[] = [];
      const replies = new Map<string, unknown>();
      let failed = false;
      const game = {
        ...{ name: 'held', version: '1', state: 'held', idleSeconds: 60, idempotent },
        begin: () => ({ messages: [{ role: 'user', content: 'Which?' }], state: { id: 's' } }),
        respond({ episode, turn }: { episode: { key: string }; turn: number }) {
          const move = `${episode.key}/${turn}`;
          const known = idempotent ? replies.get(move) : undefined;
          if (known) return known;
          moves.push(move);
          const reply =
            turn === 2 ? { reward: turn, done: true } : { reward: turn, messages: [{ role: 'user', content: 'On.' }] };
          replies.set(move, reply);
          if (turn === 2 && !failed) {
            failed = true;
            throw new Error('after the move');
          }
          return reply;
        },
        end() {},
      };
      const held = await serveEnvironment(game, 'abc');
      const run = `held-fails-${idempotent}`;
      const result = await play(run, held.url);
      await held.close();
      expect(new Set(moves).size).toBe(moves.length);
      if (idempotent) expect(result.counts.outcomes).toMatchObject({ complete: result.total });
      else expect(result.counts.reasons).toEqual({ 'environment-lost': 1 });
      expect(await breaches(run)).toEqual([]);
    },
    120_000,
  );
});
