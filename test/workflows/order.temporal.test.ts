// The order in which queued generations are taken, as an inference server sees it: a real Temporal server, one worker
// with few slots, many rollouts in flight.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { type PrefixCache, prefixCache } from '../support/prefix-cache.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { until } from '../support/until.ts';
import { startRun, sums } from '../chaos/rig-run.ts';

const SLOTS = 4;
const ROLLOUTS = 20;
const SMALL = 4;
const TURNS = 3;

let rig: Rig;
let cache: PrefixCache;
/** Every generation in the order of its begin, and whether its prefix was cached. */
let asked: { readonly run: string; readonly turn: number; readonly hit: boolean }[] = [];
/** Rollouts between two turns, by the ids of their workflows: their next generation was not asked for yet. */
const between = new Set<string>();
/** While it is there, no answer comes. */
let gate: Promise<void> | undefined;

beforeAll(async () => {
  rig = await openRig({
    async answer({ requestId }, context, signal) {
      const [run, query, sample, turn] = requestId.split('/');
      const rollout = `${run}/${query}/${sample}`;
      const answer = `\\boxed{${requestId}}`;
      asked.push({ run: run!, turn: Number(turn), hit: cache.ask(context, answer) });
      between.delete(rollout);
      await gate;
      // Longer than the steps between two turns, however slow the machine is.
      for (const other of between)
        await until(`the next turn of ${other}`, () => !between.has(other) || isQueued(other), 600_000);
      if (Number(turn) < TURNS && !signal.aborted) between.add(rollout);
      return answer;
    },
  });
  await rig.startWorker({ slots: SLOTS });
});
afterAll(() => rig.close());

async function isQueued(rollout: string): Promise<boolean> {
  const found = await rig.client.workflow
    .getHandle(rollout)
    .describe()
    .catch(() => undefined);
  if (!found) return false;
  const { raw, status } = found;
  const pending = (raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name);
  return status.name !== 'RUNNING' || pending.includes('generate');
}

const start = (run: string, rollouts: number) =>
  startRun(rig, { run, rows: sums(rollouts), maxConcurrent: rollouts, settings: { numTurns: TURNS } });

describe('queued generations', { timeout: 600_000 }, () => {
  test('continue conversations that the server has cached, before others begin', async () => {
    asked = [];
    cache = prefixCache(3 * SLOTS);
    const run = await start('deep', ROLLOUTS);
    const { counts } = (await run.result()) as CollectionResult;
    expect(counts.outcomes.complete).toBe(ROLLOUTS);
    const later = asked.filter(({ turn }) => turn > 1);
    const hits = later.filter(({ hit }) => hit).length / later.length;
    const first = asked.findIndex(({ turn }) => turn === TURNS);
    // In the order of arrival all play turn 1, then all turn 2: no hit, and the first trajectory ends with the last ones.
    expect(hits).toBeGreaterThan(0.4);
    expect(first).toBeLessThan(ROLLOUTS);
  });

  test('of a second run do not wait until the queue of the first is empty', async () => {
    asked = [];
    cache = prefixCache(3 * SLOTS);
    let open = () => {};
    const large = await start('large', ROLLOUTS);
    await until('answers of the first', () => asked.length >= 2 * SLOTS, 300_000);
    gate = new Promise((resolve) => (open = resolve));
    const small = await start('small', SMALL);
    for (let i = 0; i < SMALL; i++) await until('the second is queued', () => isQueued(`small/q${i}/0`), 300_000);
    open();
    await small.result();
    const last = asked.findLastIndex(({ run }) => run === 'small');
    const begun = asked.slice(0, last).filter(({ run, turn }) => run === 'large' && turn === 1).length;
    // Without fairness all of the first run's rollouts have begun by then.
    expect(begun).toBeLessThan(ROLLOUTS);
    await large.result();
  });
});
