import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLeases, type Leases } from '../../inference/fleet/leases.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everturn-leases-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the leases of a fleet', () => {
  test('all processes together never hold more than the limit', async () => {
    const processes = await Promise.all([1, 2, 3, 4].map(() => openLeases({ folder, limit: 3 })));
    let held = 0;
    let most = 0;
    let taken = 0;
    const worker = async (leases: Leases) => {
      for (let done = 0; done < 10;) {
        const giveBack = await leases.tryAcquire();
        if (!giveBack) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
          continue;
        }
        most = Math.max(most, ++held);
        await new Promise((resolve) => setTimeout(resolve, 1));
        held--;
        taken++;
        done++;
        await giveBack();
      }
    };
    await Promise.all(processes.flatMap((leases) => [worker(leases), worker(leases), worker(leases)]));
    expect(taken).toBe(120);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
    await Promise.all(processes.map((leases) => leases.close()));
    expect(await readdir(folder)).toEqual([]);
  });

  test('the leases of a process that died are free when it has been silent for long', async () => {
    const dead = await openLeases({ folder, limit: 1, ttlMs: 3_600_000 });
    expect(await dead.tryAcquire()).not.toBeNull();
    const living = await openLeases({ folder, limit: 1, ttlMs: 30_000 });
    expect(await living.tryAcquire()).toBeNull();
    const all = (await readdir(folder)).filter((name) => name.endsWith('.beat'));
    for (const name of all) await utimes(join(folder, name), 0, 0); // the living one beats again before it judges
    expect(await living.tryAcquire()).not.toBeNull();
    await living.close();
    await dead.close();
  });

  test('a process that stood still beats before it takes a lease', async () => {
    const slow = await openLeases({ folder, limit: 2, ttlMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await slow.tryAcquire()).not.toBeNull();
    const other = await openLeases({ folder, limit: 1, ttlMs: 30_000 });
    expect(await other.tryAcquire()).toBeNull();
    await slow.close();
    await other.close();
  });
});
