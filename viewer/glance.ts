// The small facts of a rollout as a row of a list, from its files or its line, without its texts and tokens. For lists
// only: the hash of a turn is not proved here, `check` and the rollout's own page do that. Links are not followed.

import { join } from 'node:path';
import type { RolloutSummary, TurnSummary } from '../domain/rollout/rollout-summary.ts';
import { END_FILE, parseRolloutFile } from '../records/record/layout.ts';
import type { Owner } from '../records/record/text.ts';
import { type RolloutFiles, summaryOf, HEAD_BYTES, TAIL_BYTES } from '../records/summary.ts';
import type { Doing, Glance, Row } from './model/row.ts';
import { changedAt, filesIn, readTail } from './plain-files.ts';

/** The part of a row that its files decide. */
export type Facts = Omit<Row, 'index' | 'query' | 'title' | 'sample' | 'attempt'>;

export function plainFiles(folder: string): RolloutFiles {
  return {
    text: (file) => readTail(join(folder, file)),
    tail: (file) => readTail(join(folder, file), TAIL_BYTES, HEAD_BYTES),
    names: () => filesIn(folder),
  };
}

/** `ends`: an ended rollout without its turns. Undefined if it is not there. */
export function factsOf(files: RolloutFiles, owner: Owner, detail: 'ends' | 'turns'): Facts | undefined {
  let flaw: string | undefined;
  const onBroken = ({ path, problem }: { path: string; problem: string }) =>
    (flaw = `${path.slice(path.lastIndexOf('/') + 1)} ${problem}`);
  const found = summaryOf(files, owner, null, { detail, onBroken });
  if (found) return rowFacts(found, detail === 'turns' || found.outcome === null);
  if (flaw === undefined) return undefined;
  // Of a turn that cannot be read the end still says how the rollout ended.
  const end = detail === 'turns' ? summaryOf(files, owner, null, { detail: 'ends' }) : undefined;
  const ended = end && end.outcome !== null ? rowFacts(end, false) : NOT_ENDED;
  return { ...ended, turns: NOTHING, flaw };
}

export function rowFacts(found: RolloutSummary, withTurns: boolean): Facts {
  const { outcome, stopReason, failure, success, returns, finishedAt, turns, steered } = found;
  const glance = withTurns ? glanceOf(turns, success.length) : null;
  const undecided = outcome === 'undecided' ? (glance?.reasons.at(-1) ?? null) : null;
  return {
    state: outcome ?? 'open',
    stop: stopReason,
    reason: failure ?? undecided,
    success,
    reward: returns[0] ?? null,
    endedAt: finishedAt,
    turns: glance,
    ...(steered && { steered: true as const }),
  };
}

function glanceOf(turns: readonly TurnSummary[], judged: number): Glance {
  const answers = turns.flatMap(({ verdict }, i) => (verdict === 'called' ? [] : i));
  // Calls whose results no turn could take are an answer.
  if (answers.length < judged) answers.push(turns.length - 1);
  return {
    ...(answers.length < turns.length && { answers }),
    tokens: turns.map(({ outputTokens }) => outputTokens),
    ms: turns.map(({ startedAt, finishedAt }) => Math.max(0, finishedAt - startedAt)),
    finish: turns.map(({ finish }) => finish.charAt(0)).join(''),
    reasons: turns.map(({ reason }) => intern(reason ?? '')),
    extracted: turns.findLast(({ extracted }) => extracted !== null)?.extracted ?? null,
    server: intern(turns.findLast(({ server }) => server !== null)?.server ?? null),
    versions: [
      Math.min(...turns.map(({ versionStart }) => versionStart)),
      Math.max(...turns.map(({ versionEnd }) => versionEnd)),
    ],
  };
}

const NOTHING: Glance = glanceOf([], 0);
/** A rollout of which nothing is known yet. */
export const NOT_ENDED: Facts = {
  state: 'open',
  stop: null,
  reason: null,
  success: [],
  reward: null,
  endedAt: null,
  turns: NOTHING,
};

/** The step that an open rollout waits for; null if it has an end. */
export function doingOf(folder: string): Doing | null {
  const names = filesIn(folder);
  if (names.includes(END_FILE)) return null;
  const files = names.map((name) => ({ name, ...parseRolloutFile(name) }));
  const last = (kind: 'turn' | 'verdict') =>
    Math.max(0, ...files.flatMap((file) => (file.kind === kind ? file.turn : [])));
  const [turns, judged] = [last('turn'), last('verdict')];
  const chunks = files.filter((file) => file.kind === 'chunk' && file.turn === turns + 1).length;
  const since = Math.max(0, ...files.map(({ name }) => changedAt(join(folder, name)) ?? 0));
  const what = turns > judged ? 'judge' : 'answer';
  return { turn: turns > judged ? turns : turns + 1, what, chunks, since };
}

/** A name that many rows share is in memory once. */
const NAMES = new Map<string, string>();
function intern<T extends string | null>(name: T): T {
  if (name === null) return name;
  if (NAMES.size < 10_000 && !NAMES.has(name)) NAMES.set(name, name);
  return (NAMES.get(name) ?? name) as T;
}
