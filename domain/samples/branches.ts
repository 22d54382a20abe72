// The samples of an agent's rollout: one for each leaf of its tree of calls, as a trajectory by itself from the root to that
// leaf. A sampled token is trained in the first sample that holds it; in the others the tokens before are the prompt. All
// samples have the return of the rollout. Other rollouts are one sample. Pure.

import type { Labels } from './exporter.ts';
import { ownTurns } from './own-turns.ts';
import type { TurnRecord } from '../rollout/turn.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../rollout/trajectory.ts';
import { pathTo } from '../rollout/turn-facts.ts';
import { plainMessages } from '../agent/conversation.ts';
import { addedMessages } from '../rollout/list-calls.ts';

/** Labels of the rollout, for one of its branches: all of its turns have the advantage of the rollout. */
export function labelsOfBranch(labels: Labels, { turns, branch }: Trajectory): Labels {
  const { turn_advantages: advantages } = labels;
  if (!branch || !advantages) return labels;
  return { ...labels, turn_advantages: turns.map(() => advantages[0]!) };
}

/** The samples of a rollout, in the order of their leaves' turns. Empty if every leaf was abandoned. */
export function branchesOf(trajectory: Trajectory): readonly Trajectory[] {
  const { turns, end } = trajectory;
  if (!turns[0]?.record.asked) return [trajectory];
  const records = turns.map(({ record }) => record);
  const paths = leavesOf(records, end?.abandoned).map((turn) =>
    pathTo(records, turn).map((record) => turns[record.turn - 1]!),
  );
  const trained = new Set<number>();
  return paths.flatMap((path, index) => {
    const before = path.filter(({ record }) => trained.has(record.turn));
    for (const { record } of path) trained.add(record.turn);
    const sample = ownTurns(alone(trajectory, path), before.length + 1);
    if (!sample) return [];
    const calls = path.slice(before.length).map(({ record }) => record.asked!.call);
    const parent = before.at(-1)?.record.asked?.call ?? null;
    return [{ ...sample, branch: { index, of: paths.length, parent, calls } }];
  });
}

/** Turns that no other one extends; an abandoned turn is none, and counts only where another one extends it. */
export function leavesOf(turns: readonly TurnRecord[], abandoned: readonly number[] = []): readonly number[] {
  const kept = new Set(
    turns.flatMap(({ turn }) => (abandoned.includes(turn) ? [] : pathTo(turns, turn).map((one) => one.turn))),
  );
  const inner = new Set([...kept].map((turn) => turns[turn - 1]!.asked?.parent ?? null));
  return [...kept].filter((turn) => !inner.has(turn)).toSorted((a, b) => a - b);
}

/** A path as a trajectory: turns from 1, the messages that the program sent in place of feedback, the rollout's end. */
function alone({ rollout, turns, end }: Trajectory, path: readonly PlayedTurn[]): Trajectory {
  const first = path[0]!.record.asked!;
  const judged = turns.at(-1)!.verdict;
  return {
    rollout: {
      ...rollout,
      query: { ...rollout.query, prompt: { kind: 'messages', messages: plainMessages(first.messages) } },
    },
    turns: path.map(({ record, verdict }, i) => {
      const next = path[i + 1]?.record.asked;
      const shownVerdict = next ? verdict && { ...verdict, messages: plainMessages(addedMessages(next)) } : judged;
      // Along a path the turns follow each other: nothing looks for parents any more.
      const { asked, ...own } = record;
      // A reply that its server held to a form has logprobs of another distribution than the policy's.
      const isHeld = asked?.limits.form !== undefined;
      const said = shownVerdict && { ...shownVerdict, turn: i + 1, ...(isHeld && { train: false as const }) };
      return { record: { ...own, turn: i + 1 }, verdict: said };
    }),
    end: end && endOf(end, path),
  };
}

/** Only the last turn is judged, and every turn has the return of the rollout. */
function endOf(end: EndRecord, path: readonly PlayedTurn[]): EndRecord {
  const isComplete = end.outcome === 'complete';
  const count = path.length;
  const called = path.map((_, i) => i + 1).slice(0, isComplete ? -1 : undefined);
  const ofLast = <T>(all: readonly T[], none: T): T[] => called.map(() => none).concat(isComplete ? all.slice(-1) : []);
  return {
    ...end,
    turnRewards: ofLast(end.turnRewards, 0),
    returns: isComplete ? Array<number>(count).fill(end.returns[0]!) : [],
    success: ofLast(end.success, null),
    turns: path.map(({ record }) => end.turns[record.turn - 1]!),
    called,
  };
}
