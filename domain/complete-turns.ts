// The turns of a complete trajectory, proved fit for a training sample: an id and a logprob for each token, context
// lengths that add up, one return per turn, float32 numbers. Throws StoreError, which names query and sample. Leaves out
// whether the answers have ids at all: callers refuse text-only answers by name.

import { StoreError } from './errors.ts';
import type { EndRecord, Trajectory } from './trajectory.ts';
import type { TurnRecord } from './turn.ts';

export interface CompleteTurns {
  /** At least one. */
  readonly turns: readonly TurnRecord[];
  readonly end: EndRecord;
  /** The nearest float32; a number outside float32 throws. */
  float32(value: number): number;
  wrong(problem: string): never;
}

export function completeTurns({ rollout, turns, end }: Trajectory): CompleteTurns {
  const { query, sample } = rollout;
  const wrong = (problem: string): never => {
    throw new StoreError(`query ${JSON.stringify(query.queryId)}, sample ${sample}: ${problem}`, {
      reason: 'record-broken',
    });
  };
  const float32 = (value: number): number => {
    const rounded = Math.fround(value);
    return Number.isFinite(rounded) ? rounded : wrong(`${value} is not a float32 value`);
  };
  if (end?.outcome !== 'complete')
    return wrong(`is ${end?.outcome ?? 'not ended'}; only complete rollouts make a sample`);
  if (turns.length === 0) wrong('has no turn');
  if (end.rewards.length !== turns.length) wrong(`has ${end.rewards.length} rewards for ${turns.length} turns`);
  let before = 0;
  for (const { record } of turns) {
    const { turn, contextIds, outputIds, logprobs } = record;
    const context = before + contextIds.length;
    if (context === 0) wrong('has an empty prompt');
    if (context !== record.contextLength)
      wrong(`turn ${turn} says ${record.contextLength} context tokens and has ${context}`);
    if (logprobs.length !== outputIds.length) wrong(`turn ${turn} has not one logprob per output token`);
    before = context + outputIds.length;
  }
  return { turns: turns.map(({ record }) => record), end, float32, wrong };
}
