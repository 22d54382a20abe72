// A worker after its runs: what they held is given back, and a run that goes on keeps its own.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { createOwnEnvironments, describeOwnEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { openBackends } from '../../run/backends/backends.ts';
import { putCode } from '../../records/run/code.ts';
import { hasEnded, openFileStore } from '../../records/file-store.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { describeTools } from '../../environments/tools/describe.ts';
import { openTools } from '../../environments/tools/open.ts';
import { moveOf, NEVER, playOwn, rolloutOf } from '../environments/own/rollouts.ts';
import { ask, closeAll, opened } from '../support/fleet-rig.ts';
import { asTokens } from '../support/kinds.ts';
import { childrenOf } from '../support/processes.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

afterEach(closeAll);

const SETTINGS = { ...DEFAULT_SETTINGS, seed: 1, model: 'tiny' };
const RUNS = 3;
const SHOP = join(import.meta.dirname, '../../examples/tools/shop.ts');
const MCP = `node ${join(import.meta.dirname, '../environments/tools/mcp-server.mjs')}`;

/** How many children this process has beside those that it had before: of other tests' files. */
function counted(): () => number {
  const before = new Set(childrenOf(process.pid));
  return () => childrenOf(process.pid).filter((pid) => !before.has(pid)).length;
}

/** A model of a run that has ended may be closed before it is asked: Temporal tries again. */
async function play(backends: ReturnType<typeof openBackends>, store: ReturnType<typeof openFileStore>): Promise<void> {
  try {
    await ask(asTokens(await backends.get(SETTINGS, store.folder)), 'r/q/0');
  } catch (error) {
    if (!(error instanceof ModelError) || error.reason !== 'backend-closed') throw error;
    await play(backends, store);
  }
}

async function environment() {
  const spec = parseSpec('./guess-held.ts', join(import.meta.dirname, '../environments/own'));
  const { record, code } = await describeOwnEnvironment(spec, () => undefined);
  return [record, code!] as const;
}

describe.runIf(process.platform === 'linux')('a worker after several runs', () => {
  test('has no model process and no more memory than before, and plays on', { timeout: 600_000 }, async () => {
    const out = mkdtempSync(join(tmpdir(), 'everturn-freed-'));
    const backends = openBackends(() => undefined);
    opened.push(backends);
    const children = counted();
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
      await store.put('result', null, { run: `run-${i}` } as never);
    }
    await play(backends, going);
    await expect.poll(children, { timeout: 60_000 }).toBe(1);
    expect(process.memoryUsage().rss - rss).toBeLessThan(200 * 2 ** 20);
    await going.put('result', null, { run: 'going' } as never);
    await expect.poll(children, { timeout: 60_000 }).toBe(0);
    await play(backends, going);
  });

  test(
    'has no process of an environment or a tool, and one that a rollout is held in goes on',
    { timeout: 600_000 },
    async () => {
      const out = mkdtempSync(join(tmpdir(), 'everturn-freed-'));
      const parts = {
        log: () => undefined,
        permitted: ({ spec }: { readonly spec: readonly string[] }) => spec,
        hasEnded,
      };
      const own = createOwnEnvironments({ ...parts, processes: 1 });
      const tools = openTools({ ...parts, code: undefined });
      opened.push(own, tools);
      const [record, code] = await environment();
      const listed = await describeTools({ tool: [SHOP], mcp: [MCP], toolTimeoutSeconds: null }, out, parts.log);
      const children = counted();

      async function playIn(folder: string, name: string) {
        for (const each of [code, ...listed.codes]) await putCode(folder, each);
        const environment = own.open(record, folder);
        const { rollout, turns } = await playOwn(environment, rolloutOf(record, { name }, name), ['100']);
        for (const tool of [
          listed.list.find(({ name }) => name === 'price')!,
          listed.list.find(({ door }) => door === 'mcp')!,
        ]) {
          const call = { arguments: { fruit: 'pear' }, key: name, signal: NEVER, before: async () => undefined };
          await tools.call(tool, call, folder);
        }
        return { environment, rollout, turns };
      }

      const going = openFileStore(out, 'going');
      const held = await playIn(going.folder, 'g0');
      await going.put('result', null, { run: 'going' } as never);
      for (let i = 1; i <= RUNS; i++) {
        const store = openFileStore(out, `run-${i}`);
        const { environment, rollout, turns } = await playIn(store.folder, `g${i}`);
        await environment.end!({ rollout, before: async () => turns }, { signal: NEVER });
        await store.put('result', null, { run: `run-${i}` } as never);
      }
      await expect.poll(children, { timeout: 60_000 }).toBe(1);
      const { environment: still, rollout, turns } = held;
      expect(await still.respond(moveOf(rollout, '200', turns), { signal: NEVER })).toMatchObject({
        reward: expect.any(Number),
      });
      await still.end!({ rollout, before: async () => turns }, { signal: NEVER });
      await expect.poll(children, { timeout: 60_000 }).toBe(0);
    },
  );
});
