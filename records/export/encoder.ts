// The part of an exporter that an export uses, and one trajectory put through it.

import { StoreError } from '../../domain/errors/errors.ts';
import type { RowLabels } from '../../domain/samples/neutral-row.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { NotCarried, SkippedRollout, WhySkipped } from './selection.ts';

export type Labels = Partial<RowLabels>;
export type Chunk = string | Uint8Array;

/** A format with a state: a file's head and end, or lines that several trajectories make. */
export interface Encoder {
  /** Throws StoreError before it changes anything. */
  add(trajectory: Trajectory, labels: Labels): Chunk[];
  /** Called once, after the last trajectory. */
  end(): Chunk[];
}

/** The part of an exporter that this file uses. */
export interface LineMaker {
  /** Its lines are made of token ids: a trajectory with an answer of text alone is left out. */
  readonly needsIds?: boolean;
  /** It also takes rollouts that ended and are not complete. */
  readonly incomplete?: boolean;
  /** Its lines hold labels of the group. */
  readonly grouped?: boolean;
  /** Why a complete trajectory gives nothing. */
  leavesOut?(trajectory: Trajectory): NotCarried | undefined;
  lines(trajectory: Trajectory, labels?: Labels): string[];
  /** Instead of lines. */
  open?(): Encoder;
  /** The sample's id in the file. */
  id?(trajectory: Trajectory): string;
}

/** Undefined for a trajectory that gives nothing, which is reported. */
export function made<T>(
  exporter: Pick<LineMaker, 'leavesOut'>,
  trajectory: Trajectory,
  onSkip: (rollout: SkippedRollout) => void,
  make: () => T,
): T | undefined {
  const { query, sample } = trajectory.rollout;
  const skip = (outcome: WhySkipped, problem: string | null): undefined =>
    void onSkip({ query: query.queryId, sample, outcome, problem });
  try {
    const left = exporter.leavesOut?.(trajectory);
    return left ? skip(left, null) : make();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return skip('broken', error.message);
  }
}

/** Another sample of an agent's rollout, which was counted with the first one. */
export const isFurther = ({ branch }: Trajectory): boolean => branch !== undefined && branch.index > 0;
