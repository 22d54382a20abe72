// `update-weights` as a user meets it: what it refuses before the workflow is started, and what its table says. What the
// workflow does: test/workflows/update-weights.temporal.test.ts; with the command line: test/e2e/weights.temporal.test.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { updateTable } from '../../cli/commands/update-weights.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import { openFileStore } from '../../records/file-store.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { aRunRecord } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';
import { scriptedIo } from './scripted-io.ts';

const cwd = scratchFolder();
let servers: ModelServer[];
beforeAll(async () => {
  servers = await Promise.all([1, 2].map(() => modelServer({ kind: 'sglang' })));
  await aRun('fleet', `sglang:${servers.map(({ url }) => url).join(',')}`);
  await aRun('embedded', 'tiny');
  await aRun('trained', `sglang:${servers[0]!.url}`, null, true);
  await aRun('text', 'openai:http://127.0.0.1:1#m');
  mkdirSync(join(cwd, 'step-7'));
  writeFileSync(join(cwd, 'step-7/model.safetensors'), '');
  mkdirSync(join(cwd, 'empty'));
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function aRun(run: string, model: string, apiKeyEnv: string | null = null, train = false): Promise<void> {
  const paced = { batchGroups: 2, maxStaleness: 1, successRate: null, dropZeroVariance: false, minMembers: null };
  const record = aRunRecord(run, completeSettings(run, { model, apiKeyEnv }), train ? { train: paced } : {});
  await openFileStore(join(cwd, 'runs'), run).put('run', null, record);
}

/** What the command says as it refuses. */
async function refusalOf(...args: string[]) {
  const { err } = await call(cwd, ['update-weights', ...args, '--json']);
  return (JSON.parse(err.trimEnd().split('\n').at(-1)!) as { error: object }).error;
}
const asked = () => servers.reduce((sum, { seen }) => sum + seen.length, 0);

describe('everturn update-weights', () => {
  test.each([
    [['text', '--from', 'step-7', '--weight-version', '7'], 'no-weights-to-update'],
    [['embedded', '--from', 'step-7', '--weight-version', '7'], 'no-weights'],
    [['fleet', '--from', 'empty', '--weight-version', '9'], 'no-weights'],
    [['fleet', '--adapter', 'step-7', '--weight-version', '9'], 'no-weights'],
    [['fleet', '--weight-version', '9'], 'bad-value'],
    [['fleet', '--from', 'step-7', '--adapter', 'step-7', '--weight-version', '9'], 'bad-value'],
    [['embedded', '--adapter', 'step-7', '--weight-version', '9'], 'no-weights-to-update'],
    [['fleet', '--from', 'step-7', '--weight-version', 'default'], 'bad-value'],
    [['fleet', '--from', 'step-7', '--weight-version', ' '], 'bad-value'],
    [['fleet', '--from', 'step-7', '--weight-version', 'step 9'], 'bad-value'],
    [['fleet', '--from', 'step-7', '--weight-version', '2147483648'], 'bad-value'],
    [['fleet', '--from', 'step-7', '--weight-version', '9'.repeat(200)], 'bad-value'],
    [['trained', '--from', 'step-7', '--weight-version', '7'], 'not-allowed'],
    [['nobody', '--from', 'step-7', '--weight-version', '9'], 'no-such-run'],
  ])('%s is refused, and no server is asked', async (args, reason) => {
    const before = asked();
    expect(await refusalOf(...args)).toMatchObject({ boundary: 'usage', reason });
    expect(asked()).toBe(before);
  });

  test('the table names each server, its version before and now, and what became of it', () => {
    const server = { url: 'http://a', before: 'default', now: '7', tookMs: 1200, reason: null, error: null };
    const text = updateTable(scriptedIo({ cwd }), [
      { ...server, state: 'updated' },
      { ...server, url: 'http://b', now: null, state: 'paused' },
    ]);
    expect(text).toMatch(/server +before +now +took/);
    expect(text).toMatch(/http:\/\/a +default +7 +1\.20 s +updated/);
    expect(text).toMatch(/http:\/\/b +default +\? +1\.20 s +paused/);
  });

  test('a folder that came from elsewhere chooses no variable whose value its servers get', async () => {
    await aRun('foreign', `sglang:${servers[0]!.url}`, 'PATH');
    const before = asked();
    const message = expect.stringContaining('--api-key-env PATH') as string;
    const refusal = await refusalOf('foreign', '--from', 'step-7', '--weight-version', '9');
    expect(refusal).toMatchObject({ reason: 'not-allowed', message });
    expect(asked()).toBe(before);
  });
});
