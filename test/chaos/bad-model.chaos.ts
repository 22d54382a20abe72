// A bad model server: three of ten replies faulty in eight ways, and a server that is away for a while. All rollouts end as they
// should, each failure is called by its name, and nobody is overrun. Replies that no second try mends: inference/server-words.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { awaitedOf } from '../../library/trouble.ts';
import { type FaultKind, REFUSED_MS } from '../support/hostile-faults.ts';
import type { Ask } from '../support/hostile-server.ts';
import { checkRun } from './checker.ts';
import { lastFailures } from './histories.ts';
import { SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { type RunOptions, useWorkload, type Workload } from './workload.ts';

const LATENCY_MS = FULL ? 4000 : 400;
const RETRY_AFTER_S = FULL ? 4 : 1;
/** A port is not opened at once. */
const DEAF_MS = 30;
const RUN: Omit<RunOptions, 'name'> = {
  ...{ rollouts: sized(500), turns: 4, maxConcurrent: FULL ? 128 : 50 },
  flags: ['--request-timeout-seconds', FULL ? '7' : '2'],
};

/** What a fault may be called; a server that blinked may have been left alone for a moment. */
const NAMES: Readonly<Record<FaultKind, readonly string[]>> = {
  refused: ['server-reset', 'server-unreachable'],
  reset: ['server-reset'],
  hang: ['server-timeout'],
  drip: ['server-timeout'],
  busy: ['server-busy'],
  error: ['server-error', 'server-busy'],
  cut: ['reply-malformed'],
  hollow: ['reply-malformed'],
};

/** What the server cannot know of: nobody listened, or not any more; or the worker itself was not heard. */
const UNSEEN = new Set(['server-unreachable', 'server-reset', 'timeout']);
/** Of an honest answer that a busy machine was too slow to give or to take. */
const LATE = ['server-timeout'];

let workload: Workload;
useWorkload(
  {
    file: import.meta.filename,
    workers: 2,
    slots: 128,
    model: { kind: 'sglang', latencyMs: LATENCY_MS, retryAfterSeconds: RETRY_AFTER_S },
  },
  (opened) => (workload = opened),
);

describe('a run on a failing model server', () => {
  test('ends every rollout by its name under 30 % faulty replies of eight kinds', { timeout: 1_800_000 }, async () => {
    await workload.start({ ...RUN, name: 'clean' });
    const cleanMs = await workload.untilEnded('clean', 600_000);
    await workload.model.become({ faultRate: 0.3 });
    await workload.start({ ...RUN, name: 'faulty' });
    const faultyMs = await workload.untilEnded('faulty', 1_200_000);
    const checked = await checkRun(workload, { ...RUN, name: 'faulty' });
    const asks = workload.model.asks().filter(({ key }) => key.startsWith('faulty/'));

    const waits = waitsAfterBusy(asks).map((ms) => ms / (RETRY_AFTER_S * 1000));
    const named = await misnamed(asks);
    const faults = asks.filter(({ event, how }) => event === 'end' && how !== 'answered');
    const kinds = Object.fromEntries(
      [...new Set(faults.map(({ how }) => how!))].map((k) => [k, faults.filter(({ how }) => how === k).length]),
    );
    const sorted = waits.toSorted((a, b) => a - b);
    console.log(
      JSON.stringify({
        ...{ seed: SEED, cleanMs, faultyMs, throughput: cleanMs / faultyMs, asked: checked.asked, kinds },
        ...{
          retryAfter: { of: waits.length, least: sorted[0], median: sorted[waits.length >> 1], most: sorted.at(-1) },
        },
        ...{ named: named.looked, misnamed: named.wrong.length },
      }),
    );
    expect(checked.problems).toEqual([]);
    expect(checked.turns).toBe(RUN.rollouts * RUN.turns);
    expect(checked.askedAgain).toBe(0);
    expect(Object.keys(kinds).length).toBeGreaterThanOrEqual(8);
    expect(named.looked).toBeGreaterThan(0);
    expect(named.wrong).toEqual([]);
    expect(sorted[0]).toBeGreaterThanOrEqual(0.9);
    if (!FULL) return;
    expect(sorted[Math.floor(sorted.length * 0.95)]).toBeLessThanOrEqual(1.1);
    expect(cleanMs / faultyMs).toBeGreaterThanOrEqual(0.6);
  });

  test('waits for a server that is away, and does not overrun it when it is back', { timeout: 900_000 }, async () => {
    const limit = 32;
    const awayMs = FULL ? 75_000 : 3_000;
    // Long enough that it cannot end before the server dies.
    const run = { ...RUN, turns: FULL ? 4 : 8, name: 'away', flags: ['--max-in-flight-per-server', String(limit)] };
    await workload.model.become({ faultRate: 0, latencyMs: FULL ? 2000 : LATENCY_MS });
    await workload.start(run);
    const ended = workload.untilEnded('away', 600_000);
    const warmMs = FULL ? 30_000 : 1_200;
    await sleep(warmMs);
    const diedAt = Date.now();
    await workload.model.stop();
    const following = workload.everturn.start('status', 'away', '--follow');
    let shown = '';
    // However long a busy machine takes to say so: the test's own limit ends it.
    while (Date.now() < diedAt + awayMs || shown === '') {
      await sleep(500);
      // Not by `status`, which waits for the server's answers no longer than a person would.
      shown ||= /Waiting for model server .*/.exec((await awaitedOf(workload.session, 'away', null)) ?? '')?.[0] ?? '';
    }
    const backAt = Date.now();
    workload.model.start();
    await workload.model.ready();
    await ended;
    const checked = await checkRun(workload, { ...run, histories: false });
    const followed = (await following.ended).stderr;

    const asks = workload.model.asks().filter(({ key }) => key.startsWith('away/'));
    const answers = asks.filter(({ how }) => how === 'answered').map(({ at }) => at);
    const before = rate(answers, diedAt - warmMs / 2, diedAt);
    const windowMs = warmMs / 3;
    const backMs = answers.find((at) => at > backAt && rate(answers, at, at + windowMs) >= 0.9 * before);
    const most = Math.max(...asks.map(({ inFlight }) => inFlight));
    console.log(
      JSON.stringify({
        seed: SEED,
        awayMs: backAt - diedAt,
        before,
        backAfterMs: (backMs ?? NaN) - backAt,
        most,
        shown,
      }),
    );
    expect(checked.problems).toEqual([]);
    expect(checked.askedAgain).toBe(0);
    expect(most).toBeLessThanOrEqual(limit);
    if (!FULL) return;
    expect(followed).toContain('Waiting for model server');
    expect(backMs! - backAt).toBeLessThanOrEqual(60_000);
  });
});

/** Answers in a second. */
function rate(answers: readonly number[], from: number, to: number): number {
  return (answers.filter((at) => at >= from && at < to).length * 1000) / (to - from);
}

/** From each 429 to the next ask for the same turn, but where nobody listened when that was due. */
function waitsAfterBusy(asks: readonly Ask[]): number[] {
  const since = new Map<string, number>();
  const refused = asks.flatMap(({ how, at }) => (how === 'refused' ? [at] : []));
  const deaf = (due: number) => refused.some((at) => due > at - DEAF_MS && due < at + REFUSED_MS + DEAF_MS);
  return asks.flatMap(({ key, event, how, at }) => {
    if (event === 'end') {
      if (how === 'busy') since.set(key, at);
      return [];
    }
    const from = since.get(key);
    since.delete(key);
    return from === undefined || deaf(from + RETRY_AFTER_S * 1000) ? [] : [at - from];
  });
}

/** Last failures that do not bear the name of the fault before them. */
async function misnamed(asks: readonly Ask[]) {
  const ends = new Map<string, NonNullable<Ask['how']>[]>();
  for (const { key, event, how } of asks) if (event === 'end') ends.set(key, [...(ends.get(key) ?? []), how!]);
  const failures = await lastFailures(workload, { ...RUN, name: 'faulty' });
  const wrong = failures.filter(({ key, reason }) => {
    // The last one is the answer that was taken.
    const before = ends.get(key)?.at(-2);
    const names = before === undefined ? [] : before === 'gone' || before === 'answered' ? LATE : NAMES[before];
    return !names.includes(reason) && !UNSEEN.has(reason);
  });
  return { looked: failures.length, wrong };
}
