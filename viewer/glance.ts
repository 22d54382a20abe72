// The small facts of a rollout from its files, without its texts and tokens: its end, the last kilobytes of each turn,
// and its verdicts. For lists only: the hash of a turn is not proved here, `check` and the rollout's own page do that.

import { join } from 'node:path';
import { outputTokens, type Finish, type TurnRecord } from '../domain/turn.ts';
import type { EndRecord, VerdictRecord } from '../domain/trajectory.ts';
import { successOf } from '../domain/ending.ts';
import { END_FILE, parseRolloutFile, turnFile, verdictFile } from '../storage/record/layout.ts';
import { decodeRecord, type Owner } from '../storage/record/text.ts';
import type { Doing, Glance } from './model/row.ts';
import { changedAt, filesIn, readTail } from './plain-files.ts';

/** The end of a rollout; undefined while there is none. */
export function readEnd(folder: string, owner: Owner): EndRecord | { problem: string } | undefined {
  const text = readTail(join(folder, END_FILE));
  if (text === undefined) return undefined;
  const decoded = decodeRecord('end', owner, text);
  return 'problem' in decoded ? { problem: `${END_FILE} ${decoded.problem}` } : (decoded.record as EndRecord);
}

export interface OpenFacts {
  readonly turns: number;
  readonly success: readonly (0 | 1 | null)[];
  readonly doing: Doing;
}

/** The turns of an open rollout, and the step that it waits for. */
export function readOpen(folder: string): OpenFacts {
  const files = filesIn(folder).map((name) => ({ name, ...parseRolloutFile(name) }));
  const numbers = (kind: 'turn' | 'verdict') => files.flatMap((file) => (file.kind === kind ? file.turn : []));
  const [turns, judged] = [Math.max(0, ...numbers('turn')), Math.max(0, ...numbers('verdict'))];
  const chunks = files.filter((file) => file.kind === 'chunk' && file.turn === turns + 1).length;
  const since = Math.max(0, ...files.map(({ name }) => changedAt(join(folder, name)) ?? 0));
  const success = Array.from({ length: judged }, (_, i) => readVerdict(folder, i + 1)).flatMap((verdict) =>
    verdict?.verdict === 'called' ? [] : [verdict ? successOf(verdict.verdict) : null],
  );
  const what = turns > judged ? 'judge' : 'answer';
  return { turns, success, doing: { turn: turns > judged ? turns : turns + 1, what, chunks, since } };
}

export function readGlance(folder: string, turns: number): Glance {
  const numbers = Array.from({ length: turns }, (_, i) => i + 1);
  const facts = numbers.map((turn) => readTurn(folder, turn));
  const verdicts = numbers.map((turn) => readVerdict(folder, turn));
  const known = facts.flatMap((fact) => fact ?? []);
  return {
    tokens: facts.map((fact) => fact?.tokens ?? 0),
    ms: facts.map((fact) => (fact ? Math.max(0, fact.finishedAt - fact.startedAt) : 0)),
    finish: facts.map((fact) => (fact?.finish ?? '?').charAt(0)).join(''),
    reasons: verdicts.map((verdict) => intern(verdict?.reason ?? '')),
    extracted: verdicts.findLast((verdict) => verdict?.extracted !== undefined)?.extracted ?? null,
    server: intern(known.findLast(({ server }) => server !== null)?.server ?? null),
    versions: [Math.min(...known.map((f) => f.versionStart)), Math.max(...known.map((f) => f.versionEnd))],
  };
}

interface TurnTail extends Pick<TurnRecord, 'versionStart' | 'versionEnd' | 'startedAt' | 'finishedAt' | 'server'> {
  readonly finish: Finish;
  readonly tokens: number;
}

const TAIL_BYTES = 4096;

/** Lists and texts come first in a turn's record; quotes inside of texts are escaped, so none can forge this. */
function readTurn(folder: string, turn: number): TurnTail | undefined {
  const path = join(folder, turnFile(turn));
  const tail = readTail(path, TAIL_BYTES);
  if (tail === undefined) return undefined;
  const at = tail.lastIndexOf('"finish":"');
  // Text of a server without token ids has its count in a list before.
  const whole = at < 0 || tail.includes('"trainable":false', at);
  const text = whole ? readTail(path) : `{${tail.slice(at)}`;
  try {
    const record = JSON.parse(text ?? '') as Partial<TurnRecord>;
    const { finish, versionStart = 0, versionEnd = 0, startedAt = 0, finishedAt = 0, server = null } = record;
    if (finish === undefined) return undefined;
    const spans = record.versions?.at(-1)?.end ?? 0;
    const { outputIds = [], textLogprobs = [] } = record;
    const tokens = spans || outputTokens({ outputIds, textLogprobs });
    return { finish, tokens, versionStart, versionEnd, startedAt, finishedAt, server };
  } catch {
    // Torn: its own page says so.
    return undefined;
  }
}

function readVerdict(folder: string, turn: number): VerdictRecord | undefined {
  const text = readTail(join(folder, verdictFile(turn)));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as VerdictRecord;
  } catch {
    return undefined;
  }
}

/** A name that many rows share is in memory once. */
const NAMES = new Map<string, string>();
function intern<T extends string | null>(name: T): T {
  if (name === null) return name;
  if (NAMES.size < 10_000 && !NAMES.has(name)) NAMES.set(name, name);
  return (NAMES.get(name) ?? name) as T;
}
