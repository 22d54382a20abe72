// Completion offers what exists, in a real bash too, and nothing that a shell would run.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { candidates } from '../../cli/find/candidates.ts';
import { main } from '../../cli/main.ts';
import { openFileStore } from '../../storage/files.ts';
import { aQuery, putRun } from '../storage/play.ts';
import { ROOT } from '../house/tree.ts';
import { scriptedIo } from './scripted-io.ts';

let cwd: string;
const HOSTILE = ['$(touch owned)', '`touch owned`', 'a;touch owned', '-rf', 'a b', '*', '\u001b[31mred', "it's"];
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'everturn-'));
  await putRun(
    openFileStore(join(cwd, 'runs'), 'r1'),
    [...HOSTILE, 'arith-0001', 'arith-0002'].map((id) => aQuery(id)),
  );
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const offered = (...words: string[]) => candidates(scriptedIo({ cwd }), words);

describe('completion', () => {
  test('offers commands, and the flags of each with their values', async () => {
    expect(await offered('st')).toEqual(['status', 'stats']);
    expect(await offered('stats', 'r1', '--at')).toEqual(['--at-turn']);
    expect(await offered('compare', 'a', 'b', '--show', 'on')).toEqual(['only-a', 'only-b']);
    expect(await offered('completion', '')).toContain('fish');
  });

  test('offers runs and query ids, but none that a shell would expand', async () => {
    expect(await offered('show', '')).toEqual(['r1']);
    expect(await offered('compare', 'r1', '')).toEqual(['r1']);
    expect(await offered('show', 'r1', '')).toEqual(['arith-0001', 'arith-0002']);
    expect(await offered('show', '--out', join(cwd, 'nowhere'), '')).toEqual([]);
  });

  test('is silent, not an error, for words that mean nothing', async () => {
    for (const words of [['nope', ''], ['stats', 'nope', ''], ['--x'], ['show', 'r1', 'arith-0001', 'x', 'y', '']])
      expect(await offered(...words)).toEqual([]);
  });

  test('every command has a page of help that completion can read', async () => {
    for (const command of await offered('')) {
      if (!command.startsWith('-') && command !== 'help') expect(await offered(command, '--h')).toContain('--help');
    }
  });

  test.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
    const io = scriptedIo({ cwd });
    expect(await main(io, ['completion', shell])).toBe(0);
    expect(io.text.out).toContain(`completion for ${shell}`);
    if (!existsSync(`/usr/bin/${shell}`)) return;
    const file = join(cwd, `script.${shell}`);
    writeFileSync(file, io.text.out);
    execFileSync(shell, ['-n', file]);
  });

  test('works in bash', async () => {
    const io = scriptedIo({ cwd });
    await main(io, ['completion', 'bash']);
    const program = join(cwd, 'everturn');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist/cli/index.js')}" "$@"\n`);
    chmodSync(program, 0o755);
    const typed = (...words: string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ');
      const script = `${io.text.out}\nCOMP_WORDS=(everturn ${line}); COMP_CWORD=${words.length}; _everturn; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const env = { ...process.env, PATH: `${cwd}:${process.env['PATH']}`, EVERTURN_HOME: join(cwd, 'home') };
      return execFileSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' }).trim().split('\n');
    };
    expect(typed('sta')).toEqual(['status', 'stats']);
    expect(typed('show', 'r1', 'ari')).toEqual(['arith-0001', 'arith-0002']);
    expect(typed('stats', '--js')).toEqual(['--json']);
    expect(existsSync(join(cwd, 'owned'))).toBe(false);
  });
});

describe('config show', () => {
  const show = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const io = scriptedIo({ cwd, env });
    const code = await main(io, ['config', 'show', ...args]);
    return { code, ...io.text };
  };
  interface Shown {
    readonly settings: readonly {
      readonly name: string;
      readonly value: unknown;
      readonly origin: string;
      readonly from: string | null;
    }[];
  }

  test('names the source of each setting, of the highest precedence', async () => {
    const file = join(cwd, 'my.yaml');
    writeFileSync(file, 'numTurns: 2\nsamples: 3\ntemperature: 0.5\n');
    const args = ['--json', '--config', file, '--set', 'topP=0.9', '--samples', '8'];
    const { code, out } = await show({ EVERTURN_TEMPERATURE: '0.7' }, ...args);
    const { settings } = JSON.parse(out) as Shown;
    const of = (name: string) => settings.find((one) => one.name === name);
    expect(code).toBe(0);
    expect(of('numTurns')).toMatchObject({ value: 2, origin: 'config', from: `--config ${file}` });
    expect(of('temperature')).toMatchObject({ value: 0.7, origin: 'environment', from: 'EVERTURN_TEMPERATURE' });
    expect(of('topP')).toMatchObject({ value: 0.9, origin: 'flag', from: '--set' });
    expect(of('samples')).toMatchObject({ value: 8, origin: 'flag', from: '--samples' });
    expect(of('model')).toMatchObject({ value: 'tiny', origin: 'default', from: null });
  });

  test('shows the settings of a run, and takes no flag beside it', async () => {
    const { code, out } = await show({}, 'r1');
    expect(code).toBe(0);
    expect(out).toMatch(/numTurns +3 +flag/);
    expect((await show({}, 'r1', '--num-turns', '4')).code).toBe(2);
    expect((await show({}, 'nope')).code).toBe(2);
  });
});
