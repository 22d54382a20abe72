// A run's folder holds its records alone: no command writes a file of the user's choice there, under whatever name, and no
// run begins inside another one or around one. An export of nothing leaves no file anywhere.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { bucketEnvironment, openS3Server, useBuckets } from '../support/s3-server.ts';
import { bytesIn } from '../records/ended-rig.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

const cwd = scratchFolder();
const run = join(cwd, 'runs', RUN);
const query = aQuery('q');
async function runAt(out: string): Promise<void> {
  const settings = someSettings({ numTurns: 1 });
  const store = openFileStore(out, RUN);
  await putRun(store, [query], { settings });
  await play(store, { query, settings, verdicts: ['right'] });
}
beforeAll(async () => {
  await runAt(join(cwd, 'runs'));
  symlinkSync('runs', join(cwd, 'other'));
  symlinkSync(join('runs', RUN, 'rollouts'), join(cwd, 'deep'));
  symlinkSync(join('runs', RUN, 'run.json'), join(cwd, 'record.jsonl'));
});

const ended = (...args: string[]) => call(cwd, args);

const PLACES = [
  `runs/${RUN}/run.json`,
  `runs/${RUN}/new.jsonl`,
  `runs/./x/../${RUN}/queries.jsonl`,
  `runs/${RUN}/rollouts/new/deeper/x.jsonl`,
  `other/${RUN}/run.json`,
  'deep/x.jsonl',
  'record.jsonl',
];

describe('a file in the folder of a run', () => {
  const COMMANDS: Readonly<Record<string, (place: string) => string[]>> = {
    export: (place) => ['export', RUN, '--format', 'areal', '--overwrite', '--to', place],
    'export of a folder': (place) => ['export', RUN, '--format', 'logs', '--to', place],
    report: (place) => ['report', RUN, '--overwrite', '--to', place],
  };
  test.each(Object.entries(COMMANDS).flatMap(([name, of]) => PLACES.map((place) => [name, place, of] as const)))(
    'is not written by %s: %s',
    async (_, place, of) => {
      const before = bytesIn(run);
      const { code, err } = await ended(...of(place));
      expect([code, err]).toEqual([2, expect.stringContaining('is in the folder of a run')]);
      expect(bytesIn(run)).toEqual(before);
    },
  );

  test("is written beside runs, and beside another program's run.json", async () => {
    mkdirSync(join(cwd, 'theirs'));
    writeFileSync(join(cwd, 'theirs', 'run.json'), '{"format": 7}');
    for (const place of ['runs/x.jsonl', 'theirs/x.jsonl'])
      expect(await ended('export', RUN, '--format', 'rows', '--to', place)).toMatchObject({ code: 0 });
  });

  test('is not written in a bucket either', async () => {
    const server = await openS3Server();
    const restore = useBuckets(bucketEnvironment(server.url));
    await runAt('s3://bucket/runs');
    const to = (place: string) =>
      ended('export', RUN, '--format', 'rows', '--overwrite', '--to', `s3://bucket/${place}`);
    expect(await to(`runs/${RUN}/run.json`)).toMatchObject({ code: 2 });
    expect(await to(`runs/${RUN}/deep/x.jsonl`)).toMatchObject({ code: 2 });
    expect(await to('runs/x.jsonl')).toMatchObject({ code: 0 });
    restore();
    await server.close();
  });
});

describe('a run', () => {
  const begin = (out: string, name: string) => putRun(openFileStore(join(cwd, out), name), [query], { run: name });
  test.each([
    [`runs/${RUN}`, 'rollouts'],
    [`runs/${RUN}/rollouts`, 'inner'],
    [`other/${RUN}`, 'inner'],
    ['deep', 'inner'],
  ])('does not begin inside another one: --out %s --name %s', async (out, name) => {
    const before = bytesIn(run);
    await expect(begin(out, name)).rejects.toThrow('is in the folder of a run');
    expect(bytesIn(run)).toEqual(before);
  });

  test('does not begin around others', async () => {
    await expect(begin('.', 'runs')).rejects.toThrow(`holds runs, such as ${RUN}, and cannot be one`);
    expect(existsSync(join(cwd, 'runs', 'run.json'))).toBe(false);
  });
});

describe('an export of nothing', () => {
  test.each([
    ['dpo', ['--format', 'dpo']],
    ['rows', ['--format', 'rows', '--min-members', '1', '--success-rate', '0:0.5']],
    ['parquet', ['--format', 'parquet', '--success-rate', '0:0.5']],
  ])('ends with exit code 8, and leaves no file: %s', async (name, flags) => {
    const { code, err } = await ended('export', RUN, ...flags, '--to', `none-${name}`);
    expect([code, err]).toEqual([8, expect.stringContaining('Nothing is exported, and no file is written')]);
    expect(existsSync(join(cwd, `none-${name}`))).toBe(false);
  });

  test('leaves a file of before as it was, and says in JSON that there is none', async () => {
    writeFileSync(join(cwd, 'before.jsonl'), 'before');
    const flags = ['--format', 'dpo', '--overwrite', '--json', '--to', 'before.jsonl'];
    const { code, out } = await ended('export', RUN, ...flags);
    expect([code, JSON.parse(out)]).toEqual([8, expect.objectContaining({ empty: true, file: null })]);
    expect(readFileSync(join(cwd, 'before.jsonl'), 'utf8')).toBe('before');
  });
});
