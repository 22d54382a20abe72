// Completion offers what exists, in a real bash, zsh and fish too, and nothing that a shell would run.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { candidates } from '../../cli/commands/completion.ts';
import { main } from '../../cli/main.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, putRun } from '../records/play.ts';
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

/** Types a line and a tab into a zsh in a terminal of its own, and prints what it shows once the wanted text is there. */
const ZSH_TERMINAL = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1='' PROMPT='' RPROMPT='' PS2=''; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; print READY-\\$((1+1))"
local all='' part
for i in {1..300}; do zpty -r -t z part && all+=$part; [[ $all == *READY-2* ]] && break; sleep 0.2; done
zpty -w -n z "$2"$'\\t'
all=''
for i in {1..300}; do while zpty -r -t z part; do all+=$part; done; [[ $all == *"$3"* ]] && break; sleep 0.2; done
print -r -- "$all"
zpty -d z
`;

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

  /** `everturn` on the path, and the script of a shell as a file. */
  async function installed(shell: string, name: string): Promise<{ script: string; env: NodeJS.ProcessEnv }> {
    const io = scriptedIo({ cwd });
    await main(io, ['completion', shell]);
    writeFileSync(join(cwd, name), io.text.out);
    const program = join(cwd, 'everturn');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist/cli/index.js')}" "$@"\n`);
    chmodSync(program, 0o755);
    const env = { ...process.env, PATH: `${cwd}:${process.env['PATH']}`, EVERTURN_HOME: join(cwd, 'home'), HOME: cwd };
    return { script: io.text.out, env };
  }
  const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

  test('works in fish', async ({ skip }) => {
    skip(!has('fish'), 'fish is not installed');
    const { env } = await installed('fish', 'everturn.fish');
    const typed = (line: string) =>
      execFileSync('fish', ['-N', '-c', `source everturn.fish; complete -C "${line}"`], { cwd, env, encoding: 'utf8' })
        .trim()
        .split('\n');
    expect(typed('everturn sta').sort()).toEqual(['stats', 'status']);
    expect(typed('everturn show r1 ari').sort()).toEqual(['arith-0001', 'arith-0002']);
    expect(typed('everturn stats --js')).toEqual(['--json']);
    expect(existsSync(join(cwd, 'owned'))).toBe(false);
  });

  test('works in an interactive zsh', async ({ skip }) => {
    skip(!has('zsh'), 'zsh is not installed');
    const { env } = await installed('zsh', '_everturn');
    writeFileSync(join(cwd, 'terminal.zsh'), ZSH_TERMINAL);
    const typed = (line: string, wanted: string) =>
      execFileSync('zsh', ['-f', 'terminal.zsh', cwd, line, wanted], { cwd, env, encoding: 'utf8' });
    expect(typed('everturn stats --js', '--json')).toContain('everturn stats --json');
    expect(typed('everturn show r1 ari', 'arith-000')).toContain('everturn show r1 arith-000');
    expect(existsSync(join(cwd, 'owned'))).toBe(false);
  });

  test('works in bash', async () => {
    const { script: text, env } = await installed('bash', 'everturn.bash');
    const typed = (...words: string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ');
      const script = `${text}\nCOMP_WORDS=(everturn ${line}); COMP_CWORD=${words.length}; _everturn; printf '%s\\n' "\${COMPREPLY[@]}"`;
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
