// The samples of an agent's rollout: one for each leaf of its tree of calls, as a trajectory by itself from the root to that
// leaf. A sampled token is trained in the first sample that holds it; in the others the tokens before are the prompt. A call that
// the run or its program leaves out of training is no leaf, and its tokens are masked. Other rollouts are one sample. Pure.

import type { Labels } from './exporter.ts';
import { ownTurns } from './own-turns.ts';
import type { TurnRecord } from '../rollout/turn.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../rollout/trajectory.ts';
import { keptCalls, untrainedCalls } from '../rollout/call-credit.ts';
import { pathTo } from '../rollout/turn-facts.ts';
import { plainMessages } from '../agent/index.ts';
import { addedMessages } from '../rollout/list-calls.ts';

/** Labels of the rollout, for one of its branches: its turns have their own advantages, or all of them that of the rollout. */
export function labelsOfBranch(labels: Labels, { turns, branch }: Trajectory): Labels {
  const { turn_advantages: advantages } = labels;
  if (!branch || !advantages) return labels;
  const ofTurn = (turn: number) => (advantages.length === 1 ? advantages[0]! : advantages[turn - 1]!);
  return { ...labels, turn_advantages: turns.map((_, i) => ofTurn(branch.turns[i]!)) };
}

/** The samples of a rollout, in the order of their leaves' turns. Empty if every leaf was abandoned, or none is trained. */
export function branchesOf(trajectory: Trajectory): readonly Trajectory[] {
  const { rollout, turns, end } = trajectory;
  if (!turns[0]?.record.asked) return [trajectory];
  const records = turns.map(({ record }) => record);
  const untrained = new Set(untrainedCalls(records, rollout.settings));
  const left = [...(end?.abandoned ?? []), ...untrained];
  const paths = leavesOf(records, left).map((turn) => pathTo(records, turn).map((record) => turns[record.turn - 1]!));
  const trained = new Set<number>();
  return paths.flatMap((path, index) => {
    const before = path.filter(({ record }) => trained.has(record.turn));
    for (const { record } of path) trained.add(record.turn);
    const sample = ownTurns(alone(trajectory, path, untrained), before.length + 1);
    if (!sample) return [];
    const own = path.slice(before.length).map(({ record }) => record);
    const branch = {
      index,
      of: paths.length,
      parent: before.at(-1)?.record.asked?.call ?? null,
      calls: own.map(({ asked }) => asked!.call),
      turns: own.map(({ turn }) => turn),
      models: own.map(({ asked }) => asked!.model ?? null),
      tags: own.map(({ asked }) => asked!.tag ?? null),
    };
    return [{ ...sample, branch }];
  });
}

/** Turns that no other one extends; one that is `left` out is none, and counts only where another one extends it. */
export function leavesOf(turns: readonly TurnRecord[], left: readonly number[] = []): readonly number[] {
  const kept = keptCalls(turns, left);
  const inner = new Set([...kept].map((turn) => turns[turn - 1]!.asked?.parent ?? null));
  return [...kept].filter((turn) => !inner.has(turn)).toSorted((a, b) => a - b);
}

/** A path as a trajectory: turns from 1, the messages that the program sent in place of feedback, the rollout's end. */
function alone(
  { rollout, turns, end }: Trajectory,
  path: readonly PlayedTurn[],
  untrained: ReadonlySet<number>,
): Trajectory {
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
      const masked = untrained.has(record.turn) && { train: false as const };
      // Along a path the turns follow each other: nothing looks for parents any more.
      const { asked: _, ...own } = record;
      return { record: { ...own, turn: i + 1 }, verdict: shownVerdict && { ...shownVerdict, ...masked, turn: i + 1 } };
    }),
    end: end && endOf(end, path),
  };
}

/** Only the last turn is judged, and has its return: what was earned behind it in the tree is its own. */
function endOf(end: EndRecord, path: readonly PlayedTurn[]): EndRecord {
  const isComplete = end.outcome === 'complete';
  const count = path.length;
  const called = path.map((_, i) => i + 1).slice(0, isComplete ? -1 : undefined);
  const of = <T>(all: readonly T[]): T[] => path.map(({ record }) => all[record.turn - 1]!);
  const ofLast = <T>(own: readonly T[], last: readonly T[]): T[] =>
    own.slice(0, called.length).concat(isComplete ? last : []);
  const returns = isComplete ? of(end.returns) : [];
  // A turn that is undecided has no reward.
  const rewards = of(end.turnRewards).slice(0, isComplete || end.outcome !== 'undecided' ? count : count - 1);
  return {
    ...end,
    turnRewards: ofLast(rewards, returns.slice(-1)),
    returns,
    success: ofLast<0 | 1 | null>(
      path.map(() => null),
      end.success.slice(-1),
    ),
    turns: path.map(({ record }) => end.turns[record.turn - 1]!),
    called,
  };
}
