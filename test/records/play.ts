// A scripted rollout written to a store as the activities write it: for tests of what reads it back.

import { FEEDBACK_RIGHT, FEEDBACK_WRONG } from '../../domain/context/feedback.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import { outcomeOf, scoredTurns, type StopReason } from '../../domain/rollout/ending.ts';
import { turnSeed } from '../../domain/names/ids.ts';
import type { Query } from '../../domain/query/query.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { logName, turnLogBlock, turnLogLine } from '../../domain/rollout/turn-log.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import type { RecordKind, Records, Store, Stored } from '../../records/store.ts';
import { hashQueries } from '../../records/run/queries.ts';

export const RUN = 'r1';

export function aQuery(queryId: string, part: Partial<Query> = {}): Query {
  return { queryId, prompt: { kind: 'text', text: `What is ${queryId}?` }, task: 'math', solutions: ['42'], ...part };
}

export function someSettings(part: Partial<RolloutSettings> = {}): RolloutSettings {
  return completeSettings(RUN, { numTurns: 3, maxNewTokens: 64, turnDiscount: 0.5, ...part });
}

/** The record of a run without a data set. */
export const aRunRecord = (run: string, settings: RolloutSettings, part: Partial<RunRecord> = {}): RunRecord => ({
  ...{ format: 'everturn-run/1', run, settings, origins: {}, samples: 1, dataset: null, createdAt: 1 },
  versions: { everturn: '0.0.0', node: 'v20.20.0' },
  ...part,
});

/** The same store, which stores another record of these kinds than it is given. */
export function withRecords(
  store: Store,
  changes: { readonly [K in RecordKind]?: (record: Records[K]) => Records[K] },
): Store {
  return { ...store, put: (kind, of, record) => store.put(kind, of, changes[kind]?.(record) ?? record) };
}

export async function putRun(
  store: Store,
  queries: readonly Query[],
  part: { samples?: number; settings?: RolloutSettings; run?: string } & Pick<
    RunRecord,
    'evaluation' | 'evaluates' | 'train' | 'wording'
  > & { from?: Partial<NonNullable<RunRecord['dataset']>> } = {},
): Promise<void> {
  await store.putQueries(queries);
  const { sha256, accepted } = await hashQueries(queries);
  const { evaluation, evaluates, train, wording, from } = part;
  const record = aRunRecord(part.run ?? RUN, part.settings ?? someSettings(), {
    ...(train && { train }),
    ...(wording && { wording }),
    ...(evaluation && { evaluation }),
    ...(evaluates && { evaluates }),
    origins: Object.fromEntries(Object.keys(someSettings()).map((key) => [key, 'flag' as const])),
    samples: part.samples ?? 1,
    dataset: { path: 'q.jsonl', sha256, accepted, refused: 0, ...from },
  });
  await store.put('run', null, record);
}

export interface Script {
  readonly run?: string;
  readonly query: Query;
  readonly index?: number | null;
  readonly sample?: number;
  readonly attempt?: number;
  readonly settings?: RolloutSettings;
  /** One per judged turn. */
  readonly verdicts: readonly VerdictValue[];
  /** Weight version of each turn; default 0. */
  readonly versions?: readonly number[];
  /** Null leaves the rollout unfinished. */
  readonly stop?: StopReason | null;
  /** Turns generated beyond the judged ones. */
  readonly unjudged?: number;
  readonly turn?: (turn: number) => Partial<TurnRecord>;
  /** Turns with a person's message in their context. */
  readonly said?: readonly number[];
}

export async function play(store: Store, script: Script): Promise<void> {
  const { query, sample = 0, attempt = 1, verdicts, stop = 'max-turns', unjudged = 0 } = script;
  const settings = script.settings ?? someSettings();
  const run = script.run ?? RUN;
  const id = { run, query: query.queryId, sample, attempt };
  const index = script.index === undefined ? 0 : script.index;
  const birthTime = 1_700_000_000_000 + 10_000 * (index ?? 0) + 7 * sample + 1000 * (attempt - 1);
  const rollout = await store.put('rollout', id, {
    run,
    query,
    index,
    sample,
    attempt,
    settings,
    birthTime,
  });
  const turns: Stored<TurnRecord>[] = [];
  for (let turn = 1; turn <= verdicts.length + unjudged; turn++) {
    const told = verdicts[turn - 2] === 'right' ? FEEDBACK_RIGHT : FEEDBACK_WRONG;
    const record = turnRecord(
      turn,
      turn === 1 ? `What is ${query.queryId}?` : `\n${told}`,
      script.versions?.[turn - 1] ?? 0,
    );
    const before = turns.at(-1);
    const timed = { startedAt: birthTime + 10 * turn, finishedAt: birthTime + 10 * turn + 5 };
    const seed = turnSeed(settings.seed, query.queryId, sample, turn);
    // The same text has the same ids.
    const contextIds = [100 + record.contextText.length, 200, 300];
    const said = script.said?.includes(turn) && { said: { text: 'Check the sign.', hash: 'f'.repeat(64) } };
    const merged = { ...record, ...timed, seed, contextIds, ...said, ...script.turn?.(turn) };
    const contextLength =
      (before ? before.record.contextLength + before.record.outputIds.length : 0) + merged.contextIds.length;
    const stored = await store.put('turn', id, { ...merged, contextLength, previous: before?.hash ?? rollout.hash });
    turns.push(stored);
    const verdict = verdicts[turn - 1];
    if (!verdict) continue;
    const judged = await store.put('verdict', id, { turn, verdict, reason: 'scripted', of: stored.hash, tookMs: 1 });
    await log(turn, judged.record);
  }
  if (stop === null) return;
  const outcome = outcomeOf(stop);
  const judged = verdicts.map((verdict) => ({ verdict }));
  const { success, turnRewards, returns, called } = scoredTurns(judged, stop, settings);
  await store.put('end', id, {
    outcome,
    stopReason: stop,
    failure:
      outcome === 'failed'
        ? { boundary: 'model', reason: 'scripted', message: 'as the script says', turn: verdicts.length + 1 }
        : null,
    turnRewards,
    returns: outcome === 'complete' ? returns : [],
    success,
    turns: turns.slice(0, verdicts.length).map(({ hash }) => hash),
    finishedAt: birthTime + 10 * (verdicts.length + unjudged + 1),
    ...(script.said && { said: script.said }),
    ...(called.length > 0 && { called }),
  });

  async function log(turn: number, verdict: { verdict: VerdictValue; reason: string }): Promise<void> {
    const records = turns.map(({ record }) => record);
    const version = records.at(-1)!.versionStart;
    const before = {
      txt: (await store.getLog(version, logName(id), 'txt')) ?? '',
      jsonl: (await store.getLog(version, logName(id), 'jsonl')) ?? '',
    };
    await store.putLog(version, logName(id), {
      txt: before.txt + turnLogBlock(rollout.record, records, turn, verdict),
      jsonl: before.jsonl + turnLogLine(records.at(-1)!, verdict),
    });
  }
}

export function turnRecord(turn: number, contextText: string, version = 0): TurnRecord {
  const outputIds = [turn, 7, 1];
  return {
    turn,
    contextIds: [100 + turn, 200, 300],
    contextText,
    outputIds,
    logprobs: [-0.1 * turn, -1.5, -1e-7],
    outputText: `it is ${turn}</s>`,
    answer: `it is ${turn}`,
    finish: 'stop',
    versions: [{ version, start: 0, end: outputIds.length }],
    versionStart: version,
    versionEnd: version,
    contextLength: 3,
    maxNewTokens: 64,
    seed: 5,
    previous: '',
    attempt: 1,
    startedAt: 1,
    finishedAt: 2,
    model: 'tiny',
    server: null,
  };
}
