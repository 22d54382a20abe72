// prime-rl's micro batches: rollouts/step_<n>/rank_<r>.bin, MessagePack, each struct an array in field order. The layout
// is of PrimeIntellect-ai/prime-rl@559b4477, src/prime_rl/transports/rollouts/types.py, and changes often. Every rank of a
// step has the same number of micro batches; a sample beyond the trainer's sequence length is cut there, as prime-rl does.

import { type NeutralRow, neutralRow } from '../../domain/rollout/neutral-row.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Labels } from './exporter.ts';
import { msgpack } from './msgpack.ts';
import { distributed, firstFit } from './packing.ts';
import { perToken, spread, tokensOf } from './token-lists.ts';

export const primeRl = {
  name: 'prime-rl',
  extension: '',
  needsIds: true,
  grouped: true,
  advantages: 'mean',
  description: 'micro batches for prime-rl with finished advantages: a folder rollouts/step_<n>',
  note:
    'prime-rl gets no ids, rewards or versions: its steps are trained in order, and staleness is not its to check. ' +
    'The layout is that of commit 559b4477.',
} as const;

export interface PrimeRlOptions {
  /** The trainer's `seq_len`: tokens of a micro batch at most. */
  readonly seqLen: number;
  /** Data-parallel ranks. */
  readonly ranks: number;
  readonly groupsPerStep: number;
  readonly firstStep: number;
}

export interface StepFile {
  /** Relative to the trainer's output folder. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** MicroBatch up to its last field that is not optional. */
export type MicroBatch = [
  inputIds: number[],
  lossMask: boolean[],
  advantages: number[],
  inferenceLogprobs: number[],
  positionIds: number[],
  sequenceLengths: number[],
  temperatures: number[],
  envNames: string[],
  seqLens: number[],
];

// 'all' is reserved for totals.
const ENV = 'everturn';

/** Rollouts in, in the order of groups; the files of each step as it fills. Holds one step. */
export function openSteps({ seqLen, ranks, groupsPerStep, firstStep }: PrimeRlOptions) {
  let batch: MicroBatch[] = [];
  let groups = new Set<string>();
  let step = firstStep;
  let cut = 0;
  function files(): StepFile[] {
    if (batch.length === 0) return [];
    const packed = firstFit(batch, lengthOf, seqLen).map(joined);
    const folder = `rollouts/step_${step++}`;
    const byRank = distributed(packed, lengthOf, ranks, ignored);
    batch = [];
    groups = new Set();
    return byRank.map((own, rank) => ({ path: `${folder}/rank_${rank}.bin`, bytes: msgpack(own) }));
  }
  return {
    /** Samples that were cut, so far. */
    cut: (): number => cut,
    add(trajectory: Trajectory, labels: Labels): StepFile[] {
      const row = neutralRow(trajectory, labels);
      const full = !groups.has(row.group) && groups.size >= groupsPerStep;
      const before = full ? files() : [];
      groups.add(row.group);
      const sample = microBatch(row);
      if (lengthOf(sample) > seqLen) cut++;
      batch.push(cutTo(sample, seqLen));
      return before;
    },
    end: files,
  };
}

const lengthOf = ([ids]: MicroBatch): number => ids.length;

export function microBatch(row: NeutralRow): MicroBatch {
  const ids = tokensOf(row);
  const { length } = ids;
  const advantages = row.turn_advantages ?? row.turn_returns.map(() => 0);
  return [
    ids,
    spread(row, row.response_mask).map((one) => one === 1),
    spread(row, perToken(row, advantages)),
    spread(row, row.logprobs),
    Array.from({ length }, (_, i) => i),
    [length],
    Array<number>(length).fill(trainedTemperature(row)),
    Array<string>(length).fill(ENV),
    [length],
  ];
}

/** The trainer divides its logits by it. Greedy answers and raw logprobs are of temperature 1. */
function trainedTemperature({ logprobs_of: of, temperature }: NeutralRow): number {
  return of === 'raw' || temperature === 0 ? 1 : temperature;
}

function cutTo(sample: MicroBatch, seqLen: number): MicroBatch {
  if (lengthOf(sample) <= seqLen) return sample;
  const [ids, mask, advantages, logprobs, positions, , temperatures, names] = sample;
  const to = <T>(list: readonly T[]): T[] => list.slice(0, seqLen);
  const lengths = [seqLen];
  return [
    to(ids),
    to(mask),
    to(advantages),
    to(logprobs),
    to(positions),
    lengths,
    to(temperatures),
    to(names),
    lengths,
  ];
}

/** One micro batch of several samples; positions restart at 0 in each. */
function joined(samples: readonly MicroBatch[]): MicroBatch {
  const all = <K extends keyof MicroBatch & `${number}`>(k: K) =>
    samples.flatMap((sample) => sample[k] as unknown[]) as unknown as MicroBatch[K];
  return [all('0'), all('1'), all('2'), all('3'), all('4'), all('5'), all('6'), all('7'), all('8')];
}

/** A copy on which nothing is trained: fills up a rank. */
function ignored([ids, mask, , logprobs, positions, lengths, temperatures, names, seqLens]: MicroBatch): MicroBatch {
  const none = mask.map(() => false);
  return [ids, none, ids.map(() => 0), logprobs, positions, lengths, temperatures, names, seqLens];
}
