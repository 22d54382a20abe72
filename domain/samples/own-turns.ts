// The own turns of a fork. They alone are trained on and have returns: what was carried over is their context. Pure.

import { feedbackOn } from '../context/feedback.ts';
import type { Message, Query } from '../query/query.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../rollout/trajectory.ts';
import type { TurnRecord } from '../rollout/turn.ts';

/**
 * The own turns of a forked rollout as a trajectory by itself: what was carried over is the prompt, and turns are numbered
 * from 1. Others are returned as they are; undefined if there is no own turn.
 */
export function ownTurns(played: Trajectory, first = played.rollout.parent?.turn ?? 1): Trajectory | undefined {
  const { rollout, turns, end } = played;
  if (first === 1) return played;
  const laterTurns = turns.slice(first - 1);
  const before = turns.slice(0, first - 1);
  if (laterTurns.length === 0) return undefined;
  const open = laterTurns[0]!.record;
  const { experts: _own, ...rest } = open;
  const experts = [...before.map(({ record }) => record), open].map((record) => record.experts);
  const isWhole = experts.every((slices) => slices !== undefined);
  const prefix: TurnRecord = {
    ...rest,
    ...(isWhole ? { experts: experts.flat() } : open.experts && { expertsMissing: true as const }),
    contextIds: before
      .flatMap(({ record }) => [record.contextIds, record.outputIds])
      .concat([open.contextIds])
      .flat(),
    contextText: before.map(({ record }) => record.contextText + record.outputText).join('') + open.contextText,
  };
  const { parent: _, ...own } = rollout;
  return {
    rollout: { ...own, query: { ...rollout.query, prompt: promptOf(rollout.query, before, prefix) } },
    turns: laterTurns.map(({ record, verdict }, i) => ({
      record: { ...(i === 0 ? prefix : record), turn: i + 1 },
      verdict: verdict && { ...verdict, turn: i + 1 },
    })),
    end: end && ownEnd(end, first),
  };
}

/** The end over the turns from `first` on: G_t looks forward only, so these returns are those of the own turns. */
function ownEnd(end: EndRecord, first: number): EndRecord {
  const fromFirst = <T>(list: readonly T[]): readonly T[] => list.slice(first - 1);
  return {
    ...end,
    turnRewards: fromFirst(end.turnRewards),
    returns: fromFirst(end.returns),
    success: fromFirst(end.success),
    turns: fromFirst(end.turns),
  };
}

function promptOf({ prompt }: Query, before: readonly PlayedTurn[], first: TurnRecord): Query['prompt'] {
  if (prompt.kind === 'text') return { kind: 'text', text: first.contextText };
  const messages: Message[] = [...prompt.messages];
  for (const [i, { record, verdict }] of before.entries()) {
    const next = before[i + 1]?.record ?? first;
    messages.push({ role: 'assistant', content: record.answer });
    if (verdict) messages.push(...feedbackOn(verdict, next.said?.text));
  }
  return { kind: 'messages', messages };
}
