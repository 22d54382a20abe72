import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { spawnGuarded } from '../../../local/machine/guarded.ts';
import { identify, isAlive, type ProcessId } from '../../../local/machine/process.ts';
import { compiledRoom } from '../../support/compiled.ts';
import { parentOf } from '../../support/processes.ts';
import { program } from '../service/support.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { until } from '../../support/until.ts';

const QUIET = { stdout: 'ignore', stderr: 'ignore' } as const;

describe('a guarded process', () => {
  test('reports how the program ended', async () => {
    const child = await spawnGuarded('sh', ['-c', 'exit 7'], QUIET);
    expect(await child.exited).toBe('ended with exit code 7');
  });

  test('rejects nothing and reports the failure when there is no such program', async () => {
    const child = await spawnGuarded('/nowhere/program', [], QUIET);
    expect(await child.exited).toBe('ended with exit code 127');
  });

  test('stops a program by SIGTERM, and a deaf one by SIGKILL', async () => {
    const polite = await spawnGuarded('sleep', ['600'], QUIET);
    await polite.stop(5_000);
    expect(await polite.exited).toBe('killed by signal 15');

    const folder = testFolder();
    const deaf = await spawnGuarded(
      program(folder, 'deaf', `trap '' TERM; echo up > ${folder}/up; exec sleep 600`),
      [],
      QUIET,
    );
    await until('the program is deaf', () => readable(join(folder, 'up')));
    await deaf.stop(200);
    expect(await deaf.exited).toBe('killed by signal 9');
    expect(isAlive(deaf.id)).toBe(false);
  });

  test('a program ends when its owner is killed, deaf to SIGTERM or not', async () => {
    const programs = ['exec sleep 600', `trap '' TERM; exec sleep 600`].map(async (script) => {
      const { owner, id } = await ownerOf(script);
      expect(isAlive(id)).toBe(true);
      owner.kill('SIGKILL');
      await until('the program ends', () => !isAlive(id));
    });
    await Promise.all(programs);
  });

  test('a program ends when the shell between is killed', async () => {
    const child = await spawnGuarded('sleep', ['600'], QUIET);
    process.kill(parentOf(child.id.pid), 'SIGKILL');
    expect(await child.exited).toBe('its guard was killed by SIGKILL');
    expect(isAlive(child.id)).toBe(false);
  });
});

async function ownerOf(script: string): Promise<{ owner: ReturnType<typeof spawn>; id: ProcessId }> {
  const source = `
    const { spawnGuarded } = await import(${JSON.stringify(`${compiledRoom('local/machine')}/guarded.js`)});
    const child = await spawnGuarded('sh', ['-c', ${JSON.stringify(script)}], { stdout: 'ignore', stderr: 'ignore' });
    console.log(child.id.pid);
    setInterval(() => undefined, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((resolve) =>
    owner.stdout.once('data', (line) => resolve(Number(String(line)))),
  );
  const id = identify(pid);
  if (!id) throw new Error(`no process ${pid}`);
  return { owner, id };
}

function readable(file: string): boolean {
  try {
    return readFileSync(file, 'utf8') !== '';
  } catch {
    return false;
  }
}
