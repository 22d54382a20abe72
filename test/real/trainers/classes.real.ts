// The drop-in classes of python/everturn/integrations in the hands of their frameworks' own packages, over one real run that each
// of them rewinds (classes.py). A framework that is not installed is skipped; the whole steps of TRL are in training.real.ts.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openRunFolder, PYTHON, ROOT } from './run-folder.ts';

const { call, everturn } = openRunFolder();

beforeAll(() => {
  const data = join(ROOT, 'examples/arithmetic.jsonl');
  const sizes = ['--samples', '2', '--limit', '8', '--batch-groups', '2', '--max-staleness', '1', '--num-turns', '3'];
  const { status, stderr } = everturn('run', data, '--name', 'classes', '--train', ...sizes, '--detach');
  if (status !== 0) throw new Error(stderr);
});

describe('a drop-in class', () => {
  test.for(['slime', 'skyrl', 'openrlhf', 'areal', 'verl'])('gives %s every token of its steps', (name, context) => {
    const { status, stdout, stderr } = call(PYTHON, join(import.meta.dirname, 'classes.py'), 'classes', name);
    if (status === 2) return context.skip(stderr);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    console.log(stdout.trim().split('\n').at(-1));
    // asking for a step acknowledged the one before; slime's trainer was started again in between
    const said = JSON.parse(everturn('status', 'classes', '--json').stdout.split('\n')[0] ?? '');
    expect(said).toMatchObject({ feed: { version: name === 'slime' ? 2 : 1 } });
    expect(everturn('check', 'classes')).toMatchObject({ status: 0 });
  });
});

describe('a patch of examples/train/from', () => {
  test.for([
    ['slime', 'slime'],
    ['areal-now', 'areal'],
  ] as const)('applies to the script of %s', ([checkout, patch], context) => {
    const folder = join(process.env['EVERTURN_TRAINERS_SOURCES'] ?? '', checkout);
    if (!process.env['EVERTURN_TRAINERS_SOURCES'] || !existsSync(folder)) return context.skip(`no ${checkout}`);
    const file = join(ROOT, 'examples/train/from', `${patch}.patch`);
    expect(call('patch', '--dry-run', '--fuzz=0', '-p1', '-d', folder, '-i', file)).toMatchObject({ status: 0 });
  });
});
