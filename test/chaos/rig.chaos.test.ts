// The rig itself: its witnesses see what was done, or the chaos tests prove nothing.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { canonical } from './checker.ts';
import { readRun } from './folder.ts';
import { phasesAtDeath } from './phases.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everturn-rig-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('phases at death', () => {
  const after = (...lines: string[]) => {
    writeFileSync(join(folder, '1.marks'), lines.map((line, i) => `${i} ${line}\n`).join(''));
    return [...phasesAtDeath(folder, 1).keys()];
  };
  const BEGUN = '0 generating generate r/q/0 2 1';
  const LINK = 'file:q/0/turn-002.json';

  test.each([
    ['generating', [BEGUN]],
    ['before-write', [BEGUN, `${LINK} before-write q/0 turn-002.json`]],
    ['unacknowledged', [BEGUN, `${LINK} before-write q/0 turn-002.json`, `${LINK} unacknowledged q/0 turn-002.json`]],
    ['evaluating', ['4 evaluating evaluate r/q/0 2 1']],
    ['collecting', ['5 collecting task 12']],
  ])('a process that died there was %s, and nothing else', (phase, lines) => {
    expect(after(...lines)).toEqual([phase]);
  });

  test('what had ended was in no phase', () => {
    const lines = [BEGUN, `${LINK} before-write q/0 turn-002.json`, `${LINK} unacknowledged q/0 turn-002.json`];
    expect(after(...lines, '0 - generate r/q/0 2 1')).toEqual([]);
    expect(after()).toEqual([]);
  });
});

describe('a run’s folder, read by a stranger', () => {
  const root = () => join(folder, RUN, 'rollouts');
  const file = (name: string) =>
    join(
      root(),
      readdirSync(root(), { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(name))!,
    );
  beforeEach(async () => {
    const store = openLoose(folder);
    const query = aQuery('q1');
    await putRun(store, [query]);
    await play(store, { query, verdicts: ['wrong', 'right', 'wrong'], stop: 'max-turns' });
  });

  test('is whole where nothing was done to it', () => {
    const { rollouts, problems } = readRun(join(folder, RUN));
    expect(problems).toEqual([]);
    const { turns, verdicts, end } = rollouts.get('q1/0')!;
    expect([turns.length, verdicts.length, end?.['outcome']]).toEqual([3, 3, 'complete']);
  });

  test('one changed byte, a torn record, a foreign file and a lost turn are each seen', () => {
    const path = file('turn-002.json');
    const text = readFileSync(path, 'utf8');
    const problems = () => readRun(join(folder, RUN)).problems.length;
    writeFileSync(path, text.replace('"turn":2', '"turn":3'));
    expect(problems()).toBeGreaterThan(0);
    writeFileSync(path, text.slice(0, -1));
    expect(problems()).toBeGreaterThan(0);
    writeFileSync(path, text);
    expect(problems()).toBe(0);
    writeFileSync(join(path, '../turn-2.json'), text);
    expect(problems()).toBeGreaterThan(0);
    rmSync(join(path, '../turn-2.json'));
    rmSync(path);
    expect(problems()).toBeGreaterThan(0);
  });

  test('the same text follows from the same play, and another from one other word', async () => {
    const before = canonical(readRun(join(folder, RUN)).rollouts);
    expect(canonical(readRun(join(folder, RUN)).rollouts)).toBe(before);
    const path = file('end.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"complete"', '"undecided"'));
    expect(canonical(readRun(join(folder, RUN)).rollouts)).not.toBe(before);
  });
});
