// A forger with everything: reads a run's folder, changes what it says, and writes all of it anew so that every hash,
// every reference, every reward, log and count agrees. What a check then finds, it finds by what the records mean.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { scoredTurns } from '../../../domain/rollout/ending.ts';
import { addResult, noCounts } from '../../../domain/run/progress.ts';
import type { Query } from '../../../domain/run/query.ts';
import type { CallRecord, IntentRecord } from '../../../domain/tools/tool.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../../domain/rollout/trajectory.ts';
import { logName, turnLogBlock, turnLogLine } from '../../../domain/rollout/turn-log.ts';
import { outputTokens, type ChunkRecord, type TurnRecord } from '../../../domain/rollout/turn.ts';
import { countedVerdicts } from '../../../domain/rollout/verdict.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { openLoose } from '../ended-rig.ts';
import { logPath, parseRolloutFile, rolloutFolder } from '../../../records/format/layout.ts';
import { hashQueries } from '../../../records/run/queries.ts';
import type { RunRecord } from '../../../records/format/run-record.ts';
import type { Store } from '../../../records/store.ts';

type Loose<T> = { -readonly [K in keyof T]: T[K] };

export interface LooseRollout {
  rollout: Loose<RolloutRecord>;
  turns: Loose<TurnRecord>[];
  verdicts: Loose<VerdictRecord>[];
  end: Loose<EndRecord>;
  chunks: Loose<ChunkRecord>[];
  calls: Loose<CallRecord>[];
  intents: Loose<IntentRecord>[];
}

export interface LooseRun {
  run: Loose<RunRecord>;
  queries: Loose<Query>[];
  rollouts: LooseRollout[];
  result: Record<string, unknown> | null;
}

/** A folder that was packed into one JSON file, path → text; an index, which is binary, in base64. */
export function unpack(fixture: string, out: string): void {
  const files = JSON.parse(readFileSync(new URL(`../../fixtures/${fixture}`, import.meta.url), 'utf8')) as Record<
    string,
    string
  >;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text, path.endsWith('.index') ? 'base64' : 'utf8');
  }
}

async function readWhole(store: Store): Promise<LooseRun> {
  const queries = await store.readQueries(0, await store.countQueries());
  const rollouts: LooseRollout[] = [];
  for await (const id of store.listRollouts()) {
    const end = (await store.getEnd(id))!.record;
    const turns: TurnRecord[] = [];
    const [calls, intents]: [CallRecord[], IntentRecord[]] = [[], []];
    const verdicts: VerdictRecord[] = [];
    for (let turn = 1; turn <= end.turns.length; turn++) {
      turns.push((await store.getTurn(id, turn))!.record);
      verdicts.push((await store.getVerdict(id, turn))!.record);
    }
    for (const name of await store.listFiles(id)) {
      const file = parseRolloutFile(name);
      if (file.kind === 'call') calls.push((await store.getCall(id, file.turn, file.call))!.record);
      if (file.kind === 'intent') intents.push((await store.getIntent(id, file.turn, file.call))!.record);
    }
    const rollout = (await store.getRollout(id))!.record;
    rollouts.push({ rollout, turns, verdicts, end, chunks: [], calls, intents });
  }
  rollouts.sort((a, b) => a.rollout.index! - b.rollout.index! || a.rollout.sample - b.rollout.sample);
  return structuredClone({
    run: (await store.getRun())!.record,
    queries,
    rollouts,
    result: (await store.getResult())!.record as Record<string, unknown>,
  }) as LooseRun;
}

/** Rollouts that stay as they were are left alone: of the rest, nothing old remains. */
async function writeWhole(out: string, whole: LooseRun, before: LooseRun): Promise<void> {
  const { run, queries, rollouts } = whole;
  const store = openLoose(out, run.run);
  const kept = (one: LooseRollout, among: LooseRun) => among.rollouts.some((each) => isDeepStrictEqual(each, one));
  for (const name of ['run.json', 'result.json', 'queries.jsonl', 'queries.index'])
    rmSync(join(store.folder, name), { force: true });
  for (const one of before.rollouts.filter((each) => !kept(each, whole))) {
    const id = { ...one.rollout, query: one.rollout.query.queryId };
    rmSync(join(store.folder, rolloutFolder(id)), { recursive: true });
    for (const { versionStart } of one.turns)
      for (const kind of ['txt', 'jsonl'] as const)
        rmSync(join(store.folder, logPath(versionStart, logName(id), kind)), { force: true });
  }
  await store.putQueries(queries);
  if (run.dataset) {
    const { sha256 } = await hashQueries(queries);
    run.dataset = { ...run.dataset, sha256 };
  }
  await store.putRun(run);
  const counts = noCounts();
  for (const one of rollouts) await writeRollout(store, one, counts, out, run.settings.numTurns, kept(one, before));
  if (whole.result)
    await store.putResult({ ...whole.result, counts: { ...(whole.result['counts'] as object), ...counts } });
}

async function writeRollout(
  store: Store,
  { rollout, turns, verdicts, end, chunks, calls, intents }: LooseRollout,
  counts: ReturnType<typeof noCounts>,
  out: string,
  numTurns: number,
  isThere: boolean,
): Promise<void> {
  const { run, sample, attempt, settings } = rollout;
  const id = { run, query: rollout.query.queryId, sample, attempt };
  const judged = verdicts.slice(0, turns.length);
  const { success, turnRewards, returns, called } = scoredTurns(judged, end.stopReason, settings);
  const given = end.outcome === 'complete' ? returns : [];
  const ofCalls = called.length > 0 ? { called } : {};
  const tokens = turns.reduce((sum, turn) => sum + outputTokens(turn)!, 0);
  const trajectory = { out, ...id };
  const { outcome, stopReason } = end;
  const facts = { outcome, stopReason, returns: given, success, tokens, reason: null, turns: turns.length };
  const result = { ...facts, verdicts: countedVerdicts(judged), trajectory, ...ofCalls };
  if (attempt === 1) addResult(counts, result, numTurns);
  if (isThere) return;

  let previous = (await store.putRollout(id, rollout)).hash;
  let contextLength = 0;
  const written: TurnRecord[] = [];
  const hashes: string[] = [];
  for (const [i, turn] of turns.entries()) {
    contextLength += turn.contextIds.length;
    const { record, hash } = await store.putTurn(id, { ...turn, contextLength, previous });
    contextLength += turn.outputIds.length;
    previous = hash;
    written.push(record);
    hashes.push(hash);
    for (const one of intents) if (one.turn === turn.turn) await store.putIntent(id, { ...one, of: hash });
    const renamed = new Map<number, string>();
    for (const one of calls)
      if (one.turn === turn.turn) renamed.set(one.call, (await store.putCall(id, { ...one, of: hash })).hash);
    const verdict = verdicts[i];
    const results = verdict?.calls?.map((one, n) =>
      one.of === null ? one : { ...one, of: renamed.get(n + 1) ?? one.of },
    );
    if (verdict) await store.putVerdict(id, { ...verdict, of: hash, ...(results && { calls: results }) });
  }
  for (const chunk of chunks) await store.putChunk(id, chunk);
  await store.putEnd(id, { ...end, success, turnRewards, returns: given, ...ofCalls, turns: hashes });
  for (const version of new Set(written.map(({ versionStart }) => versionStart))) {
    const of = written.filter(({ versionStart }) => versionStart === version);
    await store.putLog(version, logName(id), {
      txt: of.map((t) => turnLogBlock(rollout, written, t.turn, judged[t.turn - 1]!)).join(''),
      jsonl: of.map((t) => turnLogLine(t, judged[t.turn - 1]!)).join(''),
    });
  }
}

/** Applies `change` to the run in `out` and makes everything else agree with it. `must`: it has to change something. */
export async function forgeRun(
  out: string,
  run: string,
  change: (whole: LooseRun) => void,
  must = true,
): Promise<void> {
  const whole = await readWhole(openFileStore(out, run));
  const before = structuredClone(whole);
  change(whole);
  if (must && isDeepStrictEqual(whole, before)) throw new Error('the forgery changes nothing');
  await writeWhole(out, whole, before);
}

/** Of a record's text that is changed, with the hash that this text has. */
export function rehashed(path: string, change: (text: string) => string, sha256: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const end = /,"sha256":"[0-9a-f]{64}"\}\n$/.exec(text)!;
  const body = change(text.slice(0, end.index));
  if (body === text.slice(0, end.index)) throw new Error(`${path}: nothing was changed`);
  writeFileSync(path, `${body},"sha256":"${sha256(body)}"}\n`);
}
