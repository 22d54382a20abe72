// AReaL's sample with one id per query, as its single-step agent makes it: each answer of the query's rollouts is a
// sequence; the prompt and the time of birth stand once. For rollouts of one turn. Memory: the samples of one group.

import { StoreError } from '../../domain/errors/errors.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { areal, type SequenceSample, sequenceSample } from './areal.ts';
import type { Encoder, Exporter, Labels } from './exporter.ts';

export const arealQueries: Exporter = {
  name: 'areal',
  extension: 'jsonl',
  fields: ['ids', 'keys', 'seqlens'],
  needsIds: true,
  grouped: true,
  description: "AReaL's SequenceSample as JSON, all answers to one query a line",
  lines: (trajectory) => areal.lines(trajectory),
  open,
};

function open(): Encoder {
  let group: string | undefined;
  let members: SequenceSample[] = [];
  const lines = (): string[] => (members.length === 0 ? [] : [`${JSON.stringify(querySample(members))}\n`]);
  return {
    add(trajectory: Trajectory, labels: Labels) {
      const of = labels.group ?? trajectory.rollout.query.queryId;
      const sample = oneTurn(sequenceSample(trajectory));
      const before = of === group ? [] : lines();
      if (of !== group) [group, members] = [of, []];
      members.push(sample);
      return before;
    },
    end: lines,
  };
}

const ONCE: ReadonlySet<string> = new Set(['packed_prompts', 'birth_time', 'task_ids']);

/** The samples of a query's rollouts as one, under the id of the first. */
export function querySample(members: readonly SequenceSample[]): SequenceSample {
  const [first] = members;
  const each = <T>(make: (key: SequenceSample['keys'][number]) => T) =>
    Object.fromEntries(first!.keys.map((key) => [key, make(key)])) as Record<SequenceSample['keys'][number], T>;
  const all = <T>(key: string, of: (sample: SequenceSample) => readonly T[]): T[] =>
    ONCE.has(key) ? [...of(first!)] : members.flatMap((member) => [...of(member)]);
  return {
    ...first!,
    seqlens: each((key) => [all(key, (member) => member.seqlens[key][0])] as const),
    data: {
      ...each((key) => all<number | boolean>(key, (member) => member.data[key]) as number[]),
      birth_time: [born(members)],
    },
  };
}

/** The first of them to begin. */
const born = (members: readonly SequenceSample[]): number =>
  members.reduce((least, { data }) => Math.min(least, data.birth_time[0] as number), Number.POSITIVE_INFINITY);

function oneTurn(sample: SequenceSample): SequenceSample {
  const turns = sample.seqlens.rewards[0].length;
  if (turns === 1) return sample;
  throw new StoreError(`${sample.ids[0]} has ${turns} turns, and a query's sample takes one of each rollout`, {
    reason: 'record-broken',
    fix: 'Export with --sequences rollout.',
  });
}
