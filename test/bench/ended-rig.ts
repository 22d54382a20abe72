// A run of five turns of 200 tokens each, written as the activities write it and proved by `check`, but without fsync and
// with each log written once: for the benchmark of ended rollouts.

import { addResult, noCounts } from '../../domain/run/progress.ts';
import { BLOCKING_FILES } from '../../records/disk/blocking-files.ts';
import { openDisk } from '../../records/disk/disk.ts';
import type { FileLayer } from '../../records/disk/file-layer.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { LogText, Store } from '../../records/store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';

export const TURNS = 5;
const TOKENS = 200;

const UNSYNCED: FileLayer = {
  ...BLOCKING_FILES,
  open: async (path, flags) => ({ ...(await BLOCKING_FILES.open(path, flags)), sync: async () => undefined }),
};

/** The same numbers on every machine. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** `loose`: its rollouts have ended and are still files. */
export async function makeRun(out: string, rollouts: number, { loose = false } = {}): Promise<void> {
  const settings = someSettings({ numTurns: TURNS, maxNewTokens: TOKENS });
  const disk = openDisk(UNSYNCED);
  const store = openFileStore(out, RUN, { disk: loose ? { ...disk, end: async () => {} } : disk });
  const queries = Array.from({ length: rollouts }, (_, i) => aQuery(`q${i}`));
  await putRun(store, queries, { settings });
  for (const [index, query] of queries.entries()) {
    const random = randomOf(index + 1);
    const text = Array.from({ length: TOKENS }, () => `w${Math.floor(random() * 997)}`).join(' ');
    await play(withLateLogs(store), {
      query,
      index,
      settings,
      verdicts: ['wrong', 'wrong', 'right', 'wrong', 'right'],
      turn: () => {
        const outputIds = Array.from({ length: TOKENS }, () => Math.floor(random() * 150_000));
        return {
          outputIds,
          // The rollouts share a context: their probabilities have to add up to at most 1.
          logprobs: outputIds.map(() => Math.fround(Math.log((random() + 1e-3) / 1e6))),
          outputText: text,
          answer: text,
          versions: [{ version: 0, start: 0, end: TOKENS }],
          maxNewTokens: TOKENS,
        };
      },
    });
  }
  const counts = noCounts();
  for (const { queryId: query } of queries) {
    const end = (await store.getEnd({ run: RUN, query, sample: 0, attempt: 1 }))!.record;
    const trajectory = { out, run: RUN, query, sample: 0, attempt: 1 };
    const { outcome, stopReason, returns, success } = end;
    const verdicts = { wrong: { scripted: 3 }, right: { scripted: 2 } };
    const facts = { outcome, stopReason, returns, success, reason: null, turns: TURNS, tokens: TURNS * TOKENS };
    addResult(counts, { ...facts, verdicts, trajectory }, TURNS);
  }
  await store.putResult({ run: RUN, total: rollouts, cancelled: false, numTurns: TURNS, counts });
}

/** Its logs reach the disk with the end. */
function withLateLogs(store: Store): Store {
  const logs = new Map<string, readonly [number, string, LogText]>();
  return {
    ...store,
    getLog: async (version, name, kind) => logs.get(`${version} ${name}`)?.[2][kind],
    putLog: async (version, name, text) => void logs.set(`${version} ${name}`, [version, name, text]),
    async putEnd(id, record) {
      for (const log of logs.values()) await store.putLog(...log, { draft: true });
      return store.putEnd(id, record);
    },
  };
}
