// A site's folder: whole or not there, replaced only if it is a site, and addresses that work below any folder.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeSite } from '../../viewer/site.ts';
import { RUN } from '../records/play.ts';
import { playSome, type ViewRig, viewRig } from './rig.ts';

let rig: ViewRig;
let folder: string;
beforeEach(async () => {
  rig = await viewRig();
  folder = join(rig.out, 'public');
  await playSome(rig.store);
});
afterEach(() => rig.close());

const bundle = { script: 'console.log("</script><!--")', style: 'p{}' };
const write = (replace = false) => writeSite({ ...rig, bundle }, RUN, { folder, replace, rollouts: 2, tokens: true });

describe('a site', () => {
  test('is one page with relative addresses, and a file for each part', async () => {
    const { files, rollouts, left } = await write();
    expect([files, rollouts]).toEqual([6, 2]);
    expect(readdirSync(join(folder, 'data/0')).sort()).toEqual([
      'rollout-0.json',
      'rollout-1.json',
      'run.json',
      'tokens-0.json',
      'tokens-1.json',
    ]);
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    expect(html).toContain("connect-src 'self'; ");
    expect(html).toContain("default-src 'none'");
    expect(html.match(/(?:src|href)="(?!data:,)[^"]*"/g)).toBeNull();
    expect(left.join()).toContain('the turns of 1 of 3 rollouts');
    expect(readdirSync(rig.out).filter((name) => name.includes('.tmp'))).toEqual([]);
  });

  test('holds no character that opens an element, whatever a host takes its files for', async () => {
    await write();
    for (const name of readdirSync(join(folder, 'data/0')))
      expect(readFileSync(join(folder, 'data/0', name), 'utf8')).not.toMatch(/[<>]/);
  });

  test('replaces a site if it may, and never another folder', async () => {
    await write();
    await expect(write()).rejects.toThrow('is there already');
    writeFileSync(join(folder, 'data/0/rollout-7.json'), '{}');
    await write(true);
    expect(existsSync(join(folder, 'data/0/rollout-7.json'))).toBe(false);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    await write();
    rmSync(join(folder, 'index.html'));
    await expect(write(true)).rejects.toThrow('holds other files');
    expect(existsSync(join(folder, 'data/0/run.json'))).toBe(true);
  });

  test('leaves nothing behind when it cannot be written', async () => {
    const failing = { ...rig, bundle, api: { ...rig.api, rollout: () => Promise.reject(new Error('gone')) } };
    await expect(writeSite(failing, RUN, { folder, replace: false, rollouts: 2, tokens: false })).rejects.toThrow(
      'gone',
    );
    expect(readdirSync(rig.out)).toEqual([RUN]);
  });
});
