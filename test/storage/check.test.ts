import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logName } from '../../domain/turn-log.ts';
import { checkRun } from '../../storage/check.ts';
import { openFileStore } from '../../storage/files.ts';
import { logPath, rolloutFolder } from '../../storage/layout.ts';
import { judgedTurns } from '../../storage/judged-turns.ts';
import { type Judgement, writeJudgements } from '../../storage/judgements.ts';
import type { Breach, Store } from '../../storage/store.ts';
import { harms } from './harms.ts';
import { judgementHarms } from './judgement-harms.ts';
import { aQuery, play, putRun, RUN } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-check-'));
afterAll(() => rmSync(root, { recursive: true }));

// Four queries, two samples each; query `three/3` has a failed first attempt and a finished second one.
const queries = ['one', 'two', 'three/3', 'FOUR'].map((id) => aQuery(id));
const at = (query: string) => rolloutFolder({ query, sample: 0, attempt: 1 });

beforeAll(async () => {
  const store = openFileStore(join(root, 'good'), RUN);
  await putRun(store, queries, { samples: 2 });
  for (const [index, query] of queries.entries()) {
    for (const sample of [0, 1]) {
      if (index === 2 && sample === 0) {
        await play(store, { query, index, sample, verdicts: ['wrong'], stop: 'failed', unjudged: 1 });
        await play(store, { query, index, sample, attempt: 2, verdicts: ['wrong', 'wrong', 'right'] });
      } else if (index === 1) {
        await play(store, { query, index, sample, verdicts: ['wrong', 'undecided'], stop: 'undecided' });
      } else {
        await play(store, { query, index, sample, verdicts: ['wrong', 'right', 'wrong'], versions: [0, 0, 1] });
      }
    }
  }
  await store.putResult({ cancelled: false });
  await writeJudgements(store, 'again', sameVerdicts(store));
});

async function* sameVerdicts(store: Store): AsyncGenerator<Judgement> {
  const fail = () => expect.fail('the run is whole');
  for await (const { id, verdict } of judgedTurns(store, { onUnjudged: () => {}, onBroken: fail })) {
    const { run: _, ...at } = id;
    const { turn, of, reason } = verdict;
    const was = { verdict: verdict.verdict, reason };
    yield { ...at, turn, of, verdict: verdict.verdict, reason, was, by: 'scripted' };
  }
}

/** A copy of the good run after `harm` was done to its folder. */
async function checkAfter(harm: (folder: string) => void | Promise<void>) {
  const out = mkdtempSync(join(root, 'bad-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  await harm(join(out, RUN));
  const breaches: Breach[] = [];
  const summary = await checkRun(openFileStore(out, RUN), (breach) => breaches.push(breach));
  expect(summary.breaches).toBe(breaches.length);
  return { breaches, summary };
}

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
  });
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

for (const [name, { harm, path, problem }] of Object.entries({ ...harms, ...judgementHarms })) {
  test(`names the file of ${name}`, async () => {
    const { breaches } = await checkAfter(harm);
    const named = breaches.filter((breach) => breach.path === path).map((breach) => breach.problem);
    expect(named.join('\n'), JSON.stringify(breaches, null, 1)).toMatch(new RegExp(problem.source, 'm'));
  });
}

test('a folder that is no run is an error, not a clean bill', async () => {
  await expect(checkRun(openFileStore(root, 'nothing'), () => {})).rejects.toMatchObject({ reason: 'no-such-run' });
});

test('a run that is played meanwhile is sound at every look', async () => {
  const store = openFileStore(mkdtempSync(join(root, 'live-')), RUN);
  const many = Array.from({ length: 24 }, (_, i) => aQuery(`q${i}`));
  await putRun(store, many);
  const breaches: Breach[] = [];
  const playing = Promise.all(
    many.map((query, index) =>
      play(store, { query, index, verdicts: ['wrong', 'right', 'wrong'], versions: [index % 3, 3, 4] }),
    ),
  );
  let looks = 0;
  const looking = (async () => {
    for (let done = false; !done; looks++)
      done = (await checkRun(store, (breach) => breaches.push(breach))).ended === 24;
  })();
  await Promise.all([playing, looking]);
  expect(breaches).toEqual([]);
  expect(looks).toBeGreaterThan(1);
});
