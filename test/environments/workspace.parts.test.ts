// The folder of an attempt, with attempts that another one has followed: each in this process, with real programs.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeWorkspace, startIn, type Workspace } from '../../environments/processes/workspace.ts';
import { identify, isAlive, processesWith } from '../../local/machine/process.ts';
import { allPids, statOf } from '../support/processes.ts';
import { until } from '../support/until.ts';

let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'everturn-workspace-'));
  folder = join(home, 'abc');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const attempt = (token: string, signal = new AbortController().signal): Workspace => ({
  ...{ folder, token, signal },
  mark: ['EVERTURN_ROW', join(folder, 'row')],
});
const may = async () => undefined;
const file = (name: string) => join(folder, name);
const begin = (of: Workspace, name: string) => startIn(of, may, async () => writeFileSync(file(name), name));

describe('the folder of an attempt', () => {
  test('stays whole when an earlier attempt ends, and goes with its own end', async () => {
    const [first, second] = [attempt('first'), attempt('second')];
    await begin(first, 'a');
    await begin(second, 'b');
    await removeWorkspace(first);
    expect(readdirSync(folder)).toEqual(['b']);
    await removeWorkspace(second);
    expect(readdirSync(home)).toEqual(['locks']);
  });

  test('is empty for each attempt, also where the one before was killed in the middle', async () => {
    await begin(attempt('first'), 'a');
    await startIn(attempt('second'), may, async () => expect(readdirSync(folder)).toEqual([]));
    expect(readdirSync(home).toSorted()).toEqual(['abc', 'abc.owner', 'locks']);
  });

  test('is no attempt’s that was followed: it starts nothing, and the folder stays the other’s', async () => {
    await begin(attempt('second'), 'b');
    const followed = () => Promise.reject(new Error('followed'));
    await expect(startIn(attempt('first'), followed, async () => writeFileSync(file('a'), ''))).rejects.toThrow(
      'followed',
    );
    expect(readFileSync(file('b'), 'utf8')).toBe('b');
  });

  test('is waited for while another attempt starts there, and no longer than the attempt lasts', async () => {
    let started = (): void => undefined;
    const first = startIn(attempt('first'), may, () => new Promise<void>((resolve) => (started = resolve)));
    await until('the first holds it', () => existsSync(folder) || undefined);
    const ending = new AbortController();
    const second = startIn(attempt('second', ending.signal), may, async () => undefined);
    ending.abort(new Error('cancelled'));
    await expect(second).rejects.toThrow('cancelled');
    started();
    await first;
  });

  test('is begun when every process of an earlier attempt has ended: its group, and what left it', async () => {
    const first = attempt('first');
    const [name, value] = first.mark;
    const script = 'setsid sleep 1000 & (exec env -i sleep 1000) & sleep 1000';
    const { pid } = await startIn(first, may, async () =>
      spawn('sh', ['-c', script], {
        cwd: folder,
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, [name]: value },
      }),
    );
    await until('all of them run', async () => ((await processesWith(name, value)).length >= 3 ? true : undefined));
    const group = await until('one without its environment', () => inGroup(pid!).length >= 3 || undefined).then(() =>
      inGroup(pid!),
    );
    const all = [...(await processesWith(name, value)), ...group.flatMap((one) => identify(one) ?? [])];
    await startIn(attempt('second'), may, async () => undefined);
    expect(await processesWith(name, value)).toEqual([]);
    await until('none is left', () => !all.some(isAlive) || undefined);
  });
});

const inGroup = (group: number): number[] => allPids().filter((pid) => Number(statOf(pid)[2]) === group);
