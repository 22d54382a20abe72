// python/everturn/areal_push.py over a real run, ZeroMQ and AReaL's own puller, samples and names (areal_trainer.py): every sample
// is loaded and trained once, with the trainer and the pusher killed on the way. Skipped where one of them is not installed.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openRunFolder, PYTHON, ROOT } from './run-folder.ts';

const { folder, env, call, everturn } = openRunFolder();
const checkout = join(process.env['EVERTURN_TRAINERS_SOURCES'] ?? folder, 'areal');
const PUSHER = ['-m', 'everturn.areal_push'];
const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

function start(command: string, args: readonly string[]): { child: ChildProcess; ended: Promise<number | null> } {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
  children.push(child);
  return { child, ended: new Promise((resolve) => child.once('exit', (code) => resolve(code))) };
}

const [GROUPS, SAMPLES, B] = [12, 2, 2];
const log = join(folder, 'trained.jsonl');
const names = join(folder, 'names');
const trained = () =>
  existsSync(log)
    ? readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { step: number; ids: string[] })
    : [];

function trainer(...more: string[]) {
  const place = [checkout, names, 'me/ppo/one', '--batch', String(B * SAMPLES), '--log', log];
  return start(PYTHON, [
    join(ROOT, 'test/real/trainers/areal_trainer.py'),
    ...place,
    '--steps',
    String(GROUPS / B),
    ...more,
  ]);
}
const pusher = () => start(PYTHON, [...PUSHER, 'pushed', '--areal', 'ppo/one', '--names', names, '--user', 'me']);

describe('a run that feeds AReaL', () => {
  test('has every sample loaded and trained once by its own puller, whoever is killed', async (context) => {
    const lacks = call(PYTHON, '-c', 'import torch, transformers, zmq, orjson').status !== 0;
    if (lacks || !existsSync(checkout)) return context.skip('no AReaL, pyzmq or orjson');
    const data = join(ROOT, 'examples/arithmetic.jsonl');
    const size = ['--samples', String(SAMPLES), '--limit', String(GROUPS), '--num-turns', '1', '--stop', 'always'];
    const train = ['--train', '--batch-groups', String(B), '--max-staleness', '1', '--detach'];
    expect(everturn('run', data, '--name', 'pushed', ...size, ...train)).toMatchObject({ status: 0 });

    let push = pusher();
    // It dies with half of its first step loaded, and its next life has lost that.
    expect(await trainer('--die-with', '2').ended).toBe(9);
    const training = trainer();
    while (trained().length < 2) await sleep(50);
    push.child.kill('SIGKILL');
    await push.ended;
    push = pusher();
    expect(await training.ended).toBe(0);
    expect(await push.ended).toBe(0);

    const ids = trained().flatMap((step) => step.ids);
    expect([ids.length, new Set(ids).size]).toEqual([GROUPS * SAMPLES, GROUPS * SAMPLES]);
    const status = JSON.parse(everturn('status', 'pushed', '--json').stdout.split('\n')[0] ?? '') as object;
    expect(status).toMatchObject({ feed: { version: GROUPS / B, trained: GROUPS } });
    expect(everturn('check', 'pushed')).toMatchObject({ status: 0 });
    console.log(JSON.stringify({ areal: '820ca498', steps: trained().length, samples: ids.length }));
  });
});
