// What a feed does with members that fail or are lost, and with weights that its trainer publishes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import type { GenerateRequest } from '../../inference/backend.ts';
import { openFileStore } from '../../records/file-store.ts';
import { modelServer } from '../support/model-server.ts';
import { openFeedRig } from '../support/feed-rig.ts';

const { rig, answers, start, begin, ask, lease, progress, until, numbers, refused } = await openFeedRig();
afterAll(() => rig.close());

describe('a feed', { timeout: 240_000 }, () => {
  test('plays a member that failed again, and only that', async () => {
    let failures = 0;
    answers.set('again', ({ requestId }) => {
      if (requestId.startsWith('again/q1/1/') && failures++ === 0)
        throw new ModelError('no', { reason: 'request-refused' });
      return '\\boxed{4}';
    });
    await begin('again', { queries: 2 });
    const granted = await lease('again');
    expect(numbers(granted)).toEqual([0, 1]);
    const store = openFileStore(rig.out, 'again');
    const ids = await store.listRolloutsOf('q1');
    expect(ids.map(({ sample, attempt }) => `${sample}.${attempt}`)).toEqual(['0.1', '1.1', '1.2']);
  });

  test('hands out what is left of a group once its tries are spent, where so few members are enough', async () => {
    const script = ({ requestId }: GenerateRequest) => {
      if (/\/q1\/1\//.test(requestId)) throw new ModelError('no', { reason: 'request-refused' });
      return '\\boxed{4}';
    };
    answers.set('few', script);
    answers.set('whole', script);
    await begin('few', { queries: 2, train: { minMembers: 1 } });
    await begin('whole', { queries: 2 });
    expect(numbers(await lease('few'))).toEqual([0, 1]);
    expect(numbers(await lease('whole'))).toEqual([0]);
    expect((await progress('whole')).leftOut).toMatchObject({ members: 1 });
    const tries = await openFileStore(rig.out, 'few').listRolloutsOf('q1');
    expect(tries.map(({ sample, attempt }) => `${sample}.${attempt}`)).toEqual(['0.1', '1.1', '1.2', '1.3']);
  });

  test('starts a rollout again that somebody terminated, from what it has recorded', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    answers.set('killed', async ({ requestId }) => {
      if (requestId.startsWith('killed/q0/0/')) await gate;
      return '\\boxed{4}';
    });
    await begin('killed', { queries: 2 });
    const store = openFileStore(rig.out, 'killed');
    const id = { run: 'killed', query: 'q0', sample: 0, attempt: 1 };
    await until('killed', (p) => p.ready === 1);
    expect(await store.get('rollout', id)).toBeDefined();
    await rig.client.workflow.getHandle('killed/q0/0').terminate();
    open();
    // Its age is asked for every ten seconds.
    expect(numbers(await lease('killed', { wait: 60 }))).toEqual([0, 1]);
    expect((await store.listRolloutsOf('q0')).map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  test('is there for a run that a bare client started, with epochs and a trainer', async () => {
    const dataset = join(rig.out, 'bare-data.jsonl');
    writeFileSync(dataset, [0, 1, 2, 3].map((i) => `{"id":"q${i}","question":"Is ${i}?","answer":"4"}\n`).join(''));
    const given = {
      dataset,
      samples: 2,
      epochs: 2,
      train: { batchGroups: 2, maxStaleness: 0 },
      settings: { numTurns: 1 },
    };
    const collection = await start('collection', 'bare', given);
    await start('feed', 'bare');
    const seen: number[] = [];
    for (let version = 1; version <= 4; version++) {
      const granted = await lease('bare');
      seen.push(...numbers(granted));
      await ask('bare', 'acknowledge', { lease: granted.id, version });
      await ask('bare', 'version', { version });
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await collection.result()).toMatchObject({ total: 16 });
  });

  test('moves its clock when the weights are on a server, and not where they are on none', async () => {
    const server = await modelServer({ kind: 'sglang' });
    try {
      await begin('weighty', { queries: 4, model: `sglang:${server.url}` });
      const { id } = await lease('weighty');
      await ask('weighty', 'acknowledge', { lease: id, version: 1 });
      expect(await ask('weighty', 'version', { version: 1, weights: '/ckpt/1' })).toEqual({
        version: 1,
        already: false,
      });
      const loads = () => server.seen.filter(({ path }) => path === '/update_weights_from_disk').length;
      expect(loads()).toBe(1);
      expect(await ask('weighty', 'version', { version: 1, weights: '/ckpt/1' })).toEqual({
        version: 1,
        already: true,
      });
      // The checkpoint's weights, on servers that are ahead of it.
      await ask('weighty', 'rewind', { version: 0 });
      const back = { version: 0, weights: '/ckpt/0', line: 1 };
      expect(await ask('weighty', 'version', back)).toMatchObject({ already: false });
      expect(loads()).toBe(2);
    } finally {
      await server.close();
    }
    const { id } = await lease('weighty', { line: 1 });
    await ask('weighty', 'acknowledge', { lease: id, version: 1 });
    const unloaded = { version: 1, weights: '/ckpt/1b', line: 1 };
    expect(await refused(ask('weighty', 'version', unloaded))).toBe('weights-not-loaded');
    expect(await progress('weighty')).toMatchObject({ version: 0, line: 1 });
  });
});
