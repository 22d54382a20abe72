// A feed on a real server: groups handed out whole and once, refusals that change nothing, and a state that follows
// from the folder when the workflow is gone.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { LeaseResult } from '../../domain/feed/messages.ts';
import { feedWorkflowId } from '../../domain/names/ids.ts';
import { recordHistory } from '../histories/history-file.ts';
import { openFileStore } from '../../records/file-store.ts';
import { adapterFolder } from '../support/adapter-folder.ts';
import { makeFeedRun } from '../support/feed-run.ts';
import { modelServer } from '../support/model-server.ts';
import { openFeedRig } from '../support/feed-rig.ts';

const { rig, answers, start, begin, ask, lease, progress, until, numbers, breaches, refused } = await openFeedRig();
afterAll(() => rig.close());

describe('a feed', { timeout: 240_000 }, () => {
  test('hands out every group of every epoch once, whole, and paces the run', async () => {
    const collection = await begin('paced', { queries: 4, epochs: 2 });
    const seen: number[] = [];
    for (let version = 1; version <= 4; version++) {
      const granted = await lease('paced');
      expect(granted.trainedAt).toBe(version - 1);
      seen.push(...numbers(granted));
      // η = 1, B = 2: at version v, (1 + v + 1)·2 groups may have begun.
      const begun = rig.backend.requests.filter((r) => r.requestId.startsWith('paced/')).length / 2;
      expect(begun).toBeLessThanOrEqual((version + 1) * 2);
      await ask('paced', 'acknowledge', { lease: granted.id, version });
      await ask('paced', 'version', { version });
    }
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 8 }, (_, i) => i));
    expect(await ask('paced', 'lease', { consumer: 't', groups: 1, wait: 5 })).toEqual({
      lease: null,
      why: 'finished',
    });
    const result = (await collection.result()) as { total: number; counts: { outcomes: object } };
    expect(result).toMatchObject({ total: 16, counts: { outcomes: { complete: 16 } } });
    expect(new Set(rig.backend.requests.filter((r) => r.requestId.startsWith('paced/')).map((r) => r.seed)).size).toBe(
      16,
    );
    expect(await breaches('paced')).toEqual([]);
  });

  test('offers what was trained after a checkpoint again, and refuses the trainer that was there before', async () => {
    await begin('rewound');
    const first = await lease('rewound');
    await ask('rewound', 'acknowledge', { lease: first.id, version: 1 });
    await ask('rewound', 'version', { version: 1 });
    const second = await lease('rewound');
    await ask('rewound', 'acknowledge', { lease: second.id, version: 2 });
    const third = await lease('rewound');
    expect(await ask('rewound', 'rewind', { version: 1 })).toEqual({ version: 1, line: 1, offered: 4 });
    expect(await ask('rewound', 'rewind', { version: 1 })).toEqual({ version: 1, line: 2, offered: 0 });
    expect(await refused(ask('rewound', 'acknowledge', { lease: third.id, version: 2 }))).toBe('no-such-lease');
    const again = await lease('rewound', { line: 2 });
    expect(numbers(again)).toEqual(numbers(second));
    expect(await refused(ask('rewound', 'acknowledge', { lease: again.id, version: 1 }))).toBe('version-goes-back');
    // The checkpoint of version 2 is saved, and its trainer killed before it publishes.
    await ask('rewound', 'acknowledge', { lease: again.id, version: 2 });
    const lost = await lease('rewound', { line: 2 });
    expect(numbers(lost)).toEqual(numbers(third));
    await ask('rewound', 'rewind', { version: 2 });
    expect((await progress('rewound')).version).toBe(1);
    const next = await lease('rewound', { line: 3 });
    expect(await refused(ask('rewound', 'acknowledge', { lease: next.id, version: 3 }))).toBe('version-skips');
    expect(await ask('rewound', 'version', { version: 2, line: 3 })).toEqual({ version: 2, already: false });
    await ask('rewound', 'acknowledge', { lease: next.id, version: 3 });
    expect((await progress('rewound')).trained).toBe(6);
  });

  test('refuses a trainer whose line ended, also by a rewind that changed nothing', async () => {
    await begin('fenced');
    const first = await ask<{ line: number }>('fenced', 'rewind', { version: 0, request: 'a' });
    expect(await ask('fenced', 'rewind', { version: 0, request: 'a' })).toEqual({ version: 0, line: 1, offered: 0 });
    const own = await lease('fenced', { line: first.line });
    // The second trainer finds the same checkpoint: nothing is to be undone.
    const second = await ask('fenced', 'rewind', { version: 0, request: 'b' });
    expect(second).toEqual({ version: 0, line: 2, offered: 2 });
    for (const [verb, given] of [
      ['lease', { consumer: 't', groups: 1, line: 1 }],
      ['lease', { consumer: 't', groups: 1 }],
      ['acknowledge', { lease: own.id, version: 1, line: 1 }],
      ['version', { version: 0, line: 1 }],
      ['rewind', { version: 0, request: 'a' }],
      ['lease', { consumer: 't', groups: 1, line: 3 }],
    ] as const)
      expect(await refused(ask('fenced', verb, given)), `${verb} ${JSON.stringify(given)}`).toBe('stale-line');
    expect(await refused(ask('fenced', 'acknowledge', { lease: own.id, version: 1 }))).toBe('no-such-lease');
    // The ledger alone knows it too.
    await rig.client.workflow.getHandle(feedWorkflowId('fenced')).terminate();
    await start('feed', 'fenced');
    expect(await refused(ask('fenced', 'rewind', { version: 0, request: 'a' }))).toBe('stale-line');
    expect(await ask('fenced', 'rewind', { version: 0, request: 'b' })).toEqual({ version: 0, line: 2, offered: 0 });
    expect(await refused(ask('fenced', 'lease', { consumer: 't', groups: 1, line: 1 }))).toBe('stale-line');
    const granted = await lease('fenced', { line: 2 });
    expect(granted).toMatchObject({ line: 2, floors: [{ line: 1, version: 0 }] });
    await ask('fenced', 'acknowledge', { lease: granted.id, version: 1, line: 2 });
    expect(await breaches('fenced')).toEqual([]);
  });

  test('publishes an adapter once every server has it, and its ledger says that it is one', async () => {
    const servers = await Promise.all([1, 2].map(() => modelServer({ kind: 'vllm', adapters: 'taken' })));
    await begin('adapted', { model: `vllm:${servers.map(({ url }) => url).join(',')}` });
    const adapter = adapterFolder(join(rig.out, 'ckpt-0'));
    await until('adapted', () => true);
    expect(await ask('adapted', 'version', { version: 0, adapter })).toEqual({ version: 0, already: false });
    for (const { engine } of servers) expect([...engine.adapters.values()]).toEqual([adapter]);
    expect(await ask('adapted', 'version', { version: 0, adapter })).toEqual({ version: 0, already: true });
    const entry = await openFileStore(rig.out, 'adapted').get('feed', 1);
    expect(entry!.record).toMatchObject({ kind: 'version', version: 0, weights: adapter, adapter: true });
    // The model is a script, and the answers say no server.
    expect((await breaches('adapted')).filter((line) => line.startsWith('feed/'))).toEqual([]);
    await Promise.all(servers.map((server) => server.close()));
  });

  test('refuses what a rewind overtakes: a lease that waits, and a version that was accepted before', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    answers.set('overtaken', async ({ requestId }) => {
      if (/\/q[2-7]\//.test(requestId)) await gate;
      return '\\boxed{4}';
    });
    await begin('overtaken');
    const own = await lease('overtaken');
    await ask('overtaken', 'acknowledge', { lease: own.id, version: 1 });
    const waits = refused(ask('overtaken', 'lease', { consumer: 't', groups: 2, wait: 60 }));
    // In one task: the version passes its validator, and the rewind is the first to have its turn.
    const [rewound, late] = await Promise.all([
      ask<object>('overtaken', 'rewind', { version: 0 }),
      refused(ask('overtaken', 'version', { version: 1 })),
    ]);
    expect(rewound).toMatchObject({ version: 0, line: 1 });
    expect(['stale-line', 'accepted']).toContain(late);
    expect(await waits).toBe('stale-line');
    expect((await progress('overtaken')).version).toBe(0);
    open();
    expect(numbers(await lease('overtaken', { line: 1 }))).toEqual([0, 1]);
    expect(await breaches('overtaken')).toEqual([]);
  });

  test('refuses what does not fit, and changes nothing', async () => {
    await begin('hostile', {}, { maxUpdates: 1000 });
    await begin('other');
    const own = await lease('hostile');
    const foreign = await lease('other');
    const before = await progress('hostile');
    const bad: [string, unknown, string][] = [
      ['lease', { consumer: 't', groups: 0 }, 'bad-value'],
      ['lease', { consumer: 't', groups: 1e9 }, 'bad-value'],
      ['lease', { consumer: 't', groups: 3 }, 'bad-value'],
      ['lease', { consumer: 't', groups: 1, least: 2 }, 'bad-value'],
      ['lease', { consumer: 'a\nb', groups: 1 }, 'bad-value'],
      ['lease', { consumer: 'x'.repeat(100_000), groups: 1 }, 'bad-value'],
      ['lease', { consumer: 't', groups: 1, wait: 1e9 }, 'bad-value'],
      ['lease', 'all', 'bad-value'],
      ['lease', null, 'bad-value'],
      ['lease', { consumer: 't', groups: 1, __proto__x: 1 }, 'bad-value'],
      ['acknowledge', { lease: own.id, version: -1 }, 'bad-value'],
      ['acknowledge', { lease: own.id, version: 1.5 }, 'bad-value'],
      ['acknowledge', { lease: own.id, version: '1' }, 'bad-value'],
      ['acknowledge', { lease: own.id, version: 0 }, 'version-goes-back'],
      ['acknowledge', { lease: foreign.id, version: 1 }, 'no-such-lease'],
      ['acknowledge', { lease: 'hostile~0', version: 1 }, 'no-such-lease'],
      ['acknowledge', { lease: '../../x', version: 1 }, 'no-such-lease'],
      ['acknowledge', { lease: own.id, version: 2 }, 'version-skips'],
      ['acknowledge', { lease: own.id, version: 101 }, 'version-skips'],
      ['version', { version: 1 }, 'step-too-small'],
      ['version', { version: 3 }, 'version-skips'],
      ['version', { version: 2 ** 40 }, 'bad-value'],
      ['version', { version: 1, weights: 7 }, 'bad-value'],
      ['version', { version: 0, weights: '/a', adapter: '/b' }, 'bad-value'],
      ['rewind', { version: 1 }, 'version-goes-back'],
    ];
    for (const [verb, given, reason] of bad) {
      expect(await refused(ask('hostile', verb, given)), `${verb} ${JSON.stringify(given)}`.slice(0, 80)).toBe(reason);
    }
    await until('hostile', (p) => p.ready === 2);
    expect(await progress('hostile')).toMatchObject({ entries: 0, trained: 0, version: 0, leases: before.leases });
    await ask('hostile', 'acknowledge', { lease: own.id, version: 1 });
    await ask('hostile', 'version', { version: 1 });
    expect(await refused(ask('hostile', 'version', { version: 0 }))).toBe('version-goes-back');
    expect(await refused(ask('hostile', 'acknowledge', { lease: own.id, version: 2 }))).toBe('version-goes-back');
    expect(await ask('hostile', 'version', { version: 1 })).toEqual({ version: 1, already: true });
  });

  test('publishes a version when its leases make a whole step, and a smaller one only at the end', async () => {
    await begin('stepped', { queries: 3 });
    const [a, b] = [await lease('stepped', { groups: 1 }), await lease('stepped', { groups: 1 })];
    await ask('stepped', 'acknowledge', { lease: a.id, version: 1 });
    expect(await refused(ask('stepped', 'version', { version: 1 }))).toBe('step-too-small');
    await ask('stepped', 'acknowledge', { lease: b.id, version: 1 });
    await ask('stepped', 'version', { version: 1 });
    const last = await lease('stepped');
    expect(numbers(last)).toHaveLength(1);
    expect(await refused(ask('stepped', 'version', { version: 2 }))).toBe('step-too-small');
    await ask('stepped', 'acknowledge', { lease: last.id, version: 2 });
    await ask('stepped', 'version', { version: 2 });
    expect(await refused(ask('stepped', 'version', { version: 3 }))).toBe('step-too-small');
    expect(await breaches('stepped')).toEqual([]);
  });

  test('takes a late acknowledgement while nobody else needs the groups, and holds a lease that is asked for again', async () => {
    await begin('free', { queries: 2 });
    const short = await lease('free', { seconds: 0.2, request: 'mine' });
    const again = await lease('free', { seconds: 600, request: 'mine' });
    expect(again).toEqual({ ...short, until: again.until });
    expect(again.until - short.until).toBeGreaterThan(500_000);
    expect(await ask('free', 'lease', { consumer: 'other', groups: 1, wait: 0.5 })).toMatchObject({ lease: null });
    await lease('free', { seconds: 0.1, request: 'mine' });
    await sleep(300);
    expect(await ask('free', 'acknowledge', { lease: short.id, version: 1 })).toMatchObject({ already: false });
    expect(await progress('free')).toMatchObject({ ready: 0, trained: 2 });
  });

  test('leaves groups out by its filters, and admits others in their place', async () => {
    // Every second query is right in both samples.
    answers.set('filtered', ({ requestId }) => {
      const [, query, sample] = requestId.split('/');
      return `\\boxed{${Number(query!.slice(1)) % 2 === 0 || sample === '0' ? 4 : 5}}`;
    });
    await begin('filtered', { queries: 10, train: { dropZeroVariance: true } });
    const seen: number[] = [];
    for (let version = 1; version <= 3; version++) {
      const granted = await lease('filtered');
      seen.push(...numbers(granted));
      await ask('filtered', 'acknowledge', { lease: granted.id, version });
      await ask('filtered', 'version', { version });
    }
    expect(seen).toEqual([1, 3, 5, 7, 9]);
    const { leftOut } = await until('filtered', (p) => p.leftOut['zero-variance'] === 5);
    expect(leftOut).toEqual({ members: 0, 'success-rate': 0, 'zero-variance': 5 });
  });

  test('reads its state from the folder when its workflow is gone', async () => {
    await begin('gone');
    // The oldest are given first, of those that have ended.
    await until('gone', (p) => p.ready === 4);
    const first = await lease('gone');
    await ask('gone', 'acknowledge', { lease: first.id, version: 1 });
    await ask('gone', 'version', { version: 1 });
    await lease('gone');
    await rig.client.workflow.getHandle(feedWorkflowId('gone')).terminate();
    await start('feed', 'gone');
    const second = await lease('gone');
    expect(numbers(second)).toEqual([2, 3]);
    expect(await progress('gone')).toMatchObject({ trained: 2, version: 1, entries: 2 });
    await ask('gone', 'acknowledge', { lease: second.id, version: 2 });
    expect(await breaches('gone')).toEqual([]);
  });

  test('loses nothing over continue-as-new, and ends by itself when nothing is open', async () => {
    await makeFeedRun(rig.out, 'renewed', { queries: 8 });
    const feed = await start('feed', 'renewed', { maxUpdates: 5, idleMs: 300 });
    await start('collection', 'renewed');
    const seen: number[] = [];
    for (let version = 1; version <= 4; version++) {
      let granted: LeaseResult;
      do granted = await ask<LeaseResult>('renewed', 'lease', { consumer: 't', groups: 2, wait: 10 });
      while (granted.lease === null);
      seen.push(...numbers(granted.lease));
      await ask('renewed', 'acknowledge', { lease: granted.lease.id, version });
      await ask('renewed', 'version', { version });
    }
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 8 }, (_, i) => i));
    expect(await feed.result()).toMatchObject({ trained: 8 });
    const runId = feed.firstExecutionRunId;
    await recordHistory(rig.client, 'feed-continued-first', { workflowId: feed.workflowId, runId });
  });

  test('waits for a slow group rather than let it become too old', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    answers.set('slow', async ({ requestId }) => {
      if (requestId.startsWith('slow/q0/')) await gate;
      return '\\boxed{4}';
    });
    await begin('slow', { queries: 6 });
    // The oldest are given first, of those that have ended.
    await until('slow', (p) => p.ready === 3);
    const first = await lease('slow');
    expect(numbers(first)).toEqual([1, 2]);
    await ask('slow', 'acknowledge', { lease: first.id, version: 1 });
    await ask('slow', 'version', { version: 1 });
    // q0 began at version 0: at version 1 it must be trained, so one place is left for it.
    await until('slow', (p) => p.ready === 3);
    expect(numbers(await lease('slow', { groups: 1 }))).toEqual([3]);
    expect(await ask('slow', 'lease', { consumer: 't', groups: 1, wait: 0.5 })).toEqual({
      lease: null,
      why: 'waiting',
    });
    open();
    expect(numbers(await lease('slow', { groups: 1 }))).toEqual([0]);
  });
});
