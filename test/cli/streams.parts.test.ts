// The command line as a process whose output cannot be written: a full disk, a reader that went away.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, closeSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Io } from '../../cli/io.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const pairs = join(folder, 'pairs.jsonl');
writeFileSync(pairs, `${JSON.stringify({ answer: '\\boxed{4}', solution: '4' })}\n`);

const COMMANDS = [
  ['judge', pairs],
  ['config', 'show'],
  ['run', '--help'],
];

async function ended(args: readonly string[], stdio: readonly ('pipe' | 'ignore' | number)[], closed: boolean) {
  const env: Io['env'] = { ...process.env, EVERTURN_HOME: join(folder, 'home') };
  const child = spawn(process.execPath, [resolve('dist/cli/index.js'), ...args], { env, stdio: [...stdio] });
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  if (closed) child.stdout!.destroy();
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, err };
}

describe('a command whose stdout cannot be written', () => {
  test.for(COMMANDS)('says that the disk is full, and fails: %s', async (args, context) => {
    if (!existsSync('/dev/full')) return context.skip('this system has no /dev/full');
    const full = openSync('/dev/full', 'w');
    const { code, err } = await ended(args, ['ignore', full, 'pipe'], false);
    closeSync(full);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/cannot write stdout: the disk is full.*Repeat the command/),
    ]);
  });

  test.for(COMMANDS)('ends as SIGPIPE does, and says nothing, when its reader has gone: %s', async (args) => {
    const { code, err } = await ended(args, ['ignore', 'pipe', 'pipe'], true);
    expect([code, err.includes('unexpected')]).toEqual([141, false]);
  });

  test('ends with its own code when only stderr is full', async (context) => {
    if (!existsSync('/dev/full')) return context.skip('this system has no /dev/full');
    const full = openSync('/dev/full', 'w');
    expect((await ended(['judge', join(folder, 'none.jsonl')], ['ignore', 'pipe', full], false)).code).toBe(6);
    closeSync(full);
  });
});
