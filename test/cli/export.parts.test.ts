// `everturn export --to` against files, folders, devices and pipes that it cannot or must not write.

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { rolloutFolder } from '../../records/format/layout.ts';
import { makeRun } from '../bench/ended-rig.ts';
import { RUN } from '../records/play.ts';
import { call } from './command-line.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const BIN = join(import.meta.dirname, '../../dist/cli/index.js');
const folder = scratchFolder();

const ROLLOUTS = 60;
beforeAll(() => makeRun(join(folder, 'runs'), ROLLOUTS, { loose: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function shell(script: string): Promise<Ended> {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    EVERTURN: `${process.execPath} ${BIN}`,
    EVERTURN_HOME: join(folder, 'home'),
  };
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd: folder, env, maxBuffer: 1e9 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
  });
}
/** What is written does not depend on a process of its own. */
const exporting = (to: string, ...more: string[]) =>
  call(folder, ['export', RUN, '--format', 'areal', '--to', to, ...more]);
const leftovers = () => readdirSync(folder).filter((name) => name.startsWith('.'));

describe('an export to a file', () => {
  test('is whole, and refuses to replace one that is there unless it is told to', async () => {
    expect(await exporting('a.jsonl')).toMatchObject({ code: 0 });
    const whole = readFileSync(join(folder, 'a.jsonl'), 'utf8');
    expect(whole.trimEnd().split('\n')).toHaveLength(ROLLOUTS);
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    symlinkSync('mine.txt', join(folder, 'link.txt'));
    for (const there of ['mine.txt', 'link.txt', './mine.txt', 'a.jsonl']) {
      const ended = await exporting(there);
      expect(ended.code, there).toBe(2);
      expect(ended.err).toMatch(/exists already\. Replace it with --overwrite/);
    }
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine');
    expect(await exporting('link.txt', '--overwrite')).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe(whole);
    expect(leftovers()).toEqual([]);
  });

  test('goes into a folder that ends with a slash, made if need be, under the name of the run', async () => {
    const whole = readFileSync(join(folder, 'a.jsonl'), 'utf8');
    const ended = await exporting('new/folder/');
    expect(ended).toMatchObject({ code: 0, out: '' });
    expect(ended.err).toContain(`They are in ./new/folder/${RUN}.jsonl.`);
    expect(readFileSync(join(folder, `new/folder/${RUN}.jsonl`), 'utf8')).toBe(whole);
    expect((await exporting('new/folder/')).err).toMatch(/exists already\. Replace it with --overwrite/);
    const parquet = await call(folder, ['export', RUN, '--format', 'parquet', '--to', 'new/folder/']);
    expect(parquet.err).toContain(`They are in ./new/folder/${RUN}.parquet.`);
    expect(readFileSync(join(folder, `new/folder/${RUN}.parquet`), 'latin1')).toMatch(/^PAR1/);
    // A name that a file has already is no folder.
    expect(await exporting('a.jsonl/')).toMatchObject({ code: 2 });
  });

  test('names what the file system refuses, and leaves nothing behind', async () => {
    mkdirSync(join(folder, 'dir'));
    writeFileSync(join(folder, 'file'), '');
    for (const [out, code, words] of [
      ['dir', 2, 'a folder has the name of that file'],
      ['file/x', 2, 'is a file, not a folder'],
      ['/proc/none/x', 2, 'cannot write'],
      ['x'.repeat(300), 2, 'the path is too long'],
      ['/dev/full', 1, 'the disk is full'],
    ] as const) {
      const ended = await exporting(out);
      expect(ended, out).toMatchObject({ code, out: '' });
      expect(ended.err, out).toContain(words);
      expect(ended.err, out).not.toMatch(/unexpected error|the run continues by itself|--verbose/);
    }
    expect(leftovers()).toEqual([]);
    // A file that may grow no further, as on a disk that is full: the old one stays whole.
    writeFileSync(join(folder, 'old.jsonl'), 'old');
    const ended = await shell(
      `ulimit -f 100; trap "" XFSZ; $EVERTURN export ${RUN} --format areal --to old.jsonl --overwrite`,
    );
    expect(ended.stderr).toContain('larger than allowed');
    expect(ended.code).toBe(1);
    expect(readFileSync(join(folder, 'old.jsonl'), 'utf8')).toBe('old');
    expect(leftovers()).toEqual([]);
  });
});

describe('an export of a run with a broken record', () => {
  const broken = (format: string, to: string, ...more: string[]) =>
    call(folder, ['export', 'broken', '--format', format, '--to', to, ...more]);
  beforeAll(() => {
    cpSync(join(folder, 'runs', RUN), join(folder, 'runs/broken'), { recursive: true });
    const turn = join(folder, 'runs/broken', rolloutFolder({ query: 'q1', sample: 0, attempt: 1 }), 'turn-001.json');
    writeFileSync(turn, readFileSync(turn, 'utf8').replace('"tiny"', '"other"'));
  });

  test.each(['areal', 'parquet'])('as %s ends with 1, and replaces no file of before', async (format) => {
    const made = await broken(format, `part.${format}`);
    expect(made.code).toBe(1);
    expect(made.err).toMatch(/left out: 1 broken\.[^]*check .*broken.* names what is broken/);
    expect(existsSync(join(folder, `part.${format}`))).toBe(true);
    writeFileSync(join(folder, 'whole'), 'whole');
    const again = await broken(format, 'whole', '--overwrite');
    expect(again.code).toBe(1);
    expect(again.err).toMatch(/whole stays as it was: 1 rollout is broken/);
    expect(readFileSync(join(folder, 'whole'), 'utf8')).toBe('whole');
    expect(leftovers()).toEqual([]);
  });

  test('ends with 1 where it goes to a pipe', async () => {
    expect((await shell('$EVERTURN export broken --format areal > /dev/null')).code).toBe(1);
    expect((await broken('areal', '/dev/null', '--overwrite')).code).toBe(1);
  });
});

describe('an export to a pipe', () => {
  test('ends quietly, as SIGPIPE does, when its reader has enough', async () => {
    const ended = await shell(`$EVERTURN export ${RUN} --format areal | head -c 10; echo " \${PIPESTATUS[0]}"`);
    expect(ended.stdout).toMatch(/ 141\n$/);
    expect(ended.stderr).not.toMatch(/error/i);
  });

  test('says so where the pipe was named by --to', async () => {
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    const ended = await shell(`head -c 10 fifo > /dev/null & $EVERTURN export ${RUN} --format areal --to fifo`);
    expect(ended.stderr).toContain('no process reads from that pipe');
    expect(ended.stderr).not.toContain('unexpected');
    expect(ended.code).toBe(1);
    expect(existsSync(join(folder, 'fifo'))).toBe(true);
  });
});
