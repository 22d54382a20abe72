// The drop-in classes of python/everturn/integrations in the hands of their frameworks' own packages, over one real run that each
// of them rewinds (classes.py). A framework that is not installed is skipped; the whole steps of TRL are in training.real.ts.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openRunFolder, PYTHON, ROOT } from './run-folder.ts';

const { call, everturn, folder } = openRunFolder();

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

/** A title by another model, which is not trained; two calls, of which the second alone has a reward; killed between them. */
const AGENT = `
const { OPENAI_BASE_URL: base, OPENAI_API_KEY: key, EVERTURN_ATTEMPT: attempt, EVERTURN_ROW: file } = process.env;
const post = async (path, body) =>
  (await fetch(base + path, { method: 'POST', headers: { authorization: 'Bearer ' + key }, body: JSON.stringify(body) })).json();
const user = (content) => ({ role: 'user', content });
const { question } = JSON.parse((await import('node:fs')).readFileSync(file, 'utf8'));
await post('/chat/completions', { model: 'small', messages: [user('A title for: ' + question)], max_tokens: 5 });
const first = await post('/chat/completions', { model: 'main', messages: [user(question)] });
if (attempt === '1') process.kill(process.pid, 'SIGKILL');
const messages = [user(question), first.choices[0].message, user('Are you sure?')];
const { id, choices } = await post('/chat/completions', { model: 'main', messages });
const reward = /\\d$/.test(choices[0].message.content.trim()) ? 1 : 0.25;
await post('/reward', { call: id, reward });
console.log(JSON.stringify({ reward: 0 }));
`;

describe('a drop-in class on the run of an agent', () => {
  beforeAll(() => {
    writeFileSync(join(folder, 'agent.mjs'), AGENT);
    const data = join(ROOT, 'examples/arithmetic.jsonl');
    const sizes = [
      '--samples',
      '2',
      '--limit',
      '8',
      '--batch-groups',
      '2',
      '--max-staleness',
      '1',
      '--max-new-tokens',
      '64',
    ];
    const agent = ['--agent', 'node agent.mjs', '--train-calls', 'model=main', '--turn-discount', '0.5'];
    const { status, stderr } = everturn('run', data, '--name', 'agents', '--train', ...sizes, ...agent, '--detach');
    if (status !== 0) throw new Error(stderr);
  });

  test.for(['areal', 'verl'])('gives %s the trained calls alone, with the reward of the second', (name, context) => {
    const { status, stdout, stderr } = call(PYTHON, join(import.meta.dirname, 'classes.py'), 'agents', name);
    if (status === 2) return context.skip(stderr);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    console.log(stdout.trim().split('\n').at(-1));
    expect(everturn('check', 'agents')).toMatchObject({ status: 0 });
    const rows = everturn('export', 'agents', '--format', 'rows').stdout.trim().split('\n');
    for (const line of rows) {
      const row = JSON.parse(line) as { turn_models: string[]; turn_rewards: number[]; reward: number };
      expect(row.turn_models).toEqual(['main', 'main']);
      expect(row.turn_rewards[0]).toBe(0);
      expect(row.reward).toBe(row.turn_rewards[1]! / 2);
    }
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
