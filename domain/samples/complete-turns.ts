// The turns of a complete trajectory, proved fit for a training sample: an int32 id and a logprob for each token, context
// lengths that add up, one return per turn, float32 numbers. Throws StoreError, which names query and sample. Leaves out
// whether the answers have ids at all: callers refuse text-only answers by name.

import { StoreError } from '../errors/errors.ts';
import type { EndRecord, RolloutRecord, Trajectory } from '../rollout/trajectory.ts';
import type { TurnRecord } from '../rollout/turn.ts';

interface NumberChecks {
  /** The nearest float32; a number outside float32 throws. */
  float32(value: number): number;
  refuse(problem: string): never;
}

export interface CompleteTurns extends NumberChecks {
  /** The turns' records, of which there is at least one. */
  readonly turns: readonly TurnRecord[];
  readonly end: EndRecord;
}

export function completeTurns({ rollout, turns, end }: Trajectory): CompleteTurns {
  const { float32, refuse } = openNumberChecks(rollout);
  if (end?.outcome !== 'complete')
    return refuse(`is ${end?.outcome ?? 'not ended'}; only complete rollouts make a sample`);
  if (turns.length === 0) refuse('has no turn');
  if (end.returns.length !== turns.length) refuse(`has ${end.returns.length} returns for ${turns.length} turns`);
  const records = turns.map(({ record }) => record);
  mustFitTraining(records, refuse);
  return { turns: records, end, float32, refuse };
}

/** Numbers of one rollout's records; what is wrong with them is said with its query and sample. */
export function openNumberChecks({ query, sample }: Pick<RolloutRecord, 'query' | 'sample'>): NumberChecks {
  const refuse = (problem: string): never => {
    throw new StoreError(`query ${JSON.stringify(query.queryId)}, sample ${sample}: ${problem}`, {
      reason: 'record-broken',
    });
  };
  const float32 = (value: number): number => {
    // JSON has one zero, and so has a dictionary of Parquet: -0 becomes 0.
    const rounded = Math.fround(value) + 0;
    // JSON has null for NaN and infinities, and null would be 0.
    return Number.isFinite(value) && Number.isFinite(rounded) ? rounded : refuse(`${value} is not a float32 value`);
  };
  return { float32, refuse };
}

/** Throws unless answers with token ids are fit for training. */
export function mustFitTraining(turns: readonly TurnRecord[], wrong: NumberChecks['refuse']): void {
  let before = 0;
  for (const { turn, contextIds, outputIds, logprobs, contextLength } of turns) {
    const context = before + contextIds.length;
    if (context === 0) wrong('has an empty prompt');
    if (context !== contextLength) wrong(`turn ${turn} says ${contextLength} context tokens and has ${context}`);
    if (logprobs.length !== outputIds.length) wrong(`turn ${turn} has not one logprob per output token`);
    for (const ids of [contextIds, outputIds])
      for (const id of ids)
        if (id !== (id & INT32_MAX)) wrong(`turn ${turn} has the token id ${id}, which is no int32`);
    before = context + outputIds.length;
  }
}

const INT32_MAX = 2 ** 31 - 1;
