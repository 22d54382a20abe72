// The promise holds for an OpenAI-compatible endpoint, too, that knows texts and no ids: a fifth of its replies is
// faulty and workers are killed, and each chat has its turns once, each as an answer that the endpoint gave.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { routingHeaders } from '../../inference/fleet/server-backend.ts';
import { checkRun } from './checker.ts';
import { kill } from './nemesis.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { type RunOptions, useWorkload, type Workload } from './workload.ts';

const RUN: RunOptions = {
  ...{ name: 'chats', rollouts: sized(300), turns: 3, maxConcurrent: 64 },
  flags: ['--request-timeout-seconds', FULL ? '4' : '2'],
};
const KILLS = sized(20);

let workload: Workload;
useWorkload(
  {
    ...{ file: import.meta.filename, workers: 2, slots: 64 },
    model: { kind: 'openai', latencyMs: FULL ? 1500 : 500, faultRate: 0.2 },
  },
  (opened) => (workload = opened),
);

describe('a run on a chat model', () => {
  test(
    `keeps each of ${RUN.rollouts} chats × ${RUN.turns} turns once under faults and ${KILLS} kills`,
    { timeout: 900_000 },
    async () => {
      const random = randomOf('chat');
      let over = false;
      await workload.start(RUN);
      const ended = workload.untilEnded(RUN.name, 800_000).finally(() => (over = true));
      let kills = 0;
      while (!over && kills < KILLS) {
        await sleep((FULL ? 3000 : 600) * (0.5 + random()));
        const pid = workload.workers[kills % 2]!.pid();
        if (!over && pid !== undefined && (await kill(pid))) kills++;
      }
      const tookMs = await ended;
      // Nobody can compare ids: the endpoint gives none.
      const { problems, turns, rollouts, attemptsTold } = await checkRun(workload, { ...RUN, counted: false });
      const asks = workload.model.asks();
      const chats = asks.filter(({ event }) => event === 'ask');
      const faults = asks.filter(({ event, how }) => event === 'end' && how !== 'answered' && how !== 'gone');
      const said = new Set(asks.flatMap(({ key, how, output }) => (how === 'answered' ? [`${key} ${output}`] : [])));
      console.log(
        JSON.stringify({ seed: SEED, tookMs, kills, turns, asked: chats.length, faults: faults.length, attemptsTold }),
      );
      expect(problems).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(KILLS);
      expect(faults.length).toBeGreaterThan(0);
      expect(turns).toBe(RUN.rollouts * RUN.turns);
      for (const { key, turns: played } of rollouts.values()) {
        // The endpoint knows a chat by no more than this.
        const session = routingHeaders(`chats/${key}/1`)['x-session-id'];
        for (const turn of played) {
          expect(turn['trainable']).toBe(false);
          const hash = createHash('sha256').update(String(turn['answer'])).digest('hex');
          expect(said).toContain(`${session}/${String(turn['turn'])} ${hash}`);
        }
      }
    },
  );
});
