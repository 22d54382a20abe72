// Rows of one key, in memory and out of a file.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openGroups } from '../../../records/check/groups.ts';
import { sha256 } from '../../../records/format/text.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-groups-'));
vi.stubEnv('TMPDIR', folder);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe('groups of rows', () => {
  test.each([
    ['in memory', 1 << 20],
    ['in a file', 500],
  ])('with a key of their own are left out, others are found in their order: %s', (_, memory) => {
    const groups = openGroups(memory);
    for (let i = 0; i < 2000; i++) groups.add(sha256(String(i < 1000 ? i : i % 1900)), [String(i), `naïve ${i}`]);
    const found = [...groups.several()].toSorted((a, b) => Number(a[0]![0]) - Number(b[0]![0]));
    expect(found.length).toBe(100);
    expect(found[7]).toEqual([
      ['7', 'naïve 7'],
      ['1907', 'naïve 1907'],
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
