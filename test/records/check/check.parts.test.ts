import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { logName } from '../../../domain/rollout/turn-log.ts';
import { areal } from '../../../formats/exports/areal.ts';
import { checkRun } from '../../../records/check/check.ts';
import type { Exporter } from '../../../domain/samples/exporter.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { logPath, rolloutFolder } from '../../../records/format/layout.ts';
import { judgedTurns } from '../../../records/reading/judged-turns.ts';
import { type VerdictRow, writeJudgements } from '../../../records/run/judgements.ts';
import { sha256 } from '../../../records/format/text.ts';
import type { Breach, Store } from '../../../records/store.ts';
import { allDamage, EXPORT } from './damage.ts';
import { playGoodRun, queries } from './good-run.ts';
import { play, putRun, RUN } from '../play.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const root = scratchFolder();

const at = (query: string) => rolloutFolder({ query, sample: 0, attempt: 1 });

beforeAll(async () => {
  const store = await playGoodRun(join(root, 'good'));
  await writeJudgements(store, 'again', sameVerdicts(store));
  await exportRun(store, areal, join(root, EXPORT));
  // It travels with the copies of the run.
  cpSync(join(root, EXPORT), join(store.folder, EXPORT));
});

async function* sameVerdicts(store: Store): AsyncGenerator<VerdictRow> {
  const fail = () => expect.fail('the run is whole');
  for await (const { id, verdict } of judgedTurns(store, { onUnjudged: () => {}, onBroken: fail })) {
    const { run: _, ...at } = id;
    const { turn, of, reason } = verdict;
    const was = { verdict: verdict.verdict, reason };
    yield { ...at, turn, of, verdict: verdict.verdict, reason, was, by: 'scripted' };
  }
}

/** A copy of the good run after `change` was done to its folder. */
async function checkAfter(change: (folder: string) => void | Promise<void>) {
  const out = mkdtempSync(join(root, 'bad-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  await change(join(out, RUN));
  const breaches: Breach[] = [];
  const file = join(out, RUN, EXPORT);
  const options = { export: { exporter: areal, file } };
  const summary = await checkRun(openFileStore(out, RUN), (breach) => breaches.push(breach), options);
  expect(summary.breaches).toBe(breaches.length);
  const within = (path: string) => (path === file ? EXPORT : path);
  return { breaches: breaches.map(({ path, problem }) => ({ path: within(path), problem })), summary };
}

// Terminated in its third turn, started again, and cancelled before it came there.
const ENDED_AT = 1_700_000_100_000;

describe('the check of a run', () => {
  test('a sound run has no breach, and its summary counts what is there', async () => {
    const { breaches, summary } = await checkAfter(() => {});
    expect(breaches).toEqual([]);
    expect(summary).toEqual({
      breaches: 0,
      queries: 4,
      rollouts: 9,
      turns: 24,
      ended: 9,
      unfinished: 0,
      byOutcome: { complete: 6, undecided: 2, failed: 0, cancelled: 0 },
      // Every turn but those of the failed attempts that were never judged.
      judgements: 23,
      acts: 0,
      export: { format: 'areal', samples: 6, sha256: sha256(readFileSync(join(root, 'good', RUN, EXPORT), 'utf8')) },
    });
  });

  test('an export that passes over a complete rollout is named, also without an earlier file', async () => {
    const problems: string[] = [];
    const forgetful: Exporter = {
      ...areal,
      leavesOut: ({ rollout }) => (rollout.query.queryId === forgotten ? ('not-trainable' as never) : undefined),
    };
    const store = openFileStore(join(root, 'good'), RUN);
    const [forgotten] = (await store.readQueries(0, 1)).map(({ queryId }) => queryId);
    const summary = await checkRun(store, ({ problem }) => problems.push(problem), { export: { exporter: forgetful } });
    const { samples } = summary.export!;
    expect(samples).toBeLessThan(6);
    expect(problems).toEqual([`gives ${samples} samples; the records hold 6 to be exported`]);
  });

  test('a run that is being played is sound at every moment of a turn', async () => {
    const out = mkdtempSync(join(root, 'live-'));
    const store = openFileStore(out, RUN);
    await putRun(store, queries);
    await play(store, { query: queries[0]!, index: 0, verdicts: [], stop: null });
    await play(store, { query: queries[1]!, index: 1, verdicts: [], unjudged: 1, stop: null });
    await play(store, { query: queries[2]!, index: 2, verdicts: ['wrong'], unjudged: 1, stop: null });
    await play(store, { query: queries[3]!, index: 3, verdicts: ['right', 'wrong'], stop: null });
    // The last turn is judged and not yet logged.
    const id = { query: 'FOUR', sample: 0, attempt: 1 };
    const log = join(store.folder, logPath(0, logName(id), 'jsonl'));
    writeFileSync(log, `${readFileSync(log, 'utf8').split('\n')[0]}\n`);
    writeFileSync(join(store.folder, at('one'), '.turn-001.json.99-abc.tmp'), '{"half');
    mkdirSync(join(store.folder, 'rollouts', '00', 'begun', '0.1'), { recursive: true });
    const breaches: Breach[] = [];
    const summary = await checkRun(store, (breach) => breaches.push(breach));
    expect(breaches).toEqual([]);
    expect(summary).toMatchObject({ rollouts: 4, ended: 0, unfinished: 4, turns: 5 });
  });
  test.each([
    { startedAt: ENDED_AT - 1, breached: [] },
    { startedAt: ENDED_AT + 1, breached: [`${at('one')}/turn-003.json`] },
  ])('turns that a cancelled rollout kept of an earlier life are no breach: begun at $startedAt', async (one) => {
    const store = openFileStore(mkdtempSync(join(root, 'lives-')), RUN);
    await putRun(store, queries);
    const { startedAt } = one;
    const verdicts = ['wrong', 'wrong', 'wrong'] as const;
    await play(store, {
      query: queries[0]!,
      index: 0,
      verdicts,
      stop: null,
      turn: () => ({ startedAt, finishedAt: startedAt }),
    });
    const id = { query: 'one', sample: 0, attempt: 1, run: RUN };
    const { hash } = (await store.get('turn', id, 1))!;
    const ended = {
      outcome: 'cancelled',
      stopReason: 'cancelled',
      failure: null,
      turnRewards: [-1],
      returns: [],
    } as const;
    await store.put('end', id, { ...ended, success: [0], turns: [hash], finishedAt: ENDED_AT });
    const breaches: Breach[] = [];
    await checkRun(store, (breach) => breaches.push(breach));
    expect(breaches.map(({ path }) => path)).toEqual(one.breached);
  });

  test.each(allDamage)('names the file of %s', async (_, { change, file, problem }) => {
    const { breaches } = await checkAfter(change);
    const named = breaches.filter(({ path }) => path === file).map((breach) => breach.problem);
    expect(named.join('\n'), JSON.stringify(breaches, null, 1)).toMatch(new RegExp(problem.source, 'm'));
  });

  test('a folder that is no run is an error, not a clean bill', async () => {
    await expect(checkRun(openFileStore(root, 'nothing'), () => {})).rejects.toMatchObject({ reason: 'no-such-run' });
  });
});
