// The pusher against a trainer that counts as AReaL's does, with both of them killed at random places: every sample is
// trained once along the steps that survive.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { arealNames } from '../../cli/serve/areal-names.ts';
import { type ArealFeed, type ArealSaved, pushToAreal } from '../../cli/serve/areal-push.ts';
import { openPusher } from '../../cli/serve/zeromq.ts';
import { randomSource } from '../support/texts.ts';

const [GROUPS, B, SAMPLES] = [24, 2, 3];
const STEP = B * SAMPLES;

/** As realhf's master and workers: ids in a store are skipped, every loaded sample is counted, a step takes the oldest. */
class Trainer {
  readonly trained: string[][] = [];
  lives = 0;
  count = 0;
  buffer: string[] = [];
  queues: string[][] = [];

  readonly pullers: number;

  constructor(pullers: number) {
    this.pullers = pullers;
    this.restart();
  }

  restart(): void {
    this.lives++;
    this.buffer = [];
    this.queues = Array.from({ length: this.pullers }, () => []);
    // As its recovery does.
    this.count = STEP * this.trained.length;
  }

  addresses(): string[] {
    return this.queues.map((_, rank) => `10.0.0.${rank + 1}:${5000 + this.lives}`);
  }

  receive(address: string, message: Uint8Array): void {
    const rank = this.addresses().indexOf(address);
    if (rank >= 0) this.queues[rank]!.push(...(JSON.parse(Buffer.from(message).toString()) as string[]));
  }

  load(): void {
    if (this.buffer.length >= STEP) return;
    for (const queue of this.queues) {
      for (const id of queue.splice(0)) {
        if (this.buffer.includes(id)) continue;
        this.buffer.push(id);
        this.count++;
      }
    }
  }

  train(): void {
    if (this.buffer.length >= STEP) this.trained.push(this.buffer.splice(0, STEP));
  }
}

/** The feed's promises, in memory. */
function memoryFeed(): ArealFeed & { readonly line: { version: number; groups: number[] }[] } {
  const line: { version: number; groups: number[] }[] = [];
  let leases = new Map<string, number[]>();
  let version = 0;
  let lineNumber = 0;
  const stepOf = (lease: string, groups: readonly number[]) => ({
    lease,
    samples: groups.flatMap((g) => Array.from({ length: SAMPLES }, (_, s) => JSON.stringify(`q${g}@${s}`))),
  });
  return {
    line,
    async rewind(to) {
      leases = new Map();
      while ((line.at(-1)?.version ?? 0) > to) line.pop();
      version = Math.min(version, to);
      return { line: ++lineNumber, version };
    },
    async attach(former) {
      return former === lineNumber ? { version, leases: [...leases.keys()] } : null;
    },
    async lease(request) {
      const open = leases.get(request);
      if (open) return stepOf(request, open);
      const taken = new Set([...line.flatMap(({ groups }) => groups), ...[...leases.values()].flat()]);
      const groups = Array.from({ length: GROUPS }, (_, g) => g).filter((g) => !taken.has(g));
      if (groups.length === 0) return null;
      leases.set(request, groups.slice(0, B));
      return stepOf(request, groups.slice(0, B));
    },
    async acknowledge(lease, into) {
      const groups = leases.get(lease);
      if (!groups || into !== version + 1) return false;
      leases.delete(lease);
      line.push({ version: into, groups });
      return true;
    },
    async version(to) {
      if (to > version && line.at(-1)?.version !== to) throw new Error('step-too-small');
      version = to;
    },
    async renew() {},
  };
}

describe('the pusher to AReaL', () => {
  for (const pullers of [1, 3]) {
    test(`has every sample trained once, whoever is killed, over ${pullers} pullers`, { timeout: 60_000 }, async () => {
      for (let seed = 1; seed <= 25; seed++) {
        const source = randomSource(seed);
        const random = () => source(1000) / 1000;
        const trainer = new Trainer(pullers);
        const feed = memoryFeed();
        let saved: ArealSaved | undefined;
        let done = false;
        const life = () => {
          const ending = new AbortController();
          const alive = () => {
            if (ending.signal.aborted) throw new Error('killed');
          };
          const ended = pushToAreal({
            feed,
            role: 'actor',
            names: {
              trainingSamples: async () => (alive(), trainer.count),
              modelVersion: async () => trainer.trained.length,
              pullers: async () => trainer.addresses(),
            },
            pusher: {
              async send(address, message) {
                alive();
                trainer.receive(address, message);
              },
              drop() {},
            },
            load: async () => saved,
            async save(now) {
              alive();
              saved = now;
            },
            ...{ signal: ending.signal, say: () => {}, pollMs: 1, resendMs: 40 },
          }).then(
            () => (done ||= !ending.signal.aborted),
            (error: unknown) => {
              if (!ending.signal.aborted) throw error;
            },
          );
          return { ending, ended };
        };
        let pusher = life();
        while (!done) {
          const dice = random();
          if (dice < 0.02) trainer.restart();
          else if (dice < 0.04) {
            pusher.ending.abort();
            await pusher.ended;
            if (!done) pusher = life();
          } else if (dice < 0.5) trainer.load();
          else if (dice < 0.7) trainer.train();
          await turn();
        }
        await pusher.ended;
        expect(trainer.trained.flat().sort(), `seed ${seed}`).toEqual(
          Array.from({ length: GROUPS * SAMPLES }, (_, i) => `q${Math.floor(i / SAMPLES)}@${i % SAMPLES}`).sort(),
        );
        expect(feed.line.map(({ version }) => version)).toEqual(feed.line.map((_, i) => i + 1));
      }
    });
  }

  test('says what to install where `zeromq` is not', async () => {
    await expect(openPusher(() => Promise.reject(new Error('Cannot find package')))).rejects.toMatchObject({
      reason: 'no-zeromq',
      fix: expect.stringContaining('npm install zeromq'),
    });
  });

  test('connects one socket to each puller, with AReaL’s limits, and drops what waits', async () => {
    const seen: unknown[] = [];
    const Push = class {
      constructor(options: object) {
        seen.push(options);
      }
      connect(address: string) {
        seen.push(address);
      }
      async send(message: Uint8Array) {
        seen.push(Buffer.from(message).toString());
      }
      close() {
        seen.push('closed');
      }
    };
    const pusher = await openPusher(async () => ({ Push }));
    await pusher.send('host:1', Buffer.from('[1]'));
    await pusher.send('host:1', Buffer.from('[2]'));
    pusher.drop();
    const limits = { sendHighWaterMark: 1000, linger: 0, sendTimeout: 10_000 };
    expect(seen).toEqual([limits, 'tcp://host:1', '[1]', '[2]', 'closed']);
  });
});

describe('AReaL’s names', () => {
  test('are read as its default writes them, and wait for every puller', async () => {
    const root = mkdtempSync(join(tmpdir(), 'everturn-areal-'));
    const put = (name: string, value: string) => {
      const folder = join(root, 'me', 'ppo', 't1', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'ENTRY'), value);
    };
    try {
      const names = arealNames({ root, user: 'me', experiment: 'ppo', trial: 't1' });
      expect([await names.trainingSamples(), await names.modelVersion('actor'), await names.pullers()]).toEqual([
        0,
        null,
        undefined,
      ]);
      put('push_pull_stream_peers/1a2b3c4d', '1');
      expect(await names.pullers()).toBeUndefined();
      put('push_pull_stream_peers/5e6f7a8b', '0');
      put('push_pull_stream/puller0', '10.0.0.1:1000');
      expect(await names.pullers()).toBeUndefined();
      put('push_pull_stream/puller1', '10.0.0.2:2000\n');
      put('training_samples', '128');
      put('model_version/actor', '3');
      expect([await names.trainingSamples(), await names.modelVersion('actor'), await names.pullers()]).toEqual([
        128,
        3,
        ['10.0.0.1:1000', '10.0.0.2:2000'],
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
