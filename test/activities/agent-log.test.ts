// The log of an agent's attempts, on a disk: of all attempts one ends, and it is the one that began last.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { beginAttempt, type BegunAttempt, endOfAgent, pauseAgent } from '../../activities/agent-log.ts';
import type { AgentEnd } from '../../domain/agent/program.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Store } from '../../records/store.ts';

let out: string;
let store: Store;
const id = { run: 'log', out: '', query: 'q', sample: 0, attempt: 1 };
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'everturn-agent-log-'));
  store = openFileStore(out, 'log');
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

const END: AgentEnd = { code: 0, turns: 1, answer: '42', last: 1 };
const begin = (token: string, attempt = 1) =>
  beginAttempt(store, id, { attempt, token, scheduledAt: attempt }) as Promise<BegunAttempt>;

describe('an attempt of an agent', () => {
  test('that another one followed ends nothing, whenever it wakes up: the end is the other’s', async () => {
    const first = await begin('a');
    const second = await begin('b', 2);
    await expect(first.mustBeLast()).rejects.toMatchObject({ reason: 'agent-followed', retryable: true });
    await expect(first.end({ ...END, reward: 1 })).rejects.toMatchObject({ reason: 'agent-followed' });
    expect(await endOfAgent(store, id)).toBeUndefined();
    await second.mustBeLast();
    await second.end({ ...END, reward: 0 });
    await expect(first.end({ ...END, reward: 1 })).rejects.toMatchObject({ reason: 'agent-followed' });
    expect(await endOfAgent(store, id)).toEqual({ ...END, reward: 0 });
  });

  test('that starts after the next one has begun, as on a frozen worker, follows nothing', async () => {
    const second = await begin('b', 2);
    await expect(begin('a', 1)).rejects.toMatchObject({ reason: 'agent-followed' });
    await second.end(END);
    expect(await endOfAgent(store, id)).toEqual(END);
  });

  test('that ended is the last: a later one is given its end', async () => {
    await (await begin('a')).end(END);
    expect(await begin('b', 2)).toEqual(END);
    expect(await endOfAgent(store, id)).toEqual(END);
  });

  test('ends once, of many that begin and end at the same time', async () => {
    const tokens = Array.from({ length: 12 }, (_, i) => `t${i}`);
    const tried = await Promise.all(
      tokens.map(async (token, i) => {
        const begun = await begin(token, i + 1).catch(() => undefined);
        if (!begun || !('end' in begun)) return [];
        const end = { ...END, answer: token };
        return begun.end(end).then(
          () => [token],
          () => [],
        );
      }),
    );
    const ended = tried.flat();
    expect(ended.length).toBeLessThanOrEqual(1);
    expect((await endOfAgent(store, id))?.answer).toBe(ended[0]);
  });
});

describe('a pause of the rollout', () => {
  const pause = (paused: boolean) => pauseAgent(store, id, { attempt: 1, token: 'pause', scheduledAt: 1 }, paused);
  const signal = new AbortController().signal;

  test('holds each new call until it is over, also of an attempt that begins in it, and is no attempt', async () => {
    const first = await begin('a');
    await first.mayAsk(signal);
    await pause(true);
    await pause(true);
    let asked = 0;
    const calls = [first.mayAsk(signal), first.mayAsk(signal)].map(async (call) => {
      await call;
      asked++;
    });
    await first.mustBeLast();
    const second = await begin('b', 2);
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ reason: 'agent-followed' })));
    const later = second.mayAsk(signal).then(() => asked++);
    expect(asked).toBe(0);
    await pause(false);
    await later;
    await pause(true);
    await second.end(END);
    expect(await endOfAgent(store, id)).toEqual(END);
    await pause(false);
    const entries = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((entry) => store.get('agent', id, entry)));
    expect(entries.map((entry) => entry?.record.paused ?? entry?.record.token)).toEqual([
      ...['a', true, 'b', false, true, 'b', undefined],
    ]);
  });

  test('ends for a call whose activity is cancelled', async () => {
    const first = await begin('a');
    await pause(true);
    const cancelled = new AbortController();
    const call = first.mayAsk(cancelled.signal);
    cancelled.abort(new Error('cancelled'));
    await expect(call).rejects.toThrow('cancelled');
  });
});
