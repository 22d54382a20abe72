// AReaL's trainer sample: the JSON form of one `SequenceSample` list element per trajectory, one a line; or one per turn, the
// only layout in which its PPO actor loads rollouts of different lengths; or one per query, as its single-step agent makes it,
// for rollouts of one turn. T sequences, each the whole context of its turn; a token carries loss where its prompt_mask is
// false. Floats are float32 values. Guarantees the lengths that the trainer checks, or throws.

import { type CompleteTurns, completeTurns } from '../../domain/samples/complete-turns.ts';
import { sampleId } from '../../domain/samples/neutral-row.ts';
import { trainedTokens } from '../../domain/rollout/credit.ts';
import { TASK_INDEX } from '../../domain/query/query.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { noEos } from '../../domain/rollout/turn-facts.ts';
import type { Exporter, Encoder, Labels } from '../../domain/samples/exporter.ts';
import { StoreError } from '../../domain/errors/errors.ts';

const DTYPES = {
  packed_input_ids: 'torch.int64',
  prompt_mask: 'torch.bool',
  packed_logprobs: 'torch.float32',
  seq_no_eos_mask: 'torch.bool',
  packed_prompts: 'torch.int64',
  version_start: 'torch.int32',
  version_end: 'torch.int32',
  rewards: 'torch.float32',
  birth_time: 'torch.int64',
  task_ids: 'torch.int64',
} as const;
type Key = keyof typeof DTYPES;
type PerKey<T> = Record<Key, T>;

interface SequenceSample {
  readonly ids: readonly [string];
  readonly keys: readonly Key[];
  readonly trailing_shapes: PerKey<readonly []>;
  readonly dtypes: PerKey<string>;
  /** One list per id: the length of each of its sequences. */
  readonly seqlens: PerKey<readonly [readonly number[]]>;
  /** Flat; as long as the sum of its seqlens. */
  readonly data: PerKey<readonly number[] | readonly boolean[]>;
  readonly metadata: Record<string, never>;
}

export const areal = {
  name: 'areal',
  extension: 'jsonl',
  fields: ['ids', 'keys', 'seqlens'],
  needsIds: true,
  description: "AReaL's SequenceSample as JSON, one trajectory a line",
  id: idOf,
  lines: (trajectory: Trajectory) => [JSON.stringify(sequenceSample(trajectory))],
} satisfies Exporter;

function idOf({ rollout: { query, sample }, branch }: Trajectory): string {
  return sampleId(query.queryId, sample, branch?.index);
}

export function sequenceSample(trajectory: Trajectory): SequenceSample {
  return sequenceSampleOf(trajectory, completeTurns(trajectory), { id: idOf(trajectory) });
}

interface Layout {
  readonly id: string;
  /** Only this turn, 0-based: its whole context is its prompt. Default: every turn, a sequence each. */
  readonly only?: number;
}

function sequenceSampleOf(
  { rollout, turns: played }: Trajectory,
  { turns: all, end, float32, refuse }: CompleteTurns,
  { id, only }: Layout,
): SequenceSample {
  const chosen = <T>(list: readonly T[]): readonly T[] => (only === undefined ? list : [list[only]!]);
  const inputIds: number[] = [];
  const promptMask: boolean[] = [];
  const logprobs: number[] = [];
  const lengths: number[] = [];
  const sequence: number[] = [];
  for (const [t, record] of all.entries()) {
    append(sequence, record.contextIds);
    const context = sequence.length;
    append(sequence, record.outputIds);
    if (only !== undefined && t !== only) continue;
    append(inputIds, sequence);
    fill(promptMask, true, context);
    append(
      promptMask,
      trainedTokens(record, played[t]!.verdict, refuse).map((trained) => trained === 0),
    );
    fill(logprobs, 0, context - 1);
    append(logprobs, record.logprobs.map(float32));
    lengths.push(sequence.length);
    if (t === only) break;
  }

  const turns = chosen(all);
  const ones = turns.map(() => 1);
  const transitions = lengths.map((length) => length - 1);
  const { task } = rollout.query;
  const index = TASK_INDEX[task];
  const prompt = only === undefined ? turns[0]!.contextIds : inputIds.slice(0, turns[0]!.contextLength);
  const sample: SequenceSample = {
    // Samples beyond the first have their own ids: a batch refuses doubled ones.
    ids: [id],
    keys: Object.keys(DTYPES) as Key[],
    trailing_shapes: perKey(() => []),
    dtypes: DTYPES,
    seqlens: {
      packed_input_ids: [lengths],
      prompt_mask: [lengths],
      packed_logprobs: [transitions],
      seq_no_eos_mask: [ones],
      packed_prompts: [[prompt.length]],
      version_start: [ones],
      version_end: [ones],
      rewards: [ones],
      birth_time: [[1]],
      task_ids: [[1]],
    },
    data: {
      packed_input_ids: inputIds,
      prompt_mask: promptMask,
      packed_logprobs: logprobs,
      seq_no_eos_mask: turns.map(({ finish }) => noEos(finish)),
      packed_prompts: prompt,
      version_start: turns.map(({ versionStart }) => versionStart),
      version_end: turns.map(({ versionEnd }) => versionEnd),
      rewards: chosen(end.returns).map(float32),
      birth_time: [rollout.birthTime],
      task_ids: index === undefined ? [] : [index],
    },
    metadata: {},
  };
  return index === undefined ? without('task_ids', sample) : sample;
}

/** A key that a sample need not have; AReaL has no index for a task of the user's own. */
function without(key: Key, sample: SequenceSample): SequenceSample {
  const rest = <T>(values: PerKey<T>): PerKey<T> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name !== key)) as PerKey<T>;
  return {
    ...sample,
    keys: sample.keys.filter((name) => name !== key),
    trailing_shapes: rest(sample.trailing_shapes),
    dtypes: rest(sample.dtypes),
    seqlens: rest(sample.seqlens),
    data: rest(sample.data),
  };
}

function perKey<T>(make: () => T): PerKey<T> {
  return Object.fromEntries(Object.keys(DTYPES).map((key) => [key, make()])) as PerKey<T>;
}

// Not push(...): a context may be longer than a call's arguments.
function append<T>(list: T[], more: readonly T[]): void {
  for (const value of more) list.push(value);
}

function fill<T>(list: T[], value: T, count: number): void {
  for (let i = 0; i < count; i++) list.push(value);
}

export const arealTurns: Exporter = {
  name: 'areal',
  extension: 'jsonl',
  fields: ['ids', 'keys', 'seqlens'],
  needsIds: true,
  description: "AReaL's SequenceSample as JSON, one turn a line",
  lines: (trajectory) => turnSamples(trajectory).map((sample) => JSON.stringify(sample)),
};

/** `<query>@<sample>-t<turn>`, turns from 1; the text before the first `@` names the data set's row. */
export function turnSampleId(query: string, sample: number, turn: number): string {
  return `${sampleId(query, 0)}@${sample}-t${turn}`;
}

/** Each turn alone: its whole context is the prompt, and its reward the return G_t. An agent's call that is not trained is none. */
function turnSamples(trajectory: Trajectory): SequenceSample[] {
  const { rollout, turns, branch } = trajectory;
  const { query, sample } = rollout;
  const checked = completeTurns(trajectory);
  return checked.turns.flatMap((_, t) => {
    if (branch && turns[t]!.verdict?.train === false) return [];
    const id = turnSampleId(query.queryId, sample, branch?.turns[t] ?? t + 1);
    return [sequenceSampleOf(trajectory, checked, { id, only: t })];
  });
}

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
function querySample(members: readonly SequenceSample[]): SequenceSample {
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
