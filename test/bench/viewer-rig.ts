// A run of one turn a rollout, as lines, or as files that are left, without fsync: for the benchmark of the viewer. One rollout has a turn of 32,000 tokens; all texts are those of the shipped tokenizer.

import { join } from 'node:path';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import { loadTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { BLOCKING_FILES } from '../../records/disk/blocking-files.ts';
import { openDisk } from '../../records/disk/disk.ts';
import type { FileLayer } from '../../records/disk/file-layer.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Store } from '../../records/store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';

const TOKENS = 200;
export const LONG_TOKENS = 32_000;

const UNSYNCED: FileLayer = {
  ...BLOCKING_FILES,
  open: async (path, flags) => ({ ...(await BLOCKING_FILES.open(path, flags)), sync: async () => undefined }),
};

/** The place of the rollout with the long turn. */
export const longOf = (rollouts: number): number => Math.floor(rollouts / 2);

export async function makeViewedRun(out: string, rollouts: number, form: 'ended' | 'loose'): Promise<void> {
  const settings = someSettings({ numTurns: 1, maxNewTokens: LONG_TOKENS });
  const disk = openDisk(UNSYNCED);
  const store = openFileStore(out, RUN, { disk: form === 'loose' ? { ...disk, end: async () => {} } : disk });
  const queries = Array.from({ length: rollouts }, (_, i) => aQuery(`q${i}`));
  await putRun(store, queries, { settings });
  const answers = [await answerOf(TOKENS), await answerOf(LONG_TOKENS)] as const;
  const counts = noCounts();
  for (const [index, query] of queries.entries()) {
    const answer = answers[index === longOf(rollouts) ? 1 : 0];
    const verdict = index % 3 === 0 ? 'right' : 'wrong';
    const turn = () => answer;
    await play(withoutLogs(store), {
      query,
      index,
      settings,
      verdicts: [verdict],
      turn,
    });
    const id = { query: query.queryId, sample: 0, attempt: 1 };
    const right = verdict === 'right' ? 1 : 0;
    const facts = { outcome: 'complete', stopReason: 'max-turns', returns: [right], success: [right] } as const;
    const more = { reason: null, turns: 1, tokens: answer.outputIds.length, trajectory: { out, run: RUN, ...id } };
    addResult(counts, { ...facts, ...more }, 1);
  }
  await store.putResult({ run: RUN, total: rollouts, cancelled: false, numTurns: 1, counts });
}

async function answerOf(tokens: number) {
  const tokenizer = await loadTokenizer(join(import.meta.dirname, '../../models/tiny'));
  const words = Array.from({ length: 8 * tokens }, (_, i) => `${(i * 7919) % 997} is ${i % 10}.`).join(' ');
  const outputIds = (await tokenizer.encode(words)).slice(0, tokens);
  const [outputText = ''] = await tokenizer.decodeLists([outputIds]);
  return {
    outputIds,
    logprobs: outputIds.map((_, i) => Math.fround(Math.log(((i * 7919) % 997) / 997 + 1e-9))),
    outputText,
    answer: outputText,
    versions: [{ version: 0, start: 0, end: tokens }],
    maxNewTokens: LONG_TOKENS,
  };
}

const withoutLogs = (store: Store): Store => ({ ...store, getLog: async () => undefined, putLog: async () => {} });
