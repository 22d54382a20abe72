// The promise: whoever steers a run at random (pause, resume, cancel, stop, tune, of the run and of single rollouts),
// every rollout ends legally: as cancelled only where somebody asked for it, and then without a model at work for it
// after five seconds. And a worker that remembers two workflows plays hundreds of open ones, each turn once.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { prove, startRun, sums } from './rig-run.ts';
import { commandOf, type Random, randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';

let rig: Rig;
afterEach(() => rig?.close());

const STOP_MS = 5000;
const TURNS = FULL ? 4 : 2;
/** Each step of them replays a history. */
const OPEN = FULL ? 500 : 24;
const answerTo = (requestId: string, query: number) => {
  const turn = Number(requestId.split('/').at(-1));
  return `\\boxed{${query % turn === 0 ? query + 1 : query}}`;
};

interface Generation {
  readonly begun: number;
  ended: number | undefined;
}

describe('a run that is steered at random', () => {
  test(`plays ${OPEN} open rollouts over a cache of 2 workflows, each turn once`, { timeout: 1_200_000 }, async () => {
    const rollouts = OPEN;
    rig = await openRig({
      delayMs: 200,
      answer: ({ requestId }) => answerTo(requestId, Number(requestId.split('/')[1]!.slice(1))),
    });
    await rig.startWorker({ cachedWorkflows: 2, slots: rollouts });
    const started = Date.now();
    const handle = await startRun(rig, {
      run: 'cache',
      rows: sums(rollouts),
      maxConcurrent: rollouts,
      settings: { numTurns: TURNS },
    });
    const result = (await handle.result()) as CollectionResult;
    const seconds = Math.round((Date.now() - started) / 100) / 10;
    const { breaches, summary, histories } = await prove(rig, 'cache');
    console.log(JSON.stringify({ rollouts, turns: summary.turns, seconds, asked: rig.backend.requests.length }));
    expect(breaches).toEqual([]);
    expect(histories).toMatchObject({ compared: rollouts, closed: rollouts });
    expect(result.counts.outcomes).toMatchObject({ complete: rollouts });
    expect(result.counts.rightAt).toEqual([1, 2, 3, 4].slice(0, TURNS).map((turn) => Math.ceil(rollouts / turn)));
    expect(summary.turns).toBe(TURNS * rollouts);
    expect(new Set(rig.backend.requests.map(({ requestId }) => requestId)).size).toBe(TURNS * rollouts);
    expect(rig.backend.requests).toHaveLength(TURNS * rollouts);
  });

  test(
    `ends ${sized(300)} rollouts legally under ${sized(1000)} random commands, and cancelled ones in time`,
    { timeout: 1_200_000 },
    async () => {
      console.log(`Repeat: ${commandOf(import.meta.filename)}`);
      const rollouts = sized(300);
      const random = randomOf('steering');
      const generations = new Map<string, Generation[]>();
      const thinkMs = FULL ? 4000 : 1500;
      rig = await openRig({
        async answer({ requestId }, _, signal) {
          const [, query] = requestId.split('/');
          const generation: Generation = { begun: Date.now(), ended: undefined };
          const known = generations.get(query!);
          if (known) known.push(generation);
          else generations.set(query!, [generation]);
          try {
            await sleep(thinkMs * (0.5 + random()), undefined, { signal });
          } finally {
            generation.ended = Date.now();
          }
          return answerTo(requestId, Number(query!.slice(1)));
        },
      });
      await rig.startWorker({ beat: '3 seconds', slots: 100 });
      const handle = await startRun(rig, {
        run: 'steered',
        rows: sums(rollouts),
        maxConcurrent: 40,
        settings: { numTurns: 3 },
      });
      let over = false;
      const ended = (handle.result() as Promise<CollectionResult>).finally(() => (over = true));
      // Seen when awaited.
      ended.catch(() => {});

      /** By query: when its end was first asked for, and taken. */
      const asked = new Map<string, number>();
      const told: Record<string, number> = {};
      let given = 0;
      for (; given < sized(1000); given++) {
        const { name, of, act } = command(rig, random, rollouts);
        const done = await act().then(
          () => true,
          () => false,
        );
        told[`${name}${done ? '' : ' (refused)'}`] = (told[`${name}${done ? '' : ' (refused)'}`] ?? 0) + 1;
        if (done && of !== undefined && (name === 'stop' || name === 'cancel') && !asked.has(of))
          asked.set(of, Date.now());
        await sleep(FULL ? 40 : 20);
      }
      // Whoever paused something lets it go on.
      await handle.executeUpdate('tune', { args: [{ maxConcurrent: 100 }] }).catch(() => {});
      while (!over) {
        await handle.executeUpdate('resume').catch(() => {});
        for (let i = 0; i < rollouts && !over; i++)
          await rolloutOf(rig, i)
            .executeUpdate('resume')
            .catch(() => {});
        await Promise.race([ended, sleep(500)]);
      }
      const result = await ended;
      const { breaches, summary } = await prove(rig, 'steered');
      let slowestStopMs = 0;
      for (const [query, at] of asked) {
        for (const { begun, ended: end } of generations.get(query) ?? []) {
          expect(begun, `${query} was asked to end at ${at}, seed ${SEED}`).toBeLessThan(at + STOP_MS);
          if (end !== undefined && end > at) slowestStopMs = Math.max(slowestStopMs, end - at);
        }
      }
      console.log(
        JSON.stringify({ seed: SEED, rollouts, given, told, slowestStopMs, outcomes: result.counts.outcomes }),
      );
      expect(breaches).toEqual([]);
      expect(slowestStopMs).toBeLessThan(STOP_MS);
      expect(summary).toMatchObject({ rollouts, ended: rollouts, unfinished: 0 });
      const store = openFileStore(rig.out, 'steered');
      for await (const id of store.listRollouts()) {
        const { outcome } = (await store.getEnd(id))!.record;
        expect(asked.has(id.query) ? ['complete', 'cancelled'] : ['complete'], id.query).toContain(outcome);
      }
      expect(given).toBe(sized(1000));
      expect(summary.byOutcome.cancelled).toBeGreaterThan(0);
      expect(summary.byOutcome.complete).toBeGreaterThan(0);
    },
  );
});

const rolloutOf = ({ client }: Rig, i: number) => client.workflow.getHandle(`steered/q${i}/0`);

/** One command: of the run, or of a rollout that has begun or soon will. */
function command(of: Rig, random: Random, rollouts: number) {
  const run = of.client.workflow.getHandle('steered');
  const dice = random();
  const i = Math.floor(random() * rollouts);
  const query = `q${i}`;
  const rollout = rolloutOf(of, i);
  const update = (name: string) => ({ name, of: query, act: () => rollout.executeUpdate(name) });
  if (dice < 0.1) return { name: 'pause the run', of: undefined, act: () => run.executeUpdate('pause') };
  if (dice < 0.35) return { name: 'resume the run', of: undefined, act: () => run.executeUpdate('resume') };
  if (dice < 0.5) {
    const maxConcurrent = 1 + Math.floor(random() * 100);
    return { name: 'tune', of: undefined, act: () => run.executeUpdate('tune', { args: [{ maxConcurrent }] }) };
  }
  if (dice < 0.65) return update('pause');
  if (dice < 0.85) return update('resume');
  if (dice < 0.93) return update('stop');
  return { name: 'cancel', of: query, act: () => rollout.cancel() };
}
