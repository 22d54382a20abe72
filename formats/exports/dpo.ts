// DPO: a right and a wrong answer to the same messages, of two samples of one query. Each answer is in one pair at most,
// and no pair occurs twice. Pairs need the whole group: memory holds one group's texts.

import { sampleId } from '../../domain/samples/neutral-row.ts';
import type { Message } from '../../domain/query/query.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { chatOf, chatTools, withoutChat } from './chat.ts';
import type { Encoder, Exporter, Labels } from '../../domain/samples/exporter.ts';

interface Answers {
  readonly prompt: readonly Message[];
  readonly tools: ReturnType<typeof chatTools>;
  /** The id of the first sample that gave each text. */
  readonly right: Map<string, string>;
  readonly wrong: Map<string, string>;
}

export const dpo: Exporter = {
  name: 'dpo',
  extension: 'jsonl',
  fields: ['prompt', 'chosen', 'rejected'],
  needsIds: false,
  grouped: true,
  description: 'pairs of a right and a wrong answer to the same messages (TRL DPOTrainer)',
  note: 'dpo holds text, not token ids, and only queries that were answered both right and wrong: run with --samples 2 or more.',
  leavesOut: withoutChat,
  lines: (trajectory) => pairLines([trajectory]),
  open,
};

function open(): Encoder {
  let group: string | undefined;
  let byContext = new Map<string, Answers>();
  return {
    add(trajectory: Trajectory, labels: Labels) {
      const of = labels.group ?? trajectory.rollout.query.queryId;
      const before = of === group ? [] : pairs(byContext);
      if (of !== group) [group, byContext] = [of, new Map()];
      collect(byContext, trajectory);
      return before.map((line) => `${line}\n`);
    },
    end: () => pairs(byContext).map((line) => `${line}\n`),
  };
}

/** The pairs among these rollouts of one group. */
export function pairLines(group: readonly Trajectory[]): string[] {
  const byContext = new Map<string, Answers>();
  for (const trajectory of group) collect(byContext, trajectory);
  return pairs(byContext);
}

function collect(byContext: Map<string, Answers>, trajectory: Trajectory): void {
  const { query, sample } = trajectory.rollout;
  for (const { context, answer, right, called } of chatOf(trajectory)) {
    if (called) continue;
    const key = JSON.stringify(context);
    const answers = byContext.get(key) ?? {
      prompt: context,
      tools: chatTools(trajectory),
      right: new Map(),
      wrong: new Map(),
    };
    byContext.set(key, answers);
    const texts = right ? answers.right : answers.wrong;
    if (!texts.has(answer.content)) texts.set(answer.content, sampleId(query.queryId, sample));
  }
}

function pairs(byContext: ReadonlyMap<string, Answers>): string[] {
  return [...byContext.values()].flatMap(({ prompt, tools, right, wrong }) => {
    const rejected = [...wrong];
    return [...right].slice(0, rejected.length).map(([text, id], i) => {
      const [other, otherId] = rejected[i]!;
      const said = (content: string): Message[] => [{ role: 'assistant', content }];
      return JSON.stringify({ id, rejected_id: otherId, prompt, chosen: said(text), rejected: said(other), ...tools });
    });
  });
}
