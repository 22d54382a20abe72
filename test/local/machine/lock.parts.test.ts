import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { lock, lockHolder, tryLock } from '../../../local/machine/lock.ts';
import { identify } from '../../../local/machine/process.ts';
import { compiledRoom } from '../../support/compiled.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { until } from '../../support/until.ts';

describe('a lock', () => {
  test('refuses a second holder and names the first', async () => {
    const folder = join(testFolder(), 'lock');
    const first = await tryLock(folder);
    expect(await tryLock(folder, 1)).toEqual({ heldBy: identify(process.pid) });
    expect(lockHolder(folder)).toEqual(identify(process.pid));
    if ('release' in first) first.release();
    expect(lockHolder(folder)).toBeUndefined();
    expect(await tryLock(folder)).toHaveProperty('release');
  });

  test('ignores and removes the claim of a dead process, also when its pid lives again', async () => {
    const folder = join(testFolder(), 'lock');
    mkdirSync(folder);
    const here = encodeURIComponent(hostname()).replaceAll('.', '%2E');
    for (const claim of [`${here}.999999999.5.1`, `${here}.${process.pid}.5.1`]) writeFileSync(join(folder, claim), '');
    expect(await tryLock(folder)).toHaveProperty('release');
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('respects the fresh claim of another machine that shares the folder', async () => {
    const folder = join(testFolder(), 'lock');
    mkdirSync(folder);
    writeFileSync(join(folder, 'elsewhere.1.5.1'), '');
    expect(await tryLock(folder, 1)).toHaveProperty('heldBy');
  });

  test('passes on when its holder is killed', async () => {
    const folder = join(testFolder(), 'lock');
    const holder = spawn(process.execPath, ['--input-type=module', '-e', holding(folder)]);
    await until('the holder holds', () => lockHolder(folder));
    const mine = lock(folder, undefined, 20);
    holder.kill('SIGKILL');
    (await mine).release();
  });

  test('never has two holders among eight processes that fight for it', async () => {
    const root = testFolder();
    writeFileSync(join(root, 'count'), '0');
    // Each adds one, twenty times, by a read and a write that lose additions unless they exclude each other.
    const script = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    const { lock } = await import(${JSON.stringify(`${compiledRoom('local/machine')}/lock.js`)});
    for (let i = 0; i < 20; i++) {
      const held = await lock(${JSON.stringify(join(root, 'lock'))}, undefined, 2);
      const n = Number(readFileSync(${JSON.stringify(join(root, 'count'))}, 'utf8'));
      await sleep(1);
      writeFileSync(${JSON.stringify(join(root, 'count'))}, String(n + 1));
      held.release();
    }`;
    const run = promisify(execFile);
    await Promise.all(Array.from({ length: 8 }, () => run(process.execPath, ['--input-type=module', '-e', script])));
    expect(readFileSync(join(root, 'count'), 'utf8')).toBe('160');
  });
});

function holding(folder: string): string {
  return `
    const { tryLock } = await import(${JSON.stringify(`${compiledRoom('local/machine')}/lock.js`)});
    await tryLock(${JSON.stringify(folder)});
    setInterval(() => undefined, 1000);`;
}
