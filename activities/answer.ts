// The answer to one turn, of either kind of model: the fields of its record that depend on the kind. `noRoom`: the
// conversation leaves no room for an answer.

import type { AskedRecord } from '../domain/agent/call-record.ts';
import type { AskedRequest } from '../domain/agent/conversation.ts';
import { ModelError } from '../domain/errors/errors.ts';
import { samplingOf } from '../domain/rollout/sampling.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { ChunkRecord, TurnRecord } from '../domain/rollout/turn.ts';
import type { GenerateOptions } from '../inference/backend.ts';
import type { Store, Stored } from '../records/store.ts';

/** One turn to be answered. */
export interface Turn {
  readonly store: Store;
  readonly id: TrajectoryReference;
  readonly rollout: RolloutRecord;
  readonly turn: number;
  /** The turns before this one; of an agent's call those on its path. */
  readonly before: readonly Stored<TurnRecord>[];
  /** The agent's call that it answers. */
  readonly asked?: AskedRecord;
  /** Its request. */
  readonly request?: AskedRequest;
  /** The earlier turn at this 0-based place, with its verdict. */
  readonly judged: (place: number) => Promise<EarlierTurn>;
  readonly seed: number;
  /** Servers whose answers to this turn could not be read. */
  readonly avoid: readonly string[];
  /** The answer's first chunk, if it is stored already. */
  readonly firstChunk: ChunkRecord | undefined;
  /** Which try of the activity this is, 1-based. */
  readonly attempt: number;
  readonly now: () => number;
  readonly options: GenerateOptions;
}

/** The fields of a turn's record that do not depend on the model's kind. */
type Framing =
  | 'turn'
  | 'seed'
  | 'previous'
  | 'attempt'
  | 'startedAt'
  | 'finishedAt'
  | 'model'
  | 'said'
  | 'calls'
  | 'carried'
  | 'asked';

/** New tokens at most: the run's limit, or the smaller one of the agent's call. */
export function wantedTokens({ rollout, request }: Turn): number {
  const { maxNewTokens } = rollout.settings;
  return Math.min(maxNewTokens, request?.limits.maxTokens ?? maxNewTokens);
}

export interface Answered {
  readonly fields: Omit<TurnRecord, Framing>;
  /** Places in the reply's text where ordinary tokens spell a marker of calls. */
  readonly spelled?: readonly number[];
  /** Chunks that are stored. */
  readonly chunks: number;
}

export interface NoRoom {
  readonly noRoom: true;
  readonly contextTokens: number;
  /** Tokens that the model holds, as far as it says. */
  readonly modelLength: number | null;
}

/** A server's real context may be shorter than it reported: null, if this is such a refusal of a later turn. */
export function nullIfFull(turn: number): (error: unknown) => null {
  return (error) => {
    if (turn > 1 && isFull(error)) return null;
    throw error;
  };
}

export const isFull = (error: unknown): boolean => error instanceof ModelError && error.reason === 'context-length';

/** The part that all requests have. */
export function requestOf({ id, turn, rollout, seed, avoid }: Turn) {
  return {
    requestId: `${id.run}/${id.query}/${id.sample}/${turn}`,
    sampling: samplingOf(rollout.settings),
    seed,
    ...(avoid.length > 0 ? { avoid } : {}),
  };
}
