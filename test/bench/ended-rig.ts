// A run of scripted turns, by default five of 200 tokens each, written as the activities write it and proved by `check`, but
// without fsync and with each log written once: for the benchmarks of ended rollouts.

import { addResult, noCounts } from '../../domain/run/progress.ts';
import { BLOCKING_FILES } from '../../records/disk/blocking-files.ts';
import { openDisk } from '../../records/disk/disk.ts';
import type { FileLayer } from '../../records/disk/file-layer.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { lineOf, openLine } from '../../records/ended/line.ts';
import { endedRow } from '../../records/ended/row.ts';
import { openSegmentWriter } from '../../records/ended/segment-writer.ts';
import type { RecordKind } from '../../records/format/kinds.ts';
import { rolloutFile } from '../../records/format/layout.ts';
import { encodeRecord } from '../../records/format/text.ts';
import type { LogText, Store, Stored } from '../../records/store.ts';
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
    putEnd(id, record) {
      const { outcome, stopReason, returns, success } = record;
      const facts = {
        outcome,
        stopReason,
        returns,
        success,
        turns,
        tokens: turns * tokens,
        trajectory: { out, ...id },
      };
      addResult(counts, { ...facts, ...counted }, turns);
      return written.putEnd(id, record);
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
  await store.putResult({ run: RUN, total: rollouts, cancelled: false, numTurns: turns, counts });
}

/** Each ended rollout is a line at once. */
function asLines(store: Store): Store {
  const writer = openSegmentWriter(store.folder, UNSYNCED);
  const texts = new Map<string, string>();
  const put =
    (kind: RecordKind) =>
    async <T extends object>({ query, sample, attempt }: RolloutId, record: T): Promise<Stored<T>> => {
      const { text, hash, record: kept } = encodeRecord(kind, { query, sample, attempt }, record);
      texts.set(rolloutFile(kind, record)!, text);
      return { record: kept as T, hash, created: true };
    };
  return {
    ...store,
    ...{ putRollout: put('rollout'), putTurn: put('turn'), putVerdict: put('verdict') },
    getLog: async () => undefined,
    putLog: async () => {},
    async putEnd(id, record) {
      const stored = await put('end')(id, record);
      const { query, sample, attempt } = id;
      const line = lineOf({ query, sample, attempt }, texts) as Buffer;
      texts.clear();
      await writer.add(line, endedRow(openLine(line)!));
      return stored;
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
    async putEnd(id, record) {
      for (const log of logs.values()) await store.putLog(...log, { draft: true });
      return store.putEnd(id, record);
    },
  };
}
