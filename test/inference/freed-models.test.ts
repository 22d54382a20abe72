// A worker after its runs: what they held is given back, and a run that goes on keeps its model.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../domain/defaults.ts';
import { openBackends } from '../../run/backends.ts';
import { openFileStore } from '../../storage/files.ts';
import { openWeightsLedger } from '../../storage/weights.ts';
import { ask, closeAll, opened } from '../support/fleet-rig.ts';
import { asTokens } from '../support/kinds.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

const SETTINGS = { ...DEFAULT_SETTINGS, seed: 1, model: 'tiny' };
const RUNS = 20;

/** Model processes of this process: its children that are not its own workers. */
function children(): number {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1];
      return parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('everturn-model');
    } catch {
      return false;
    }
  }).length;
}

async function play(backends: ReturnType<typeof openBackends>, store: ReturnType<typeof openFileStore>): Promise<void> {
  await ask(asTokens(await backends.get(SETTINGS, store.folder)), 'r/q/0');
}

describe.runIf(process.platform === 'linux')('a worker after twenty runs', () => {
  test('has no model process and no more memory than before, and plays on', { timeout: 180_000 }, async () => {
    const out = mkdtempSync(join(tmpdir(), 'everturn-freed-'));
    const backends = openBackends(() => undefined);
    opened.push(backends);
    const before = children();
    const rss = process.memoryUsage().rss;
    const going = openFileStore(out, 'going');
    const weights = { folder: TINY_FOLDER, version: 1, label: '1' };
    const contentHash = await backends.prove(SETTINGS, going.folder, weights);
    for (let i = 0; i < RUNS; i++) {
      const store = openFileStore(out, `run-${i}`);
      // A run with declared weights has a model process of its own.
      const ledger = openWeightsLedger(store.folder);
      const entry = { ...weights, number: 1, rewind: false, line: 0, contentHash, workflowId: '', declaredAt: 1 };
      await ledger.declare(entry);
      await ledger.markLoaded(1);
      await play(backends, store);
      await store.putResult({ run: `run-${i}` } as never);
    }
    await play(backends, going);
    await expect.poll(children, { timeout: 60_000, interval: 500 }).toBe(before + 1);
    expect(process.memoryUsage().rss - rss).toBeLessThan(200 * 2 ** 20);
    await going.putResult({ run: 'going' } as never);
    await expect.poll(children, { timeout: 60_000, interval: 500 }).toBe(before);
    await play(backends, going);
  });
});
