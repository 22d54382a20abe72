// examples/train on the CPU, over real runs with a service of their own: TRL's GRPOTrainer takes three steps, and grpo.py,
// ended at each place of a step in turn, trains each group once. Each needs its packages, and is skipped without them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLI, openRunFolder, PYTHON, ROOT } from './run-folder.ts';

const { folder, call, everturn } = openRunFolder();
const run = (command: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = call(command, ...args);
  return { status, said: `${stdout}\n${stderr}` };
};
function commanded(...args: string[]) {
  const { status, stdout, stderr } = everturn(...args);
  expect({ status, stderr }, args.join(' ')).toMatchObject({ status: 0 });
  return stdout;
}

function collect(name: string, ...args: string[]) {
  const data = join(ROOT, 'examples/arithmetic.jsonl');
  const train = ['--train', '--max-staleness', '1', '--num-turns', '1', '--detach'];
  commanded('run', data, '--name', name, ...train, ...args);
}

const script = (path: string, ...args: string[]) =>
  run(PYTHON, join(ROOT, path), ...args, '--command', `${process.execPath} ${CLI}`);
const lacks = (...names: string[]) => call(PYTHON, '-c', `import ${names.join(', ')}`).status !== 0;

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
    commanded('check', 'trl');
    const status = JSON.parse(commanded('status', 'trl', '--json').split('\n')[0] ?? '');
    expect(status).toMatchObject({ state: 'ended', feed: { version: 3 } });
    const versions = ['1', '2', '3'].map((version) => join(folder, `trl/version-${version}`));
    const weights = [join(ROOT, 'models/tiny'), ...versions].map((of) => readFileSync(join(of, 'model.safetensors')));
    expect(new Set(weights.map(String)).size).toBe(4);
    // each step trains four of twelve groups, and eight may begin before the first one is done
    const log = commanded('log', 'trl')
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
    const line = run(PYTHON, join(ROOT, 'examples/train/surviving.py'), 'work/log.jsonl', 'runs/killed');
    expect(line).toEqual({
      status: 0,
      said: expect.stringMatching(/^20 versions of 60 groups; 8 starts, .* 0 differences/),
    });
    expect(readFileSync(join(folder, 'work/log.jsonl'), 'utf8')).toMatch(/"version": 20/);
    commanded('check', 'killed');
  });
});
