// Proves a rollout's end: outcome, success, returns and failure follow from its turns, its verdicts and the settings; the rule
// that ended it is the first one that could; and no turn was played after it.

import { scoredCalls } from '../../domain/rollout/call-credit.ts';
import { outcomeOf, scoredTurns, stopReason } from '../../domain/rollout/ending.ts';
import { boundaryOfReason } from '../../domain/errors/reasons.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { EndRecord, Failure, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { differences } from './differences.ts';
import type { CheckedRollout, Problem } from './checked.ts';
import { originalOf } from '../../domain/rollout/copy-records.ts';
import type { Carried } from '../../domain/rollout/lineage.ts';
import type { RecordKind } from '../format/kinds.ts';
import { encodeRecord } from '../format/text.ts';
import { fileOf, ROLLOUT_FILE } from '../format/rollout-file.ts';

export function* endProblems({ rollout, turns, verdicts, end, agent }: CheckedRollout): Generator<string> {
  const { settings } = rollout;
  if (!end) return;
  const count = end.turns.length;
  const played = turns.slice(0, count);
  const said = verdicts.slice(0, count).flatMap((verdict) => verdict ?? []);
  const outcome = outcomeOf(end.stopReason);
  const messages = played.flatMap((turn) => (turn?.record.said ? [turn.record.turn] : []));
  const right = {
    outcome,
    failure: outcome === 'failed' ? end.failure && rightFailure(end.failure, count) : null,
    turns: played.map((turn, i) => turn?.hash ?? end.turns[i]),
    said: played.includes(undefined) ? end.said : unlessEmpty(messages),
    ...(said.length === count && scores(end, said, settings, playedCalls(settings, played), agent?.abandoned)),
  };
  yield* differences(end, right);
  if (outcome === 'failed' && !end.failure) yield 'says that it failed, and names no failure';
  if (outcome === 'complete' && count === 0) yield 'says complete, though no turn was played';
  if (said.length === count) yield* stopProblems(end, settings, said);
  if (end.stopReason === 'context-length') yield* roomProblems(turns[count - 1]?.record, settings);
}

const unlessEmpty = (list: readonly number[]): readonly number[] | undefined => (list.length > 0 ? list : undefined);

/** The calls of an agent's program; undefined where none played it, or a record is missing. */
function playedCalls({ program }: RolloutSettings, played: CheckedRollout['turns']): readonly TurnRecord[] | undefined {
  const records = played.flatMap((turn) => (turn?.record.asked ? [turn.record] : []));
  return program && records.length === played.length ? records : undefined;
}

function scores(
  { stopReason: stop }: EndRecord,
  said: readonly VerdictRecord[],
  settings: RolloutSettings,
  calls: readonly TurnRecord[] | undefined,
  abandoned: readonly number[] | undefined,
): object {
  const { success, turnRewards, returns, called } = calls
    ? scoredCalls(calls, said, stop, settings, abandoned)
    : scoredTurns(said, stop, settings);
  const complete = outcomeOf(stop) === 'complete';
  return { success, turnRewards, returns: complete ? returns : [], called: unlessEmpty(called) };
}

function rightFailure(failure: Failure, turns: number): Failure {
  const { boundary, reason } = failure;
  // An error of no known class has the name of its type, and is a fault of Everturn.
  const known = boundary === 'everturn' ? boundary : boundaryOfReason(reason);
  return { ...failure, boundary: known ?? boundary, turn: turns + 1 };
}

/** The rule that ends a rollout follows from its verdicts in order. */
function* stopProblems(end: EndRecord, settings: RolloutSettings, said: readonly VerdictRecord[]): Generator<string> {
  let answer = 0;
  for (const [i, { verdict, done }] of said.entries()) {
    const rule = verdict === 'called' ? undefined : stopReason(++answer, verdict, settings, done);
    const isLast = i + 1 === said.length;
    if (!isLast && rule) yield `goes on after turn ${i + 1}, which ends a rollout by ${rule}`;
    // A failure or a cancellation may come at any time.
    if (!isLast || rule === end.stopReason || end.outcome === 'failed' || end.outcome === 'cancelled') continue;
    if (rule) yield `says ${end.stopReason}; turn ${i + 1} ends it by ${rule}`;
    else if (end.stopReason !== 'context-length') yield `says ${end.stopReason}, and no rule ends it at turn ${i + 1}`;
  }
}

/** Longer than the feedback of any template. */
const FEEDBACK_TOKENS = 1000;

/** For an embedded model, whose context length cannot change: a budget shows the minimum length of its context. */
function* roomProblems(last: TurnRecord | undefined, { model }: RolloutSettings): Generator<string> {
  const embedded = /^(?:tiny$|scripted$|transformers:)/.test(model);
  if (!last || last.server !== null || !embedded) return;
  const left = last.maxNewTokens - last.outputIds.length;
  if (left > FEEDBACK_TOKENS) yield `says that no further turn fits; turn ${last.turn} left room for ${left} tokens`;
}

interface Copy {
  readonly turn: number;
  readonly carried?: Carried;
}

export function* carriedProblems({ rollout, turns, verdicts, messages }: CheckedRollout): Generator<Problem> {
  const { parent } = rollout;
  const copies = parent ? parent.turn - 1 : 0;
  const markOf = (turn: number) => turns[turn - 1]?.record.carried;
  for (const [i, turn] of turns.entries()) if (turn) yield* proved(fileOf('turn', i + 1), 'turn', turn.record);
  for (const [i, verdict] of verdicts.entries())
    if (verdict) yield* proved(fileOf('verdict', i + 1), 'verdict', verdict);
  for (const [file, { record }] of messages) yield* proved(file, 'say', record);
  if (!parent) return;
  if (parent.query !== rollout.query.queryId)
    yield [ROLLOUT_FILE, `goes on from the query ${JSON.stringify(parent.query)}, and plays another`];
  let previous = parent.rolloutHash;
  for (let turn = 1; turn <= copies; turn++) {
    const mark = markOf(turn);
    // Broken, not a copy, or not there yet.
    if (!mark) return;
    if (mark.previous !== previous)
      yield [fileOf('turn', turn), `is a copy of a turn behind ${mark.previous}; the one before it is ${previous}`];
    previous = mark.sha256;
  }
  if (previous !== parent.hash)
    yield [ROLLOUT_FILE, `goes on from ${parent.hash}; the last record that it carries over is ${previous}`];

  function* proved(file: string, kind: RecordKind, copy: Copy): Generator<Problem> {
    const { turn, carried } = copy;
    if (!carried || !parent || turn > copies) {
      if (carried) yield [file, `is marked as carried over, and its rollout carries ${copies} turns over`];
      else if (turn <= copies) yield [file, 'is no copy, though its turn is carried over'];
      return;
    }
    const changed =
      kind === 'turn' ? { previous: carried.previous ?? '' } : { of: markOf(kind === 'say' ? turn - 1 : turn)?.sha256 };
    const { query, sample, attempt } = parent;
    const { hash } = encodeRecord(kind, { query, sample, attempt }, originalOf(copy, changed as Partial<Copy>));
    if (hash !== carried.sha256)
      yield [file, `is no copy of ${carried.sha256}: without its marks it has the hash ${hash}`];
  }
}

/** Clocks synchronised over a network differ by less. */
export const CLOCK_SKEW_MS = 5000;

export function* timeProblems({ turns, end }: CheckedRollout, skewMs: number): Generator<Problem> {
  for (const [i, turn] of turns.entries()) {
    const { asked, carried, startedAt } = turn?.record ?? {};
    // An agent's calls may be made side by side.
    const parent = asked ? asked.parent : i;
    const before = parent === null ? undefined : turns[parent - 1]?.record;
    // The times of what was carried over from another run are that run's.
    if (startedAt === undefined || carried || !before || before.carried) continue;
    const late = before.finishedAt - startedAt;
    if (late > skewMs)
      yield [
        fileOf('turn', i + 1),
        `was begun at ${startedAt}, ${late} ms before turn ${parent} was finished at ${before.finishedAt}`,
      ];
  }
  if (!end) return;
  // A terminated workflow leaves turns behind; a restarted one may end before it reaches them.
  const broken = end.outcome === 'failed' || end.outcome === 'cancelled';
  for (let i = end.turns.length + (broken ? 1 : 0); i < turns.length; i++) {
    const left = turns[i]?.record;
    if (!(broken && left && left.startedAt < end.finishedAt))
      yield [fileOf('turn', i + 1), `was played after the end at turn ${end.turns.length}`];
  }
}
