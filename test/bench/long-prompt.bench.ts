// How long a prompt of a megabyte holds the event loop of a worker, through all activities of a rollout: the longest
// stretch of the main thread's own processor time between two turns of the loop, which other processes do not lengthen.
// Linux only (/proc). Needs `npm run build` (the threads are compiled). EVERTURN_BENCH_CHARS: another length.
//   npx vitest bench --run test/bench/long-prompt.bench.ts

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { bench } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { parseSettings } from '../../run/config.ts';
import { queryFromRow } from '../../formats/datasets/row.ts';
import { createEnvironments } from '../../environments/index.ts';
import { createBackend } from '../../inference/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openRecordCache } from '../../records/in-flight/cache.ts';
import { openThreadedDisk } from '../../records/disk/threaded-disk.ts';
import { randomSource, someWord } from '../support/texts.ts';
import { tokenizerFolder } from '../support/tokenizer-folder.ts';
import { trainTokenizer } from '../support/trained-tokenizers.ts';
import { startModel } from './overhead-rig.ts';

const CHARS = Number(process.env['EVERTURN_BENCH_CHARS'] ?? 1_000_000);
const TURNS = 3;
const ROUNDS = 3;

/** Nanoseconds that this thread has run. */
const ranNs = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);

/** Longest stretch, in milliseconds of processor time, that the loop did not turn in. */
async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let going = true;
  let before = ranNs();
  const turn = () => {
    longest = Math.max(longest, ranNs() - before);
    before = ranNs();
    if (going) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  going = false;
  await new Promise(setImmediate);
  return longest / 1e6;
}

bench(
  'event loop while a long prompt is played',
  async () => {
    const out = mkdtempSync(join(tmpdir(), 'everturn-long-'));
    const source = tokenizerFolder({
      json: trainTokenizer('qwen', []),
      config: '{"chat_template": "{{ messages[0].content }}"}',
    });
    const tokenizer = source.kind === 'folder' ? source.path : source.id;
    const model = await startModel([7, 8, 9]);
    const backend = await createBackend(`sglang:${model.url}`, { tokenizer, log: () => {} });
    const cache = openRecordCache();
    const disk = openThreadedDisk();
    const environments = createEnvironments();
    const activities = createActivities({
      version: 'bench',
      openStore: (folder, run) => openFileStore(folder, run, { cache, disk }),
      environments,
      backend: async () => backend,
      permit: () => undefined,
      parseRow(row) {
        const parsed = queryFromRow(row, '1');
        if (!parsed.ok) throw new Error(parsed.problem);
        return parsed.query;
      },
      parseSettings,
      now: Date.now,
      createRun: async () => {},
      closedRollouts: async () => new Map(),
      isWaiting: async () => false,
      isStopping: async () => false,
      cancelRollout: async () => {},
      weights: {} as never,
    });
    const random = randomSource(CHARS);
    let question = '';
    while (question.length < CHARS) question += `${someWord(random)} `;
    const settings = { model: `sglang:${model.url}`, tokenizer, numTurns: TURNS };
    const longest: Record<string, number> = {};
    for (let round = 0; round <= ROUNDS; round++) {
      const step = async <A extends unknown[], R>(name: string, activity: (...args: A) => Promise<R>, ...args: A) => {
        let result: R;
        const ms = await longestStretch(
          async () => (result = await new MockActivityEnvironment().run(activity, ...args)),
        );
        // The first round loads what is loaded once.
        if (round > 0) longest[name] = Math.max(longest[name] ?? 0, ms);
        return result!;
      };
      const input = { run: `r${round}`, out, row: { query_id: 'q', question, answer: '42' }, settings };
      const { rollout } = await step('open', activities.open, input);
      for (let turn = 1; turn <= TURNS; turn++) {
        await step('generate', activities.generate, { rollout, turn });
        await step('evaluate', activities.evaluate, { rollout, turn });
        await step('log', activities.log, { rollout, turn });
      }
      const result = {
        outcome: 'complete',
        stopReason: 'max-turns',
        turns: TURNS,
        rewards: [],
        success: [0, 0, 0],
      } as const;
      await step('finish', activities.finish, {
        result: { ...result, tokens: 9, reason: null, trajectory: rollout },
        message: null,
      });
      const { record } = (await openFileStore(out, input.run).getTurn(rollout, 1))!;
      if (round === 0) console.log(`${CHARS} characters, ${record.contextIds.length} tokens`);
    }
    console.log(
      Object.entries(longest)
        .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`)
        .join(', '),
    );
    model.stop();
    await Promise.all([backend.close(), environments.close(), disk.close()]);
    rmSync(out, { recursive: true });
  },
  { iterations: 1, time: 0, warmupIterations: 0, warmupTime: 0 },
);
