// The trajectories of a run that an export takes, with their group's labels, in data set order, then sample order.
// Each one that it leaves out goes to `onSkip` with a named reason. Memory: one trajectory, and the ends of one group.

import type { Outcome } from '../domain/ending.ts';
import type { StoreError } from '../domain/errors.ts';
import { finishedTurns, type UndecidedPolicy } from '../domain/finished-turns.ts';
import { type GroupFilter, whyLeftOut, type LeftOut } from '../domain/group.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { ContradictedPolicy, PeopleLeaveOut, VerdictSource } from '../domain/judged-by-people.ts';
import type { RowLabels } from '../domain/neutral-row.ts';
import type { Trajectory } from '../domain/trajectory.ts';
import { type Advantages, openGroupLabels } from './group-labels.ts';
import { openPeople } from './people.ts';
import type { Store } from './store.ts';
import { readTrajectories } from './trajectories.ts';

/** The parts that a format has no place for. */
export type NotCarried = 'no-right-answer' | 'text-prompt';

/**
 * `unfinished` is in flight; `broken` has damaged records; `not-trainable` has answers without token ids; LeftOut: the
 * group filter; NotCarried: the format; PeopleLeaveOut: people's verdicts.
 */
export type WhySkipped = Outcome | 'unfinished' | 'broken' | 'not-trainable' | LeftOut | NotCarried | PeopleLeaveOut;

export interface SkippedRollout {
  readonly query: string;
  readonly sample: number;
  readonly outcome: WhySkipped;
  /** The fault; null if there is none. */
  readonly problem: string | null;
}

export interface SelectionOptions {
  /** Default `judge`. */
  readonly verdicts?: VerdictSource;
  /** Rollouts that people's verdicts contradict before their last turn; default `drop`. */
  readonly contradicted?: ContradictedPolicy;
  /** Default `drop`. */
  readonly undecided?: UndecidedPolicy;
  readonly filter?: GroupFilter;
  /** Default `none`. */
  readonly advantages?: Advantages;
  /** Refuses answers without token ids. */
  readonly forTraining?: boolean;
  /** Reads the labels of groups; a filter and advantages need them. Default false: a format without them costs nothing. */
  readonly grouped?: boolean;
}

export interface Selected {
  readonly trajectory: Trajectory;
  readonly labels: Partial<RowLabels>;
  /** False: only the finished turns of an undecided rollout. */
  readonly whole: boolean;
}

export async function* selectedTrajectories(
  store: Store,
  onSkip: (rollout: SkippedRollout) => void,
  options: SelectionOptions,
): AsyncGenerator<Selected> {
  const { undecided = 'drop', filter, advantages = 'none', forTraining = false, grouped = false } = options;
  const onBroken = ({ query, sample }: RolloutId, { message: problem }: StoreError) =>
    onSkip({ query, sample, outcome: 'broken', problem });
  const people = await openPeople(store, options);
  const labelsOf = openGroupLabels(store, { undecided, advantages, people });
  const labelled = grouped || filter !== undefined || advantages !== 'none';
  for await (const recorded of readTrajectories(store, { onBroken })) {
    const { query, sample } = recorded.rollout;
    const skip = (outcome: WhySkipped, problem: string | null = null) =>
      onSkip({ query: query.queryId, sample, outcome, problem });
    const played = people ? people.judged(recorded) : recorded;
    if (typeof played === 'string') {
      skip(played);
      continue;
    }
    const outcome = played.end?.outcome ?? 'unfinished';
    const whole = outcome === 'complete';
    const partly = outcome === 'undecided' && undecided === 'finished-turns';
    const trajectory = whole ? played : partly ? finishedTurns(played) : undefined;
    if (!trajectory) {
      skip(outcome);
      continue;
    }
    if (forTraining && trajectory.turns.some(({ record }) => record.trainable === false)) {
      skip('not-trainable', 'the server gave text and no token ids');
      continue;
    }
    if (!labelled) {
      yield { trajectory, labels: {}, whole };
      continue;
    }
    const { labels, group, samples } = await labelsOf(trajectory.rollout);
    const left = filter && whyLeftOut(group, filter, samples);
    if (left) skip(left);
    else yield { trajectory, labels, whole };
  }
}
