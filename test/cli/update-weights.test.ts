// `update-weights` as a user meets it: what it refuses before any server is asked, what it says of each, its exit codes.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../../cli/program.ts';
import type { WeightUpdate } from '../../cli/commands/update-weights.ts';
import { completeSettings } from '../../domain/defaults.ts';
import { tryLock } from '../../machine/lock.ts';
import { openFileStore } from '../../storage/files.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { scriptedIo } from './scripted-io.ts';

let cwd: string;
let servers: ModelServer[];
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'everturn-update-'));
  servers = await Promise.all([1, 2].map(() => modelServer({ kind: 'sglang' })));
  await aRun('fleet', `sglang:${servers.map(({ url }) => url).join(',')}`);
  await aRun('embedded', 'tiny');
  mkdirSync(join(cwd, 'step-7'));
  writeFileSync(join(cwd, 'step-7/model.safetensors'), '');
  mkdirSync(join(cwd, 'empty'));
});
afterAll(async () => {
  for (const server of servers) await server.close();
  rmSync(cwd, { recursive: true });
});

async function aRun(run: string, model: string, apiKeyEnv: string | null = null): Promise<void> {
  await openFileStore(join(cwd, 'runs'), run).putRun({
    format: 'everturn-run/1',
    run,
    settings: completeSettings(run, { model, apiKeyEnv }),
    origins: {},
    samples: 1,
    dataset: null,
    versions: { everturn: 'test', node: 'test' },
    createdAt: 0,
  });
}

async function call(...args: string[]) {
  const io = scriptedIo({ cwd });
  let code: number | undefined;
  const words = ['update-weights', ...args];
  const program = await buildProgram(io, words, (given) => (code = given));
  await program.parseAsync(words, { from: 'user' });
  return { code, ...io.text };
}
const asked = () => servers.reduce((sum, { seen }) => sum + seen.length, 0);

describe('everturn update-weights', () => {
  test('brings the weights of a folder to every server, under their version', async () => {
    const { code, out, err } = await call('fleet', '--from', 'step-7', '--weight-version', '7', '--json');
    expect(code).toBe(0);
    const told = JSON.parse(out) as WeightUpdate;
    expect(told).toMatchObject({
      run: 'fleet',
      from: join(cwd, 'step-7'),
      weightVersion: '7',
      version: 7,
      whole: true,
    });
    expect(told.servers).toMatchObject(
      servers.map(({ url }) => ({ url, state: 'updated', before: 'default', now: '7' })),
    );
    expect(servers.map(({ engine }) => engine.version)).toEqual(['7', '7']);
    for (const { url } of servers) expect(err).toContain(`${url} has the new weights and is running.`);
  });

  test('prints a table for people, and says when the folder is not here', async () => {
    const { out, err } = await call('fleet', '--from', '/elsewhere/step-8', '--weight-version', 'step-8');
    expect(out).toMatch(/server +before +now +took\n(.* 7 +step-8 .* updated\n){2}/);
    expect(err).toContain('/elsewhere/step-8 is not on this machine');
  });

  test.each([
    [['embedded', '--from', 'step-7', '--weight-version', '7'], 'no-weights-to-update'],
    [['fleet', '--from', 'empty', '--weight-version', '9'], 'no-weights'],
    [['fleet', '--from', 'step-7', '--weight-version', 'default'], 'bad-value'],
    [['fleet', '--from', 'step-7', '--weight-version', ' '], 'bad-value'],
    [['fleet', '--from', 'step-7', '--weight-version', 'step 9'], 'bad-value'],
    [['nobody', '--from', 'step-7', '--weight-version', '9'], 'no-such-run'],
  ])('%s is refused, and no server is asked', async (args, reason) => {
    const before = asked();
    await expect(call(...args)).rejects.toMatchObject({ name: 'UsageError', reason });
    expect(asked()).toBe(before);
  });

  test('two at a time are refused, and the second may come when the first is done', async () => {
    const lock = await tryLock(join(cwd, 'runs/fleet/.fleet/updating'));
    const again = () => call('fleet', '--from', 'step-7', '--weight-version', '10');
    await expect(again()).rejects.toMatchObject({ reason: 'update-in-progress' });
    if ('release' in lock) lock.release();
    expect((await again()).code).toBe(0);
  });

  test('a fleet that is mixed afterwards is an error that says how to mend it', async () => {
    await servers[1]!.close();
    const failed = call('fleet', '--from', 'step-7', '--weight-version', '11');
    await expect(failed).rejects.toMatchObject({
      name: 'ModelError',
      reason: 'weights-not-updated',
      message: expect.stringContaining('1 of 2 servers have version 11'),
      fix: expect.stringContaining('repeat the command'),
    });
  });

  test('a folder that came from elsewhere chooses no variable whose value its servers get', async () => {
    await aRun('foreign', `sglang:${servers[0]!.url}`, 'PATH');
    const before = asked();
    const refused = call('foreign', '--from', 'step-7', '--weight-version', '9');
    await expect(refused).rejects.toMatchObject({
      reason: 'not-allowed',
      fix: expect.stringContaining('--api-key-env PATH'),
    });
    expect(asked()).toBe(before);
  });
});
