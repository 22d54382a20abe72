// examples/train on the CPU, over real runs with a service of their own: TRL's GRPOTrainer takes three steps, and grpo.py,
// ended at each place of a step in turn, trains each group once. Each needs its packages, and is skipped without them.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'everturn-training-'));
const env = { ...process.env, EVERTURN_HOME: join(folder, 'home'), PYTHONPATH: join(ROOT, 'python') };
const python = process.env['EVERTURN_TRAINERS_PYTHON'] ?? 'python3';
const CLI = [process.execPath, join(ROOT, 'dist/cli/index.js')];

function call(command: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8', timeout: 500_000 });
  return { status, said: `${stdout}\n${stderr}` };
}

function everturn(...args: string[]) {
  const done = call(CLI[0] ?? '', [...CLI.slice(1), ...args]);
  expect(done, args.join(' ')).toMatchObject({ status: 0 });
  return done.said;
}

function collect(run: string, ...args: string[]) {
  const data = join(ROOT, 'examples/arithmetic.jsonl');
  const train = ['--train', '--max-staleness', '1', '--num-turns', '1', '--detach'];
  everturn('run', data, '--name', run, ...train, ...args);
}

const script = (path: string, ...args: string[]) =>
  call(python, [join(ROOT, path), ...args, '--command', CLI.join(' ')]);
const lacks = (...names: string[]) => call(python, ['-c', `import ${names.join(', ')}`]).status !== 0;

afterAll(() => {
  call(CLI[0] ?? '', [...CLI.slice(1), 'down']);
  rmSync(folder, { recursive: true });
});

const PLACES =
  'after-lease before-acknowledge after-acknowledge after-log before-rename after-rename after-version'.split(' ');

describe('a trainer on a run', () => {
  test('TRL takes three steps, whose weights play what it trains on next, none older than allowed', (context) => {
    if (lacks('torch', 'trl', 'datasets', 'transformers', 'onnx'))
      return context.skip('no torch, trl, datasets or onnx here');
    collect('trl', '--samples', '4', '--limit', '12', '--batch-groups', '4');
    const sizes = ['--run', 'trl', '--groups', '4', '--samples', '4', '--steps', '3', '--work', 'trl'];
    const done = script('examples/train/trl_grpo.py', ...sizes);
    expect(done).toMatchObject({ status: 0 });
    everturn('check', 'trl');
    const status = JSON.parse(everturn('status', 'trl', '--json').split('\n')[0] ?? '');
    expect(status).toMatchObject({ state: 'ended', feed: { version: 3 } });
    const versions = ['1', '2', '3'].map((version) => join(folder, `trl/version-${version}`));
    const weights = [join(ROOT, 'models/tiny'), ...versions].map((of) => readFileSync(join(of, 'model.safetensors')));
    expect(new Set(weights.map(String)).size).toBe(4);
    // each step trains four of twelve groups, and eight may begin before the first one is done
    const log = everturn('log', 'trl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(log[0].version).toBe(0);
    expect(log.at(-1).version).toBeOneOf([1, 2]);
    for (const { staleness } of log) expect(Math.abs(staleness - 0.5)).toBeLessThanOrEqual(0.5);
  });

  test('a trainer that is ended at each place of a step trains every group once', { timeout: 3_600_000 }, (context) => {
    if (lacks('torch', 'onnx', 'safetensors', 'tokenizers'))
      return context.skip('no torch, onnx, safetensors or tokenizers here');
    collect('killed', '--samples', '2', '--limit', '60', '--batch-groups', '3');
    const train = (place: string) => {
      const sizes = ['--run', 'killed', '--groups', '3', '--evaluate-every', '0', '--work', 'work'];
      return script('test/real/trainers/killed_trainer.py', place, ...sizes);
    };
    for (const place of PLACES) expect(train(place), place).toMatchObject({ status: 137 });
    expect(train('nowhere')).toMatchObject({ status: 0 });
    const line = call(python, [join(ROOT, 'examples/train/surviving.py'), 'work/log.jsonl', 'runs/killed']);
    expect(line).toEqual({
      status: 0,
      said: expect.stringMatching(/^20 versions of 60 groups; 8 starts, .* 0 differences/),
    });
    expect(readFileSync(join(folder, 'work/log.jsonl'), 'utf8')).toMatch(/"version": 20/);
    everturn('check', 'killed');
  });
});
