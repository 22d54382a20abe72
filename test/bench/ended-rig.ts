// A run of scripted turns, by default five of 200 tokens each, written as the activities write it and proved by `check`, but
// without fsync and with each log written once: for the benchmarks of ended rollouts.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import { BLOCKING_FILES } from '../../records/disk/blocking-files.ts';
import { openDisk } from '../../records/steps/disk.ts';
import type { FileLayer } from '../../records/disk/file-layer.ts';
import { openFileStore } from '../../records/file-store.ts';
import { lineOf, openLine } from '../../records/ended/line.ts';
import { endedRow } from '../../records/ended/row.ts';
import { openSegmentWriter } from '../../records/disk/segment-writer.ts';
import { indexLine } from '../../records/ended/segment.ts';
import { isOfRollout } from '../../records/format/kinds.ts';
import { ENDED, RESULT_FILE } from '../../records/format/layout.ts';
import { fileToWrite } from '../../records/format/rollout-file.ts';
import { encodeRecord } from '../../records/format/text.ts';
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

interface RunOptions {
  /** Its rollouts have ended and are still files. */
  readonly loose?: boolean;
  /** Its rollouts were never files and have no logs: a million are made in minutes. */
  readonly lines?: boolean;
  readonly turns?: number;
  /** Tokens of an answer. */
  readonly tokens?: number;
}

const VERDICTS = ['wrong', 'wrong', 'right', 'wrong', 'right'] as const;

export async function makeRun(
  out: string,
  rollouts: number,
  { loose = false, lines = false, turns = TURNS, tokens = TOKENS }: RunOptions = {},
): Promise<void> {
  const settings = someSettings({ numTurns: turns, maxNewTokens: tokens, ...(lines && { logs: 'none' as const }) });
  const disk = openDisk(UNSYNCED);
  const store = openFileStore(out, RUN, { disk: loose ? { ...disk, end: async () => {} } : disk });
  const queries = Array.from({ length: rollouts }, (_, i) => aQuery(`q${i}`));
  await putRun(store, queries, { settings });
  const counts = noCounts();
  const verdicts = VERDICTS.slice(0, turns);
  const [wrong, right] = ['wrong', 'right'].map((value) => verdicts.filter((verdict) => verdict === value).length);
  const counted = {
    verdicts: { wrong: { scripted: wrong! }, ...(right && { right: { scripted: right } }) },
    reason: null,
  };
  const written = lines ? asLines(store) : withLateLogs(store);
  const counting: Store = {
    ...written,
    async put(kind, of, record) {
      const stored = await written.put(kind, of, record);
      if (kind !== 'end') return stored;
      const { outcome, stopReason, returns, success } = record as EndRecord;
      const facts = { outcome, stopReason, returns, success, turns, tokens: turns * tokens };
      addResult(counts, { ...facts, ...counted, trajectory: { out, ...of! } }, turns);
      return stored;
    },
  };
  for (const [index, query] of queries.entries()) {
    const random = randomOf(index + 1);
    const text = Array.from({ length: tokens }, () => `w${Math.floor(random() * 997)}`).join(' ');
    await play(counting, {
      query,
      index,
      settings,
      verdicts,
      turn: () => {
        const outputIds = Array.from({ length: tokens }, () => Math.floor(random() * 150_000));
        return {
          outputIds,
          // The rollouts share a context: their probabilities have to add up to at most 1.
          logprobs: outputIds.map(() => Math.fround(Math.log((random() + 1e-3) / 1e6))),
          outputText: text,
          answer: text,
          versions: [{ version: 0, start: 0, end: tokens }],
          maxNewTokens: tokens,
        };
      },
    });
  }
  await store.put('result', null, { run: RUN, total: rollouts, cancelled: false, numTurns: turns, counts });
}

/** The folder of runs with such a run, short rollouts as lines; it is made once. */
export async function endedRun(out: string, rollouts: number): Promise<string> {
  const runs = join(out, `ended-${rollouts}`);
  const isMade = existsSync(join(runs, RUN, RESULT_FILE));
  if (!isMade) await makeRun(runs, rollouts, { lines: true, turns: 1, tokens: 16 });
  return runs;
}

/** Each ended rollout is a line at once. */
function asLines(store: Store): Store {
  const writer = openSegmentWriter(join(store.folder, ENDED), UNSYNCED);
  const texts = new Map<string, string>();
  return {
    ...store,
    getLog: async () => undefined,
    putLog: async () => {},
    async put(kind, of, record) {
      if (!of || !isOfRollout(kind)) return store.put(kind, of, record);
      const { query, sample, attempt } = of;
      const { text, hash, record: kept } = encodeRecord(kind, { query, sample, attempt }, record);
      texts.set(fileToWrite(kind, record), text);
      if (kind === 'end') {
        const line = lineOf({ query, sample, attempt }, texts) as Buffer;
        texts.clear();
        const row = endedRow(openLine(line)!);
        await writer.add({ line, entryAt: (at) => indexLine({ at, bytes: line.length, ...row }) });
      }
      return { record: kept as typeof record, hash, created: true };
    },
  };
}

/** Its logs reach the disk with the end. */
function withLateLogs(store: Store): Store {
  const logs = new Map<string, readonly [number, string, LogText]>();
  return {
    ...store,
    getLog: async (version, name, kind) => logs.get(`${version} ${name}`)?.[2][kind],
    putLog: async (version, name, text) => void logs.set(`${version} ${name}`, [version, name, text]),
    async put(kind, of, record) {
      if (kind === 'end') for (const log of logs.values()) await store.putLog(...log, { draft: true });
      return store.put(kind, of, record);
    },
  };
}
