// The command line as it is parsed: one flag for each option of a run, and help that names them all.

import { describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { resolveRunFlags, type RunFlags } from '../../cli/run-flags.ts';
import { buildProgram, usageText } from '../../cli/program.ts';
import { flagOf } from '../../domain/errors/unusable.ts';
import { FIELDS } from '../../run/options.ts';
import { scriptedIo } from './scripted-io.ts';

const COMMANDS =
  'demo run list status show why check judge export pause resume tune update-weights cancel up down worker'.split(' ');

describe('the command line', () => {
  test('help lists every command', async () => {
    const program = await buildProgram(scriptedIo(), ['--help'], () => {});
    const help = program.helpInformation();
    for (const command of COMMANDS) expect(help).toMatch(new RegExp(`^ {2}${command} {2,}\\S`, 'm'));
  });

  test.each(COMMANDS)('%s explains itself with an example', async (name) => {
    const io = scriptedIo();
    const program = await buildProgram(io, [name, '--help'], () => {});
    await expect(program.parseAsync([name, '--help'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 });
    expect(io.text.out).toMatch(new RegExp(`Usage: everturn ${name}`));
    expect(io.text.out).toMatch(new RegExp(`Example:\\n {2}.*everturn ${name}`));
  });

  test.each(COMMANDS.filter((name) => name !== 'worker'))('%s takes --json', async (name) => {
    const program = await buildProgram(scriptedIo(), [name], () => {});
    expect(program.commands.find((c) => c.name() === name)?.options.map((o) => o.long)).toContain('--json');
  });

  test('every option of a run is a flag of run and of demo', async () => {
    for (const name of ['run', 'demo']) {
      const program = await buildProgram(scriptedIo(), [name], () => {});
      const flags = program.commands.find((c) => c.name() === name)?.options.map((o) => o.long);
      for (const key of Object.keys(FIELDS)) expect(flags).toContain(flagOf(key));
    }
  });

  test('help shows each default as a user would write it', async () => {
    const program = await buildProgram(scriptedIo(), ['run'], () => {});
    const lines = program.commands.find((c) => c.name() === 'run')!.helpInformation();
    const help = lines.replace(/\s+/g, ' ');
    expect(help).toContain('(default: 16)');
    expect(help).not.toMatch(/object Object|default: (?:null|undefined|false|\)|$)/m);
  });

  test('help of a run shows common options, and with --all every one', async () => {
    const shown = async (...args: string[]) => {
      const program = await buildProgram(scriptedIo(), ['run', '--help', ...args], () => {});
      const help = program.commands.find((c) => c.name() === 'run')!.helpInformation();
      return Object.keys(FIELDS).filter((key) => new RegExp(`^  ${flagOf(key)} `, 'm').test(help)).length;
    };
    expect(await shown()).toBe(11);
    expect(await shown('--all')).toBe(Object.keys(FIELDS).length);
  });

  test('a flag wins over --set, that over the environment, that over the command’s own default', () => {
    const defaults = { maxNewTokens: 128 };
    const at = (flags: RunFlags, env: Record<string, string>) =>
      resolveRunFlags(flags, scriptedIo({ env }), { defaults }).options.maxNewTokens;
    expect(at({}, {})).toBe(128);
    expect(at({}, { EVERTURN_MAX_NEW_TOKENS: '5' })).toBe(5);
    expect(at({ set: ['maxNewTokens=6'] }, { EVERTURN_MAX_NEW_TOKENS: '5' })).toBe(6);
    expect(at({ set: ['maxNewTokens=6'], maxNewTokens: '7' }, { EVERTURN_MAX_NEW_TOKENS: '5' })).toBe(7);
  });

  test('what the command line cannot mean is one paragraph that names the command', () => {
    expect(usageText("error: unknown option '--num-turn'\n(Did you mean --num-turns?)\n", 'run')).toBe(
      "everturn run: unknown option '--num-turn' (Did you mean --num-turns?) See `everturn run --help`.\n",
    );
    expect(usageText("error: unknown command 'x'", 'x')).toBe(
      "everturn: unknown command 'x'. See `everturn --help`.\n",
    );
  });

  test('an error names a command as it can be typed: in a checkout through npx', async () => {
    const said = async (env: Record<string, string>) => {
      const io = scriptedIo({ env: { EVERTURN_HOME: '/nowhere', ...env } });
      expect(await main(io, ['help', 'conjure'])).toBe(2);
      return io.text.err;
    };
    expect(await said({})).toContain('`everturn --help`');
    expect(await said({ npm_command: 'exec' })).toMatch(/^everturn: .*`npx --no-install everturn --help`/);
  });

  test.each([
    ['conjure', '--help'],
    ['help', 'conjure'],
    ['toString', '-h'],
  ])('help for a command that is not there says so: %s %s', async (...args) => {
    const named = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
    await expect(buildProgram(scriptedIo(), args, () => {})).rejects.toMatchObject({
      reason: 'unknown-command',
      message: expect.stringContaining(`"${named}"`),
    });
  });
});
