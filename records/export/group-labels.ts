// The labels of a rollout's group: size, success rate, variance and, where wanted, one advantage per turn. A group is
// the samples of one query in one epoch, the last attempt of each. Read from the end records alone; holds one group.
// Counts members with a reward; a member whose other records are damaged counts too.

import {
  epochOf,
  groupId,
  type GroupLabels,
  groupLabels,
  memberAdvantages,
  type ScoredMember,
  scoredMember,
} from '../../domain/samples/group.ts';
import type { RowLabels } from '../../domain/samples/neutral-row.ts';
import type { EndRecord, RolloutRecord, Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Store } from '../store.ts';
import type { Outcome } from '../../domain/rollout/ending.ts';
import { finishedTurns, type UndecidedPolicy } from '../../domain/samples/finished-turns.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import {
  type ContradictedPolicy,
  applyHumanVerdicts,
  type PeopleLeaveOut,
  type VerdictSource,
} from '../../domain/samples/human-verdicts.ts';
import { ownTurns } from '../../domain/samples/own-turns.ts';
import { type Acts, actsOn, readActs } from '../run/steering.ts';
import { readTrajectory } from '../reading/trajectories.ts';

/** `mean`: G_t less the mean of the group's G_t. `std`: that, divided by the standard deviation. */
export const ADVANTAGES = ['none', 'mean', 'std'] as const;
export type Advantages = (typeof ADVANTAGES)[number];

interface LabelledRollout {
  readonly labels: Partial<RowLabels>;
  readonly group: GroupLabels;
  /** Members that a whole group has. */
  readonly samples: number;
}

interface Group {
  readonly query: string;
  readonly epoch: number;
  readonly samples: number;
  readonly labels: GroupLabels;
  readonly bySample: ReadonlyMap<number, readonly number[]>;
}

interface LabelOptions {
  /** As the export reads its rollouts: one that it leaves out is no member with a reward. */
  readonly reading: Pick<Reading, 'endOf'>;
  readonly advantages: Advantages;
}

/** Call it in the order of queries: it remembers the last group only. */
export function openGroupLabels(store: Store, { reading, advantages }: LabelOptions) {
  let samplesPerEpoch: number | undefined;
  let last: Group | undefined;

  return async ({ query: { queryId }, sample }: RolloutRecord): Promise<LabelledRollout> => {
    // A damaged run.json is for `check` to name: without one, all samples of a query are one group.
    samplesPerEpoch ??= (await store.get('run').catch(() => undefined))?.record.samples ?? Number.MAX_SAFE_INTEGER;
    const epoch = epochOf({ samples: samplesPerEpoch }, sample);
    if (last?.query !== queryId || last.epoch !== epoch) last = await readGroup(queryId, epoch, samplesPerEpoch);
    const { labels, bySample } = last;
    return {
      group: labels,
      samples: last.samples,
      labels: {
        group: groupId(queryId, epoch),
        group_size: labels.members,
        group_success_rate: labels.successRate,
        zero_variance: labels.zeroVariance,
        turn_advantages: advantages === 'none' ? null : (bySample.get(sample) ?? null),
      },
    };
  };

  async function readGroup(query: string, epoch: number, samples: number): Promise<Group> {
    const ids = await store.listRolloutsOf(query);
    const latest = ids.filter((id, i) => ids[i + 1]?.sample !== id.sample && epochOf({ samples }, id.sample) === epoch);
    const ends: (EndRecord | null)[] = [];
    for (const id of latest) ends.push(await reading.endOf(id));
    const members: (ScoredMember | null)[] = ends.map(scoredMember);
    const scored = ends.map((end, i) => (members[i] ? end : null));
    const made = memberAdvantages(scored, advantages === 'std' ? 'std' : 'mean');
    const bySample = new Map(latest.map(({ sample }, i) => [sample, made[i]!]));
    return { query, epoch, samples, labels: groupLabels(members), bySample };
  }
}

export const HUMAN_TURNS = ['drop', 'include'] as const;
/** Rollouts with a person's message in their context. */
export type HumanTurnsPolicy = (typeof HUMAN_TURNS)[number];

export interface ReadingOptions {
  /** Default `drop`. */
  readonly undecided?: UndecidedPolicy;
  /** Default `judge`. */
  readonly verdicts?: VerdictSource;
  /** Rollouts that people's verdicts contradict before their last turn; default `drop`. */
  readonly contradicted?: ContradictedPolicy;
  /** Default `drop`. */
  readonly humanTurns?: HumanTurnsPolicy;
  /** Also what ended and is not complete, as recorded, if it has a turn; `all`: without one too. Default false. */
  readonly incomplete?: boolean | 'all';
}

/** `human-turns`: a person wrote into its context; `no-own-turn`: a fork that played no turn. */
export type WhyUnread = Outcome | 'unfinished' | PeopleLeaveOut | 'human-turns' | 'no-own-turn';

interface Read {
  /** Complete, or ended where `incomplete` asks for it. */
  readonly trajectory: Trajectory;
  /** False: only the finished turns of an undecided rollout. */
  readonly whole: boolean;
}

interface Reading {
  of(recorded: Trajectory): Read | WhyUnread;
  /** The end of a rollout as `of` gives it; null if it is left out or damaged. */
  endOf(id: RolloutId): Promise<EndRecord | null>;
}

/** Acts of people are read once; a damaged one is an error where they count: it might say anything. */
export async function openReading(store: Store, options: ReadingOptions): Promise<Reading> {
  const {
    undecided = 'drop',
    verdicts = 'judge',
    contradicted = 'drop',
    humanTurns = 'drop',
    incomplete = false,
  } = options;
  const least = incomplete === 'all' ? 0 : 1;
  const acts: Acts | null = verdicts === 'human' ? await readActs(store) : null;
  // A damaged run.json is for `check` to name.
  const isFork = (await store.get('run').catch(() => undefined))?.record.forkedFrom !== undefined;

  function of(recorded: Trajectory): Read | WhyUnread {
    const { query, sample, attempt } = recorded.rollout;
    const id = { query: query.queryId, sample, attempt };
    const played = acts ? applyHumanVerdicts(recorded, actsOn(acts, id), contradicted) : recorded;
    if (typeof played === 'string') return played;
    const outcome = played.end?.outcome ?? 'unfinished';
    const cut = outcome === 'undecided' && undecided === 'finished-turns' ? finishedTurns(played) : undefined;
    const whole =
      !cut && (outcome === 'complete' || (incomplete && played.end !== null && played.turns.length >= least));
    const finished = whole ? played : cut;
    if (!finished) return outcome;
    if (humanTurns === 'drop' && finished.turns.some(({ record }) => record.said)) return 'human-turns';
    const trajectory = ownTurns(finished);
    return trajectory ? { trajectory, whole } : 'no-own-turn';
  }

  return {
    of,
    async endOf(id) {
      const end = (await store.get('end', id).catch(() => undefined))?.record;
      if (!end) return null;
      const plain = end.outcome !== 'undecided' && !end.said && !isFork && !(acts && actsOn(acts, id).length > 0);
      if (plain) return end;
      const recorded = await readTrajectory(store, id).catch(() => undefined);
      const read = recorded && of(recorded);
      return typeof read === 'object' ? read.trajectory.end : null;
    },
  };
}
