// The log of an agent's attempts, on a disk: of all attempts one ends, and it is the one that began last.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { beginAttempt, type BegunAttempt, endOfAgent } from '../../activities/agent-log.ts';
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
