import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { UndecidedPolicy } from '../../domain/samples/finished-turns.ts';
import { noCounts } from '../../domain/run/progress.ts';
import type { Query } from '../../domain/query/query.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import { areal } from '../../formats/exports/areal.ts';
import { checkRun } from '../../records/check/check.ts';
import { temporaryName, writerName } from '../../records/disk/writer.ts';
import { exportRun } from '../../records/export/export-run.ts';
import type { SkippedRollout } from '../../records/export/selection.ts';
import { openLoose } from './ended-rig.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { readTrajectories, readTrajectory } from '../../records/reading/trajectories.ts';
import { all } from '../contract/store.ts';
import { aQuery, play, putRun, RUN, someSettings } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();

const queries = ['zeta', 'a/b', 'Mid', 'late'].map((id) => aQuery(id));
beforeAll(async () => {
  const store = openLoose(join(root, 'whole'));
  await putRun(store, queries, { samples: 2 });
  const rollout = (index: number, sample: number, part: object) =>
    play(store, { query: queries[index]!, index, sample, verdicts: ['wrong', 'right', 'wrong'], ...part });
  await rollout(2, 1, {});
  await rollout(0, 1, { verdicts: ['right'], stop: null });
  await rollout(1, 0, { verdicts: ['wrong'], stop: 'failed', unjudged: 1 });
  await rollout(1, 0, { attempt: 2 });
  await rollout(0, 0, {});
  await rollout(2, 0, { verdicts: ['undecided'], stop: 'undecided' });
  await rollout(3, 0, { verdicts: [], stop: 'cancelled' });
  await play(store, { query: aQuery('by itself'), index: null, verdicts: ['right', 'right', 'right'] });
});

/** A copy of that run. */
function aRun() {
  const out = mkdtempSync(join(root, 'out-'));
  cpSync(join(root, 'whole'), out, { recursive: true });
  return openLoose(out);
}
const name = (trajectory: { rollout: { query: Query; sample: number; attempt: number } }) =>
  `${trajectory.rollout.query.queryId} ${trajectory.rollout.sample}.${trajectory.rollout.attempt}`;

describe('trajectories of a store', () => {
  test('trajectories come in data set order, then sample order, the last attempt of each, lone ones last', async () => {
    const store = aRun();
    const read = await all(readTrajectories(store));
    expect(read.map(name)).toEqual([
      'zeta 0.1',
      'zeta 1.1',
      'a/b 0.2',
      'Mid 0.1',
      'Mid 1.1',
      'late 0.1',
      'by itself 0.1',
    ]);
    const every = await all(readTrajectories(store, { attempts: 'all' }));
    expect(every.map(name)).toContain('a/b 0.1');
    expect(every).toHaveLength(8);
  });

  test('a trajectory has its turns with their verdicts, and no end while it is played', async () => {
    const store = aRun();
    const at = (query: string, sample: number, attempt = 1) =>
      readTrajectory(store, { run: RUN, query, sample, attempt });
    const whole = (await at('zeta', 0))!;
    expect(whole.turns.map(({ record, verdict }) => [record.turn, verdict?.verdict])).toEqual([
      [1, 'wrong'],
      [2, 'right'],
      [3, 'wrong'],
    ]);
    expect(whole.end!.outcome).toBe('complete');
    expect((await at('zeta', 1))!).toMatchObject({ end: null, turns: [{ verdict: { verdict: 'right' } }] });
    expect(await at('zeta', 7)).toBeUndefined();
  });

  test('a torn or missing record is an error that names it, not a shorter trajectory', async () => {
    const store = aRun();
    const id = { run: RUN, query: 'zeta', sample: 0, attempt: 1 };
    const file = join(store.folder, rolloutFolder(id), 'turn-002.json');
    const sound = readFileSync(file, 'utf8');
    writeFileSync(file, sound.slice(0, 50));
    await expect(readTrajectory(store, id)).rejects.toMatchObject({
      reason: 'record-broken',
      message: expect.stringContaining('turn-002.json'),
    });
    await expect(store.put('turn', id, { ...(await store.get('turn', id, 1))!.record, turn: 2 })).rejects.toMatchObject(
      {
        reason: 'record-broken',
      },
    );
    rmSync(file);
    await expect(readTrajectory(store, id)).rejects.toThrow('turn 2 is missing');
  });

  const maker = { ...areal, lines: (trajectory: Parameters<typeof name>[0]) => [name(trajectory), 'and more'] };

  test('an export holds the complete rollouts in order, and counts and names the others', async () => {
    const store = aRun();
    const file = join(root, 'out.txt');
    const skips: string[] = [];
    const summary = await exportRun(store, maker, file, {
      onSkip: ({ query, sample, outcome }) => skips.push(`${query} ${sample} ${outcome}`),
    });
    expect(readFileSync(file, 'utf8')).toBe(
      ['zeta 0.1', 'a/b 0.2', 'Mid 1.1', 'by itself 0.1'].map((line) => `${line}\nand more\n`).join(''),
    );
    expect(summary).toEqual({
      exported: 4,
      lines: 8,
      finishedTurns: 0,
      skipped: { unfinished: 1, undecided: 1, cancelled: 1 },
    });
    expect(skips).toEqual(['zeta 1 unfinished', 'Mid 0 undecided', 'late 0 cancelled']);
  });

  test('the finished turns of an undecided rollout are exported where that is asked, as if it ended there', async () => {
    const out = mkdtempSync(join(root, 'out-'));
    const store = openLoose(out);
    const settings = someSettings({ numTurns: 4, rewardScaling: 2, rewardBias: 0.25 });
    const runs: Record<string, VerdictValue[]> = { first: ['undecided'], third: ['wrong', 'right', 'undecided'] };
    const queries = Object.keys(runs).map((id) => aQuery(id));
    await putRun(store, queries, { settings });
    for (const [index, query] of queries.entries())
      await play(store, { query, index, settings, verdicts: runs[query.queryId]!, stop: 'undecided' });
    // A check waits for the result of a run whose rollouts have all ended.
    await store.put('result', null, { run: RUN, total: 2, cancelled: false, numTurns: 4, counts: noCounts() });

    const samples = async (undecided: UndecidedPolicy) => {
      const file = join(out, `${undecided}.jsonl`);
      const summary = await exportRun(store, areal, file, { undecided });
      if (summary.empty) return { summary, lines: existsSync(file) ? null : [] };
      const breaches: unknown[] = [];
      const asked = { exporter: areal, undecided, file };
      await checkRun(store, (breach) => breaches.push(breach), { export: asked });
      expect(breaches.filter((breach) => JSON.stringify(breach).includes('export'))).toEqual([]);
      const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
      return {
        summary,
        lines: lines.map((line) => JSON.parse(line) as { ids: string[]; data: Record<string, number[]> }),
      };
    };
    const dropped = await samples('drop');
    expect(dropped).toEqual({
      summary: { exported: 0, lines: 0, finishedTurns: 0, skipped: { undecided: 2 }, empty: true },
      lines: [],
    });
    const { summary, lines } = await samples('finished-turns');
    expect(summary).toEqual({ exported: 1, lines: lines!.length, finishedTurns: 1, skipped: { undecided: 1 } });
    // r = ((success − 0.5)·2 − 0.25)·2, G = r + 0.5·G of the next: nothing of the third turn is in them.
    expect(lines!.map(({ ids, data }) => [ids, data['rewards']])).toEqual([[['third'], [-2.5 + 0.5 * 1.5, 1.5]]]);
    expect(lines![0]!.data['seq_no_eos_mask']).toHaveLength(2);

    // An export of the other kind is not what the records give.
    const breaches: { problem: string }[] = [];
    const wrong = { exporter: areal, file: join(out, 'finished-turns.jsonl') };
    await checkRun(store, (breach) => breaches.push(breach), { export: wrong });
    expect(breaches.map(({ problem }) => problem)).toContain('line 1 is none that the records give');
  });

  test('an export goes on past a broken rollout, and names it', async () => {
    const store = aRun();
    const torn = join(store.folder, rolloutFolder({ query: 'zeta', sample: 0, attempt: 1 }), 'turn-002.json');
    writeFileSync(torn, '');
    const skips: SkippedRollout[] = [];
    const summary = await exportRun(store, maker, join(root, 'past.txt'), { onSkip: (skip) => skips.push(skip) });
    expect(summary).toEqual({
      exported: 3,
      lines: 6,
      finishedTurns: 0,
      skipped: { broken: 1, unfinished: 1, undecided: 1, cancelled: 1 },
    });
    expect(skips[0]).toEqual({ query: 'zeta', sample: 0, outcome: 'broken', problem: `${torn} is empty` });
  });

  test('an export that fails leaves the earlier file as it was, and nothing else', async () => {
    const store = aRun();
    const folder = mkdtempSync(join(root, 'out-'));
    writeFileSync(join(folder, 'out.txt'), 'earlier');
    const failing = {
      ...areal,
      lines: () => {
        throw new Error('cannot');
      },
    };
    await expect(exportRun(store, failing, join(folder, 'out.txt'))).rejects.toThrow('cannot');
    expect(readdirSync(folder)).toEqual(['out.txt']);
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('earlier');
  });

  test('an export removes what a killed one left of its file, and nothing of others', async () => {
    const folder = mkdtempSync(join(root, 'out-'));
    const ofDead = writerName().replace(/^\d+/, String(2 ** 22 + 1)); // above the kernel's largest process id
    const [left, ofAnother, ofLive] = [
      temporaryName('out.txt', ofDead),
      temporaryName('other.txt', ofDead),
      temporaryName('out.txt', writerName()),
    ];
    for (const name of [left, ofAnother, ofLive]) writeFileSync(join(folder, name), '');
    await exportRun(aRun(), maker, join(folder, 'out.txt'));
    expect(readdirSync(folder).toSorted()).toEqual([ofAnother, ofLive, 'out.txt'].toSorted());
  });

  test('an export goes through a link, into a device, and never over a folder', async () => {
    const store = aRun();
    const folder = mkdtempSync(join(root, 'out-'));
    writeFileSync(join(folder, 'real.txt'), '');
    symlinkSync('real.txt', join(folder, 'link.txt'));
    await exportRun(store, maker, join(folder, 'link.txt'));
    expect(lstatSync(join(folder, 'link.txt')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real.txt'), 'utf8')).toContain('zeta 0.1');
    await exportRun(store, maker, '/dev/null');
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
    await expect(exportRun(store, maker, folder)).rejects.toMatchObject({ reason: 'is-a-folder' });
  });
});
