import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RolloutHistory } from '../../../domain/rollout/rollout-history.ts';
import { checkHistories, type HistoriesSummary } from '../../../records/check/histories.ts';
import { openFileStore } from '../../../records/file-store.ts';
import type { Breach } from '../../../records/store.ts';
import { historiesOf, playGoodRun } from './good-run.ts';
import { historyHarms } from './history-harms.ts';
import { RUN } from '../play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-histories-'));
const good = join(root, 'good');
afterAll(() => rmSync(root, { recursive: true }));

let histories: RolloutHistory[];
let result: object;
beforeAll(async () => {
  const store = await playGoodRun(good);
  histories = await historiesOf(store, good);
  const { format: _, ...told } = (await store.getResult())!.record as { format: string };
  result = told;
});

async function checkAfter(
  toFolder: (folder: string) => void | Promise<void>,
  told: readonly RolloutHistory[],
): Promise<{ breaches: Breach[]; summary: HistoriesSummary }> {
  const out = mkdtempSync(join(root, 'bad-'));
  cpSync(good, out, { recursive: true });
  await toFolder(join(out, RUN));
  const breaches: Breach[] = [];
  const about = { rollouts: streamed(told), collection: { out: good, result } };
  const summary = await checkHistories(openFileStore(out, RUN), good, about, (breach) => breaches.push(breach));
  return { breaches, summary };
}

async function* streamed(told: readonly RolloutHistory[]): AsyncGenerator<RolloutHistory> {
  yield* told;
}

describe('the check against histories', () => {
  test('histories of what was played say nothing against the records', async () => {
    const { breaches, summary } = await checkAfter(() => {}, histories);
    expect(breaches).toEqual([]);
    expect(summary).toEqual({ compared: 9, closed: 9, elsewhere: 0, triedAgain: 0 });
  });

  test('a rollout that is being played is compared as far as it is, and its tries are counted', async () => {
    const [first, ...rest] = histories;
    const { result: _, ...open } = first!;
    const [played, begun] = open.turns;
    const told = { ...open, state: 'running', turns: [played!, { turn: begun!.turn, asked: 1, tries: 3 }] };
    const { breaches, summary } = await checkAfter(() => {}, [told, ...rest]);
    expect(breaches).toEqual([]);
    expect(summary).toEqual({ compared: 9, closed: 8, elsewhere: 0, triedAgain: 2 });
  });

  test('histories of another folder, or of a run that stood there before, prove nothing and are counted', async () => {
    const records = { run: '0'.repeat(64), rollout: '0'.repeat(64) };
    const told = [
      { ...histories[0]!, out: '/elsewhere' },
      { ...histories[1]!, records },
    ];
    const { breaches, summary } = await checkAfter(() => {}, told);
    expect(breaches).toEqual([]);
    expect(summary).toEqual({ compared: 0, closed: 0, elsewhere: 2, triedAgain: 0 });
  });

  for (const [name, { toFolder, toHistory, path, problem }] of Object.entries(historyHarms)) {
    test(`names the file of ${name}`, async () => {
      const at = histories.findIndex(({ rollout }) => rollout?.query === 'one' && rollout.sample === 0);
      const told = histories.with(at, toHistory?.(histories[at]!) ?? histories[at]!);
      const { breaches } = await checkAfter(toFolder ?? (() => {}), told);
      const named = breaches.filter((breach) => breach.path === path).map((breach) => breach.problem);
      expect(named.join('\n'), JSON.stringify(breaches, null, 1)).toMatch(problem);
    });
  }
});
