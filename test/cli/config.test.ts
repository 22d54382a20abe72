// `everturn config show`: each setting with its source, of a run to come and of one that is there.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import { aQuery, aRunRecord, putRun, someSettings } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

const cwd = scratchFolder();
beforeAll(() => putRun(openFileStore(join(cwd, 'runs'), 'r1'), [aQuery('q1')]));

const PROGRAM = { spec: ['x'], fingerprint: 'f'.repeat(64), timeoutSeconds: 9, maxCalls: 9 };
const TOOLS = { format: 'hermes', list: [], maxCalls: 9, outputBytes: 9 };

describe('config show', () => {
  const show = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    call(cwd, ['config', 'show', ...args], env);
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

  test.each([
    ['a program', 'program', { settings: { program: PROGRAM }, origins: { agent: 'config' } }, 'config'],
    [
      'a preset',
      'agent',
      { agent: { name: 'math-multi-turn', sampleOf: 'rollout' }, origins: { agent: 'flag' } },
      'flag',
    ],
    ['tools', 'tools', { settings: { tools: TOOLS }, origins: { mcp: 'flag', tool: 'default' } }, 'flag'],
  ] as const)('names the source of %s that a run plays with', async (_, setting, { origins, ...more }, origin) => {
    const given = { origins, ...('agent' in more && { agent: more.agent }) } satisfies Partial<RunRecord>;
    const settings = someSettings('settings' in more ? more.settings : {});
    await openFileStore(join(cwd, 'runs'), setting).put('run', null, aRunRecord(setting, settings, given));
    const { settings: shown } = JSON.parse((await show({}, setting, '--json')).out) as Shown;
    expect(shown.find(({ name }) => name === setting)).toMatchObject({ origin });
  });
});
