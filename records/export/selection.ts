// The trajectories of a run that an export takes, with their group's labels, in data set order, then sample order.
// Each one that it leaves out goes to `onSkip` with a named reason. Memory: one trajectory, and the ends of one group.

import type { StoreError } from '../../domain/errors/errors.ts';
import type { Labels, NotCarried } from '../../domain/samples/exporter.ts';
import { type GroupFilter, whyLeftOut, type LeftOut } from '../../domain/samples/group.ts';
import { branchesOf, labelsOfBranch } from '../../domain/samples/branches.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { type Advantages, openGroupLabels, openReading, type ReadingOptions, type WhyUnread } from './group-labels.ts';
import { isBeyond } from '../../domain/weights/weight-version.ts';
import type { Store } from '../store.ts';
import { readTrajectories, rolloutsInOrder } from '../reading/trajectories.ts';

/**
 * `broken` has damaged records; `not-trainable` has answers without token ids; WhyUnread: its outcome, or people's part in
 * it; LeftOut: the group filter; NotCarried: the format.
 */
export type WhySkipped = WhyUnread | 'broken' | 'not-trainable' | LeftOut | NotCarried;

export interface SkippedRollout {
  readonly query: string;
  readonly sample: number;
  readonly outcome: WhySkipped;
  /** The fault; null if there is none. */
  readonly problem: string | null;
}

export interface SelectionOptions extends ReadingOptions {
  readonly filter?: GroupFilter;
  /** Default `none`. */
  readonly advantages?: Advantages;
  /** Masks tokens that are more versions older than the newest of their row. Default: none. */
  readonly maxTokenGap?: number;
  /** Leaves out trajectories with an answer of text alone. */
  readonly needsIds?: boolean;
  /** Reads the labels of groups; a filter and advantages need them. Default false: a format without them costs nothing. */
  readonly grouped?: boolean;
}

export interface Selected {
  readonly trajectory: Trajectory;
  readonly labels: Labels;
  /** False: only the finished turns of an undecided rollout. */
  readonly whole: boolean;
}

export type Select = (
  ids: AsyncIterable<RolloutId> | Iterable<RolloutId>,
  onSkip: (rollout: SkippedRollout) => void,
) => AsyncGenerator<Selected>;

export async function* selectedTrajectories(
  store: Store,
  onSkip: (rollout: SkippedRollout) => void,
  options: SelectionOptions,
): AsyncGenerator<Selected> {
  const select = await openSelection(store, options);
  yield* select(rolloutsInOrder(store), onSkip);
}

/** Every rollout as recorded: all attempts, ended or not. */
export async function* everyTrajectory(
  store: Store,
  onSkip: (rollout: SkippedRollout) => void,
): AsyncGenerator<Selected> {
  const onBroken = ({ query, sample }: RolloutId, { message: problem }: StoreError) =>
    onSkip({ query, sample, outcome: 'broken', problem });
  for await (const trajectory of readTrajectories(store, { attempts: 'all', onBroken }))
    yield { trajectory, labels: {}, whole: true };
}

/** The same of given rollouts; those of a group should follow each other. */
export async function openSelection(store: Store, options: SelectionOptions): Promise<Select> {
  const { filter, advantages = 'none', maxTokenGap: gap, needsIds = false, grouped = false, incomplete } = options;
  const reading = await openReading(store, options);
  const labelsOf = openGroupLabels(store, { reading, advantages });
  const asked: Labels = gap === undefined ? {} : { isStale: ({ version }, newest) => isBeyond(gap, version, newest) };
  const labelled = grouped || filter !== undefined || advantages !== 'none';

  return async function* select(ids, onSkip) {
    const onBroken = ({ query, sample }: RolloutId, { message: problem }: StoreError) =>
      onSkip({ query, sample, outcome: 'broken', problem });
    for await (const recorded of readTrajectories(store, { ids, onBroken })) {
      const { query, sample } = recorded.rollout;
      const skip = (outcome: WhySkipped, problem: string | null = null) =>
        onSkip({ query: query.queryId, sample, outcome, problem });
      const read = reading.of(recorded);
      if (typeof read === 'string') {
        skip(read);
        continue;
      }
      const { trajectory, whole } = read;
      if (needsIds && trajectory.turns.some(({ record }) => record.trainable === false)) {
        skip('not-trainable', 'the server gave text and no token ids');
        continue;
      }
      const own = branchesOf(trajectory);
      // Every call of a failed program may have been abandoned.
      const branches = own.length === 0 && incomplete === 'all' ? [{ ...trajectory, turns: [] }] : own;
      if (branches.length === 0) {
        skip(trajectory.end?.outcome ?? 'unfinished', 'its agent abandoned every call, or none of them is trained');
        continue;
      }
      if (!labelled) {
        for (const branch of branches) yield { trajectory: branch, labels: {}, whole };
        continue;
      }
      const { labels, group, samples } = await labelsOf(trajectory.rollout);
      const left = filter && whyLeftOut(group, filter, samples);
      if (left) {
        skip(left);
        continue;
      }
      for (const branch of branches)
        yield { trajectory: branch, labels: { ...labelsOfBranch(labels, branch), ...asked }, whole };
    }
  };
}
