// The promise: a run in blocks plays each turn once and counts each rollout once, while its workers are killed in the
// workflow tasks of its root and its blocks, blocks and the root are terminated, and it is paused, tuned and continued
// as new. A workflow may have 25 in flight here, not 1,000; held.chaos.ts holds 10,000.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { CollectionInput, CollectionProgress, CollectionResult } from '../../domain/run/messages.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { checkRun } from './checker.ts';
import { killWorkers } from './nemesis.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { idOf, useWorkload, type Workload } from './workload.ts';

const RUN = 'large';
const ROLLOUTS = sized(3000);
const TURNS = 2;
const MAX = sized(1000);
/** Of workflow tasks of the root and the blocks. */
const TASKS_KILLED = Number(process.env['KILLS'] ?? (FULL ? 50 : 5));
const TERMINATED = FULL ? 20 : 4;

let workload: Workload;
useWorkload(
  {
    file: import.meta.filename,
    workers: 2,
    slots: 128,
    model: { kind: 'sglang', latencyMs: 500 },
    env: { EVERTURN_RUNS_UNDER: tmpdir(), EVERTURN_ALLOWED_MODELS: TINY_FOLDER },
  },
  (opened) => (workload = opened),
);

const rows = Array.from({ length: ROLLOUTS }, (_, i) => ({
  ...{ query_id: idOf(i), question: `What is ${i} - ${i}?`, answer: '0' },
}));

describe(`a run of ${ROLLOUTS} rollouts in blocks, ${MAX} in flight`, () => {
  test(
    `counts each once, over ${TASKS_KILLED} kills in tasks of its root and blocks and ${TERMINATED} terminated blocks`,
    { timeout: FULL ? 3_600_000 : 900_000 },
    async () => {
      const { client } = workload.session;
      const random = randomOf('people');
      const dataset = join(workload.folder, 'large.jsonl');
      writeFileSync(dataset, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const input: CollectionInput = {
        ...{
          run: RUN,
          out: workload.out,
          dataset,
          maxConcurrent: MAX,
          maxWindow: FULL ? 100 : 25,
          maxHistoryEvents: 300,
        },
        settings: { model: workload.model.spec, tokenizer: TINY_FOLDER, numTurns: TURNS, maxNewTokens: 64, seed: 7 },
      };
      const start = () =>
        client.workflow.start('collection', {
          ...{ workflowId: RUN, taskQueue: 'everturn', args: [input] },
          workflowIdConflictPolicy: 'USE_EXISTING',
        });
      const first = await start();
      let over = false;
      const result = join(workload.out, RUN, 'result.json');
      const ended = (async () => {
        while (!existsSync(result)) await sleep(100);
        over = true;
      })();
      const nemesis = killWorkers(workload, {
        ...{ random: randomOf('nemesis'), kills: TASKS_KILLED, perPhase: TASKS_KILLED, phases: ['collecting'] },
        ...{ gapMs: FULL ? 2000 : 1000, over: () => over },
        // Spread over the run: on a slow machine none would get past its beginning.
        mayStrike: (blows) => asked() > (0.8 * ROLLOUTS * TURNS * blows) / TASKS_KILLED,
      });
      const seen = { terminated: 0, roots: 0, steered: 0, most: 0 };
      const steer = async (name: string, ...args: { readonly maxConcurrent: number }[]) => {
        await client.workflow.getHandle(RUN).executeUpdate(name, { args: args as [] });
        seen.steered++;
      };
      const people = (async () => {
        while (!over && (seen.terminated < TERMINATED || seen.roots < 1)) {
          await sleep(1000 + random() * 1000);
          if (asked() < (0.8 * ROLLOUTS * TURNS * seen.terminated) / TERMINATED) continue;
          try {
            const open = [];
            const query = `WorkflowType = 'block' AND EverturnRun = '${RUN}' AND ExecutionStatus = 'Running'`;
            for await (const { workflowId } of client.workflow.list({ query })) open.push(workflowId);
            const block = open[Math.floor(random() * open.length)];
            if (block && seen.terminated < TERMINATED)
              await client.workflow
                .getHandle(block)
                .terminate('by the test')
                .then(() => seen.terminated++);
            if (seen.terminated >= 2 && seen.roots === 0) {
              await first.terminate('by the test').then(() => seen.roots++);
              await untilDone(start);
            }
            await steer('tune', { maxConcurrent: Math.ceil(MAX * (0.5 + random() / 2)) });
            await steer('pause');
            await steer('resume');
            const { inFlight } = (await client.workflow.getHandle(RUN).query('progress')) as CollectionProgress;
            seen.most = Math.max(seen.most, inFlight);
          } catch {
            // A worker that was just killed answers later; who ended meanwhile takes nothing.
          }
        }
        while (!over)
          await steer('resume').then(
            () => sleep(1000),
            () => sleep(200),
          );
      })();
      await ended;
      const { blows, hits, missed } = await nemesis;
      await people;

      // Histories are `check`'s alone: a rollout that ends while its block is started again has a second, empty one.
      const checked = await checkRun(workload, { name: RUN, rollouts: ROLLOUTS, turns: TURNS, histories: false });
      const { counts, total } = JSON.parse(readFileSync(result, 'utf8')) as CollectionResult;
      const inFlight = mostInFlight();
      console.log(
        JSON.stringify({ seed: SEED, ...seen, kills: blows.length, hits, inFlight, duplicates: checked.duplicates }),
      );
      expect(checked.problems).toEqual([]);
      expect(total).toBe(ROLLOUTS);
      expect(counts.outcomes).toEqual({ complete: ROLLOUTS, undecided: 0, failed: 0, cancelled: 0 });
      expect(counts.turns).toBe(ROLLOUTS * TURNS);
      expect(checked.askedAgain).toBe(0);
      expect(missed).toEqual([]);
      expect(seen.terminated).toBeGreaterThanOrEqual(TERMINATED);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
    },
  );
});

async function untilDone(act: () => Promise<unknown>): Promise<void> {
  while (
    !(await act().then(
      () => true,
      () => false,
    ))
  )
    await sleep(500);
}

/** Of the model server: requests so far. */
const asked = (): number => workload.model.asks().filter(({ event }) => event === 'ask').length;

/** Of the model server. */
function mostInFlight(): number {
  return workload.model.asks().reduce((most, { inFlight }) => Math.max(most, inFlight), 0);
}
