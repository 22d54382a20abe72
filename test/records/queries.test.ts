import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countQueries, hashOfQueriesFile, hashQueries, readQueries, writeQueries } from '../../records/run/queries.ts';
import { aQuery } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

const queries = Array.from({ length: 20 }, (_, i) => aQuery(`q${i}`));
async function written() {
  const folder = mkdtempSync(join(root, 'r-'));
  await writeQueries(folder, queries);
  return { folder, lines: join(folder, 'queries.jsonl'), index: join(folder, 'queries.index') };
}

describe('the queries of a run', () => {
  test('the hash of accepted rows is that of the file they become', async () => {
    const { folder, lines } = await written();
    const { sha256, accepted } = await hashQueries(queries);
    expect(accepted).toBe(20);
    expect(await hashOfQueriesFile(folder)).toBe(sha256);
    expect(createHash('sha256').update(readFileSync(lines)).digest('hex')).toBe(sha256);
  });

  test.each<[string, (index: string) => void]>([
    ['lost', (index) => rmSync(index)],
    ['empty', (index) => truncateSync(index, 0)],
    ['torn', (index) => truncateSync(index, 27)],
    ['torn at an entry', (index) => truncateSync(index, 80)],
    ['of another file', (index) => writeFileSync(index, readFileSync(index).fill(7, 8, 16))],
    ['foreign', (index) => writeFileSync(index, Buffer.alloc(176))],
  ])('an index that is %s is made anew from the lines', async (_, harm) => {
    const { folder, index } = await written();
    const before = readFileSync(index);
    harm(index);
    expect(await readQueries(folder, 3, 4)).toEqual(queries.slice(3, 7));
    expect(await countQueries(folder)).toBe(20);
    expect(readFileSync(index)).toEqual(before);
  });

  test('an index that names another end is an error that names it and its byte, and is made anew once it is gone', async () => {
    const { folder, index } = await written();
    const bytes = readFileSync(index);
    writeFileSync(index, bytes.with(32, bytes[32]! ^ 1));
    const message = `${index} is changed at byte 32: it names other ends than the lines of queries.jsonl have`;
    await expect(readQueries(folder, 0, 20)).rejects.toMatchObject({ message, fix: expect.stringContaining('Remove') });
    rmSync(index);
    expect(await readQueries(folder, 0, 20)).toEqual(queries);
  });

  test('torn lines are an error that names file and line, and are not taken for fewer queries', async () => {
    const { folder, lines, index } = await written();
    truncateSync(lines, statSync(lines).size - 5);
    await expect(countQueries(folder)).rejects.toMatchObject({
      reason: 'record-broken',
      message: expect.stringContaining(lines),
    });
    rmSync(index);
    await expect(readQueries(folder, 0, 1)).rejects.toMatchObject({ reason: 'record-broken' });
  });

  test('a line changed in place is an error that names it; the others can be read', async () => {
    const { folder, lines } = await written();
    writeFileSync(lines, readFileSync(lines, 'utf8').replace('"queryId":"q4"', '"queryId";"q4"'));
    await expect(readQueries(folder, 0, 20)).rejects.toMatchObject({ message: expect.stringContaining('line 5') });
    expect(await readQueries(folder, 5, 2)).toEqual(queries.slice(5, 7));
  });

  test('of two racing writers one data set stands, lines and index alike', async () => {
    const folder = mkdtempSync(join(root, 'r-'));
    const others = [aQuery('other')];
    const counts = await Promise.all([writeQueries(folder, queries), writeQueries(folder, others)]);
    expect(new Set(counts).size).toBe(1);
    const kept = await readQueries(folder, 0, 99);
    expect([queries, others]).toContainEqual(kept);
    expect(kept).toHaveLength(counts[0]!);
  });
});
