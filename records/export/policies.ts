// A trajectory as an export takes it: judged by the judge or by people, cut to the turns that were finished, without what was
// carried over from another run; or the named reason why it is left out. The groups' labels read the same.

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
import type { EndRecord, Trajectory } from '../../domain/rollout/trajectory.ts';
import { type Acts, actsOn, readActs } from '../run/steering.ts';
import type { Store } from '../store.ts';
import { readTrajectory } from '../reading/trajectories.ts';

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
  /** Also what ended and is not complete, as recorded, if it has a turn. Default false. */
  readonly incomplete?: boolean;
}

/** `human-turns`: a person wrote into its context; `no-own-turn`: a fork that played no turn. */
export type WhyUnread = Outcome | 'unfinished' | PeopleLeaveOut | 'human-turns' | 'no-own-turn';

export interface Read {
  /** Complete, or ended where `incomplete` asks for it. */
  readonly trajectory: Trajectory;
  /** False: only the finished turns of an undecided rollout. */
  readonly whole: boolean;
}

export interface Reading {
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
  const acts: Acts | null = verdicts === 'human' ? await readActs(store) : null;
  // A damaged run.json is for `check` to name.
  const isFork = (await store.getRun().catch(() => undefined))?.record.forkedFrom !== undefined;

  function of(recorded: Trajectory): Read | WhyUnread {
    const { query, sample, attempt } = recorded.rollout;
    const id = { query: query.queryId, sample, attempt };
    const played = acts ? applyHumanVerdicts(recorded, actsOn(acts, id), contradicted) : recorded;
    if (typeof played === 'string') return played;
    const outcome = played.end?.outcome ?? 'unfinished';
    const cut = outcome === 'undecided' && undecided === 'finished-turns' ? finishedTurns(played) : undefined;
    const whole = !cut && (outcome === 'complete' || (incomplete && played.end !== null && played.turns.length > 0));
    const finished = whole ? played : cut;
    if (!finished) return outcome;
    if (humanTurns === 'drop' && finished.turns.some(({ record }) => record.said)) return 'human-turns';
    const trajectory = ownTurns(finished);
    return trajectory ? { trajectory, whole } : 'no-own-turn';
  }

  return {
    of,
    async endOf(id) {
      const end = (await store.getEnd(id).catch(() => undefined))?.record;
      if (!end) return null;
      const plain = end.outcome !== 'undecided' && !end.said && !isFork && !(acts && actsOn(acts, id).length > 0);
      if (plain) return end;
      const recorded = await readTrajectory(store, id).catch(() => undefined);
      const read = recorded && of(recorded);
      return typeof read === 'object' ? read.trajectory.end : null;
    },
  };
}
