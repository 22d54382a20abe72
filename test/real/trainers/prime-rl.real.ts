// python/everturn/prime_rl_feed.py over a real run and prime-rl's own file transport, loader and loss (prime_rl_trainer.py), whose weights
// play what it trains on next: feeder and trainer are killed again and again, and each group is trained in one step of the ledger.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { openRunFolder, PYTHON, ROOT } from './run-folder.ts';

const { folder, env, call, everturn } = openRunFolder();
const checkout = join(process.env['EVERTURN_TRAINERS_SOURCES'] ?? folder, 'prime-rl');
const [GROUPS, SAMPLES, B, SEQ_LEN] = [24, 4, 4, 256];
const STEPS = GROUPS / B;
const output = join(folder, 'outputs');
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

function start(...args: readonly string[]) {
  const child = spawn(PYTHON, args, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
  children.push(child);
  return { child, ended: new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code))) };
}
const feeder = () =>
  start('-m', 'everturn.prime_rl_feed', 'primed', '--to', output, '--seq-len', `${SEQ_LEN}`, '--groups', `${B}`);
const trainer = () =>
  start(
    join(ROOT, 'test/real/trainers/prime_rl_trainer.py'),
    checkout,
    output,
    '--steps',
    `${STEPS}`,
    '--seq-len',
    `${SEQ_LEN}`,
    '--log',
    'trained.jsonl',
  );
const hasTrained = (log: string, step: number) =>
  existsSync(log) && readFileSync(log, 'utf8').includes(`"event": "trained", "version": ${step},`);

describe('a run that feeds prime-rl', () => {
  test(
    'has each group trained in one step of the ledger, whoever is killed',
    { timeout: 1_800_000 },
    async (context) => {
      const lacks = call(
        PYTHON,
        '-c',
        'import beartype, jaxtyping, loguru, msgspec, onnx, torch, transformers, wandb, zmq',
      );
      if (lacks.status !== 0 || !existsSync(checkout)) return context.skip(`no prime-rl: ${lacks.stderr}`);
      const data = join(ROOT, 'examples/arithmetic.jsonl');
      const size = ['--samples', `${SAMPLES}`, '--limit', `${GROUPS}`, '--num-turns', '2'];
      const train = ['--train', '--batch-groups', `${B}`, '--max-staleness', '1', '--detach'];
      expect(everturn('run', data, '--name', 'primed', ...size, ...train)).toMatchObject({ status: 0 });

      const log = join(folder, 'trained.jsonl');
      let feeding = feeder();
      let training = trainer();
      let kills = 0;
      let life = 400;
      for (let step = 1; step < STEPS; step++) {
        // ended at another place each time, and later each time, so that a slow machine comes to an end too
        for (; !hasTrained(log, step); life *= 1.15, kills++) {
          await sleep(life);
          feeding.child.kill('SIGKILL');
          await feeding.ended;
          feeding = feeder();
        }
        // behind its checkpoint of step 2, and at that of step 4
        if (step === 3 || step === 4) {
          training.child.kill('SIGKILL');
          await training.ended;
          training = trainer();
          kills++;
        }
      }
      expect(await training.ended).toBe(0);
      expect(await feeding.ended).toBe(0);

      const compared = call(PYTHON, join(ROOT, 'examples/train/surviving.py'), log, 'runs/primed');
      expect(compared).toMatchObject({ status: 0, stderr: '' });
      expect(compared.stdout).toMatch(new RegExp(`^${STEPS} versions of ${GROUPS} groups; 3 starts, .* 0 differences`));
      const status = JSON.parse(everturn('status', 'primed', '--json').stdout.split('\n')[0] ?? '');
      expect(status).toMatchObject({ state: 'ended', feed: { version: STEPS, trained: GROUPS } });
      expect(everturn('check', 'primed')).toMatchObject({ status: 0 });
      console.log(JSON.stringify({ 'prime-rl': '559b4477', kills, trained: compared.stdout.trim() }));
    },
  );
});
