// The README's and the docs' commands, run as they are written, on the built command line, the shipped
// model and a real server.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const section = (text: string, title: string) => text.split(/^## /m).find((part) => part.startsWith(title))!;

/** The first of the examples' rows: what the commands do does not depend on how many there are. */
const ROWS = 8;
const rows = page('examples/arithmetic.jsonl').split('\n').slice(0, ROWS).join('\n');
let everturn: Everturn;
beforeAll(() => {
  // The workflows of docs/temporal.md are started by hand: their folders are ones that the worker was told.
  everturn = openEverturn({ EVERTURN_RUNS_UNDER: tmpdir() });
  mkdirSync(join(everturn.folder, 'examples'));
  everturn.write('examples/arithmetic.jsonl', rows);
});
afterAll(() => everturn.close());

describe('the README', () => {
  test('has commands that do what it says, as written', { timeout: 300_000 }, async () => {
    const commands = [
      ...section(page('README.md'), 'Your own problems').matchAll(/^ {4}npx --no-install everturn (.*)$/gm),
    ].map((m) => m[1]!.replace(/\s*#.*$/, ''));
    expect(commands.length).toBeGreaterThanOrEqual(5);
    // The environment that the section shows, and rows for it.
    const [, environment] = /^```python\n(.*?)```$/ms.exec(section(page('README.md'), 'Your own problems'))!;
    everturn.write('last_number.py', environment!);
    everturn.write('rows.jsonl', '{"id": "q1", "question": "What is 17 + 25?", "answer": "42"}');
    // The first as a process; the others do the same in this one.
    await everturn.mustRun(...commands[0]!.split(' '));
    for (const command of commands.slice(1)) await everturn.mustCall(...command.split(' '));
    const samples = readFileSync(join(everturn.folder, 'first.jsonl'), 'utf8').trim().split('\n');
    expect(samples).toHaveLength(ROWS);
    expect(JSON.parse(samples[0]!)).toMatchObject({ ids: ['arith-0001'], seqlens: { rewards: [[1, 1, 1, 1]] } });
  });

  test('shows a data set row that plays', { timeout: 120_000 }, async () => {
    const row = /^ {4}(\{"id".*\})$/m.exec(page('README.md'))![1]!;
    everturn.write('one.jsonl', row);
    await everturn.mustCall('run', 'one.jsonl', '--num-turns', '1', '--json');
  });

  test('names only commands, options and variables that exist', async () => {
    const help = await everturn.mustCall('--help');
    const runHelp = await everturn.mustCall('run', '--help', '--all');
    for (const [, command] of page('README.md').matchAll(/(?:npx --no-install |`)everturn ([a-z]+)/g))
      expect(help).toContain(`  ${command} `);
    // The one of npx is not ours.
    const own = section(page('README.md'), 'Your own problems').replaceAll('npx --no-install', '');
    for (const [flag] of own.matchAll(/--[a-z][a-z-]+[a-z]/g)) {
      if (!['--follow', '--format', '--out', '--to'].includes(flag))
        expect(`${runHelp}--max-concurrent`).toContain(flag);
    }
  });
});

describe('docs/temporal.md', () => {
  const temporal = (words: string, ...more: string[]) => {
    const args = ['--address', everturn.service()!.address, ...words.split(' '), ...more];
    return promisify(execFile)(inject('temporalBinary'), args, { timeout: 120_000 });
  };

  test('starts a rollout and a collection by the temporal command line, as written', { timeout: 300_000 }, async () => {
    await everturn.mustCall('up');
    const data = join(everturn.folder, 'problems.jsonl');
    everturn.write('problems.jsonl', rows);
    const runs = join(everturn.folder, 'runs');
    const inputs = [...page('docs/temporal.md').matchAll(/--input '(\{\n[^']*\})'/g)].map((m) =>
      m[1]!.replaceAll('/data/problems.jsonl', data).replaceAll('/data/runs', runs),
    );
    expect(inputs).toHaveLength(2);
    const start = (type: string, id: string, input: string) =>
      temporal('workflow start --task-queue everturn', '--type', type, '--workflow-id', id, '--input', input);
    await start('rollout', 'try/q1/0', inputs[0]!);
    const rollout = await temporal('workflow result --workflow-id try/q1/0 -o json');
    expect(JSON.parse(rollout.stdout)).toMatchObject({ status: 'COMPLETED', result: { outcome: 'complete' } });
    expect(await everturn.mustCall('show', 'try', 'q1')).toContain('What is 17 + 25?');

    await start('collection', 'night-1', inputs[1]!);
    const tuned = '{"maxConcurrent": 64}';
    await temporal('workflow update execute --workflow-id night-1 --name tune', '--input', tuned);
    const progress = await temporal('workflow query --workflow-id night-1 --type progress -o json');
    expect(progress.stdout).toContain('maxConcurrent');
    await temporal('workflow result --workflow-id night-1');
    await everturn.mustCall('check', 'night-1');
    const complete = 'EverturnRun = "night-1" AND EverturnOutcome = "complete"';
    const found = await temporal('workflow count', '--query', complete);
    expect(found.stdout).toMatch(new RegExp(`\\b${ROWS}\\b`));
  });
});
