import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { StoreError } from '../../domain/errors/errors.ts';
import { BLOCKING_FILES } from '../../records/disk/blocking-files.ts';
import { isOlderThan } from '../../records/disk/clock.ts';
import { fileError } from '../../records/disk/errors.ts';
import { NODE_FILES } from '../../records/disk/file-layer.ts';
import { temporaryName, writerName } from '../../records/disk/writer.ts';
import { removeOldTemporaries } from '../../records/places/files.ts';
import { readText, replaceFile, writeOnce } from '../../records/disk/write-once.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();
const place = () => join(mkdtempSync(join(root, 'd-')), 'new', 'folders', 'file.json');
const systemError = (code: string) => Object.assign(new Error(code), { code });
const noLinks = { ...NODE_FILES, link: () => Promise.reject(systemError('EPERM')) };

describe('writing once', () => {
  test('the first writer wins, and the file is never touched again', async () => {
    const path = place();
    expect(await writeOnce(path, 'first')).toBe(true);
    expect(await writeOnce(path, 'second')).toBe(false);
    expect(await readText(path)).toBe('first');
    expect(readdirSync(join(path, '..'))).toEqual(['file.json']);
  });

  test('one of many writers wins, also where the file system has no links', async () => {
    for (const layer of [NODE_FILES, BLOCKING_FILES, noLinks, { ...BLOCKING_FILES, link: noLinks.link }]) {
      const path = place();
      const won = await Promise.all(Array.from({ length: 12 }, (_, i) => writeOnce(path, `writer ${i}`, layer)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(readFileSync(path, 'utf8')).toBe(`writer ${won.indexOf(true)}`);
      expect(readdirSync(join(path, '..'))).toEqual(['file.json']);
    }
  });

  test('a name that may be lost with its folder is not acknowledged, and is there for the next try', async () => {
    const path = place();
    await writeOnce(join(path, '..', 'other.json'), 'x');
    const failing = (code: string) => ({
      ...NODE_FILES,
      open: async (opened: string, flags: 'r' | 'wx') => {
        const file = await NODE_FILES.open(opened, flags);
        if (flags === 'r') file.sync = () => Promise.reject(systemError(code));
        return file;
      },
    });
    await expect(writeOnce(path, 'x', failing('EIO'))).rejects.toThrow(StoreError);
    expect(await writeOnce(path, 'x', failing('EINVAL'))).toBe(false);
    expect(await readText(path)).toBe('x');
  });

  test('a lock that a killed writer left is taken over', async () => {
    const path = place();
    const lock = join(path, '..', '.file.json.lock.tmp');
    mkdirSync(lock, { recursive: true });
    utimesSync(lock, 0, 0);
    expect(await writeOnce(path, 'x', noLinks)).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });

  test('a disk that fills up in the middle of a file leaves nothing behind, and is worth trying again', async () => {
    const path = place();
    const half = async (file: { writeFile(text: string): Promise<void> }) => {
      await file.writeFile('half of it');
      throw systemError('ENOSPC');
    };
    for (const write of [writeOnce, replaceFile]) {
      const error = await write(path, half).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ reason: 'disk-full', retryable: true, message: expect.stringContaining(path) });
      expect(readdirSync(join(path, '..'))).toEqual([]);
    }
    expect(await writeOnce(path, 'now')).toBe(true);
  });

  test('a file where a folder should be is an error that names it and cannot be retried', async () => {
    const blocked = join(root, 'blocked');
    writeFileSync(blocked, '');
    const error = await writeOnce(join(blocked, 'a', 'b.json'), 'x').catch((e: unknown) => e);
    expect(error).toMatchObject({
      reason: 'not-a-folder',
      retryable: false,
      message: expect.stringContaining(blocked),
    });
    await expect(readText(join(blocked, 'b.json'))).rejects.toMatchObject({ reason: 'not-a-folder' });
  });

  test.each([
    ['ENOSPC', 'disk-full', true],
    ['EDQUOT', 'disk-full', true],
    ['EACCES', 'no-permission', true],
    ['EROFS', 'read-only', true],
    ['EMFILE', 'too-many-files', true],
    ['EIO', 'io-error', true],
    ['EWHATEVER', 'io-error', false],
  ])('%s is %s', (code, reason, retryable) => {
    const cause = systemError(code);
    expect(fileError('write', '/a/b', cause)).toMatchObject({
      reason,
      retryable,
      cause,
      message: expect.stringContaining('cannot write /a/b'),
    });
  });

  test('what a killed writer left is cleared when it is old, and nothing else', async () => {
    const folder = mkdtempSync(join(root, 'd-'));
    for (const name of ['.a.json.1-aa.tmp', '.b.json.2-bb.tmp', 'a.json', '.keep'])
      writeFileSync(join(folder, name), 'x');
    for (const name of ['.a.json.1-aa.tmp', 'a.json', '.keep']) utimesSync(join(folder, name), 0, 0);
    await removeOldTemporaries(folder);
    expect(readdirSync(folder).sort()).toEqual(['.b.json.2-bb.tmp', '.keep', 'a.json']);
  });

  test('what a killed writer of this machine left is cleared at once, and no file of a live one or of another machine', async () => {
    const folder = mkdtempSync(join(root, 'dead-'));
    const mine = temporaryName('a.json', writerName());
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const dead = mine.replace(`.${process.pid}-`, `.${pid}-`);
    const elsewhere = dead.replace(/-[0-9a-f]{8}-/, '-00000000-');
    for (const name of [mine, dead, elsewhere]) writeFileSync(join(folder, name), 'x');
    await removeOldTemporaries(folder);
    expect(readdirSync(folder).sort()).toEqual([mine, elsewhere].sort());
  });

  test('a clock that runs ahead makes no writer’s file old, and takes no lock from who holds it', async () => {
    const folder = mkdtempSync(join(root, 'ahead-'));
    writeFileSync(join(folder, '.b.json.2-bb.tmp'), 'x');
    const lock = join(folder, '.c.json.lock.tmp');
    mkdirSync(lock);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
    try {
      await removeOldTemporaries(folder);
      expect(readdirSync(folder)).toContain('.b.json.2-bb.tmp');
      expect(await isOlderThan(lock, 10_000, folder, NODE_FILES)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});
