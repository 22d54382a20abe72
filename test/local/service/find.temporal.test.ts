import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TemporalError } from '../../../domain/errors/errors.ts';
import { findTemporal, type FindOptions } from '../../../local/service/binary/find.ts';
import type { ServerProgress } from '../../../local/machine/progress.ts';
import { fakeTemporal, program } from './support.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const SDK_FILE = 'temporal-sdk-typescript-1.24.0';

/** A machine on which every place is empty, and fetching and building fail. */
function bareMachine() {
  const root = testFolder();
  const folders = {
    path: join(root, 'bin'),
    cache: join(root, 'cache'),
    temp: join(root, 'tmp'),
    own: join(root, 'own'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  const told: ServerProgress[] = [];
  const options: FindOptions = {
    env: { PATH: folders.path, EVERTURN_CACHE: folders.cache, TMPDIR: folders.temp },
    onProgress: (progress) => told.push(progress),
    download: async () => ({ problem: 'no network' }),
    build: async () => ({ problem: 'no Go' }),
  };
  return { ...folders, options, told };
}

function cacheOf(machine: { readonly cache: string }): string {
  const folder = join(machine.cache, 'temporal-1.8.2');
  mkdirSync(folder, { recursive: true });
  return folder;
}

describe('the order', () => {
  test('takes the named binary before all others', async () => {
    const machine = bareMachine();
    fakeTemporal(machine.path);
    const named = fakeTemporal(machine.own);
    const env = { ...machine.options.env, EVERTURN_TEMPORAL_CLI: named };
    expect(await findTemporal({ ...machine.options, env })).toMatchObject({
      path: named,
      source: 'EVERTURN_TEMPORAL_CLI',
    });
  });

  test('takes PATH before the cache, the cache before the SDK’s file, that before a download', async () => {
    const machine = bareMachine();
    const places: [string, string][] = [
      ['SDK cache', fakeTemporal(machine.temp, '1.8.2', SDK_FILE)],
      ['cache', fakeTemporal(cacheOf(machine))],
      ['PATH', fakeTemporal(machine.path)],
    ];
    for (const [index, [source, path]] of places.entries()) {
      for (const [i, [, later]] of places.entries()) chmodSync(later, i <= index ? 0o755 : 0o644);
      expect(await findTemporal(machine.options)).toMatchObject({ source, path });
    }
  });

  test('builds only when the download failed, and says why it did', async () => {
    const machine = bareMachine();
    const built = { path: '/built/temporal', version: '1.8.2' };
    const found = await findTemporal({ ...machine.options, build: async () => built });
    expect(found).toEqual({ ...built, source: 'Go build' });
    expect(machine.told).toContainEqual({ kind: 'note', text: 'download: no network' });
  });
});

describe('a candidate', () => {
  test.each([
    ['is not executable', (folder: string) => writeFileSync(join(folder, 'temporal'), 'x'), /not executable/],
    [
      'is another program',
      (folder: string) => program(folder, 'temporal', 'echo I am cron'),
      /not answer as a Temporal CLI: I am cron/,
    ],
    ['fails', (folder: string) => program(folder, 'temporal', 'echo broken library >&2; exit 127'), /broken library/],
    ['is too old', (folder: string) => fakeTemporal(folder, '1.0.0'), /version 1\.0\.0.*at least 1\.4\.0/],
  ])('that %s is passed over with the reason', async (_, make, reason) => {
    const machine = bareMachine();
    make(machine.path);
    await expect(findTemporal(machine.options)).rejects.toThrow(reason);
  });

  test('without a version stamp counts as new', async () => {
    const machine = bareMachine();
    const path = fakeTemporal(machine.path, '0.0.0-DEV');
    expect(await findTemporal(machine.options)).toMatchObject({ path });
  });

  test('that others could have written into the shared temp folder is not run', async () => {
    const machine = bareMachine();
    chmodSync(fakeTemporal(machine.temp, '1.8.2', SDK_FILE), 0o777);
    await expect(findTemporal(machine.options)).rejects.toThrow(/can be written by others/);
  });

  test('that is named but absent is told at once, and the search goes on', async () => {
    const machine = bareMachine();
    const path = fakeTemporal(machine.path);
    const env = { ...machine.options.env, EVERTURN_TEMPORAL_CLI: '/nowhere/temporal' };
    expect(await findTemporal({ ...machine.options, env })).toMatchObject({ path });
    expect(machine.told).toEqual([{ kind: 'note', text: 'EVERTURN_TEMPORAL_CLI: no file /nowhere/temporal' }]);
  });
});

describe('finding Temporal', () => {
  test('one error lists every step tried and what to install', async () => {
    const machine = bareMachine();
    const error = await findTemporal(machine.options).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(TemporalError);
    const { message, fix } = error as TemporalError;
    const steps = [...message.matchAll(/^ {2}- ([^:]+):/gm)].map(([, step]) => step);
    expect(steps).toEqual(['EVERTURN_TEMPORAL_CLI', 'PATH', 'cache', 'SDK cache', 'download', 'Go build']);
    for (const word of ['brew install temporal', 'EVERTURN_TEMPORAL_CLI', 'Go 1.26.4', 'TEMPORAL_ADDRESS'])
      expect(fix).toContain(word);
  });

  test('two searches at once fetch one server', async () => {
    const machine = bareMachine();
    let builds = 0;
    const build: FindOptions['build'] = async ({ folder }) => {
      builds++;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { path: fakeTemporal(folder), version: '1.8.2' };
    };
    const found = await Promise.all([1, 2, 3].map(() => findTemporal({ ...machine.options, build })));
    expect(builds).toBe(1);
    expect(new Set(found.map(({ path }) => path)).size).toBe(1);
  });
});
