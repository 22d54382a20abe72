// The rig itself: its witnesses see what was done, or the chaos tests prove nothing.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { canonical } from './checker.ts';
import { readRun } from './folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-rig-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a run’s folder, read by a stranger', () => {
  test('is whole where nothing was done to it, and one changed byte, a foreign file and a lost turn are seen', async () => {
    const store = openLoose(folder);
    const query = aQuery('q1');
    await putRun(store, [query]);
    await play(store, { query, verdicts: ['wrong', 'right', 'wrong'], stop: 'max-turns' });
    const names = readdirSync(store.folder, { recursive: true, encoding: 'utf8' });
    const fileOf = (name: string) =>
      join(
        store.folder,
        names.find((path) => path.endsWith(name))!,
      );
    const read = () => readRun(join(folder, RUN));
    const { rollouts, problems } = read();
    const { turns, verdicts, end } = rollouts.get('q1/0')!;
    expect([problems, turns.length, verdicts.length, end?.['outcome']]).toEqual([[], 3, 3, 'complete']);

    const path = fileOf('turn-002.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"turn":2', '"turn":3'));
    expect(read().problems.length).toBeGreaterThan(0);
    writeFileSync(path, text);
    writeFileSync(join(path, '../turn-2.json'), text);
    expect(read().problems.length).toBeGreaterThan(0);
    rmSync(join(path, '../turn-2.json'));
    writeFileSync(fileOf('end.json'), readFileSync(fileOf('end.json'), 'utf8').replace('"complete"', '"undecided"'));
    expect(canonical(read().rollouts)).not.toBe(canonical(rollouts));
    rmSync(path);
    expect(read().problems.length).toBeGreaterThan(0);
  });
});
