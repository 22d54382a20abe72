// What a seed decides before anything happens: what is played, how much goes wrong, and who interferes when.
// What a model answers and a judge says follows from the seed and the turn's name alone, as content does.

import type { TurnLimits } from '../../domain/rollout/ending.ts';
import type { RewardSettings } from '../../domain/rollout/reward.ts';
import type { VerdictValue } from '../../domain/rollout/verdict.ts';
import { named, type Random, seeded } from './random.ts';

export type Deed =
  'pause' | 'resume' | 'stop' | 'cancel' | 'tune' | 'tune-badly' | 'signal' | 'ask' | 'reset' | 'terminate';

export interface Interference {
  /** Done when so many things have happened. */
  readonly moment: number;
  /** A unit's place, or the workflow that the run is about. */
  readonly target: number | 'main';
  readonly deed: Deed;
  readonly maxConcurrent: number;
}

/** People who wait for a certain step, which is then held up until they have done what they came for. */
export interface Ambush {
  readonly activity: string;
  /** At the nth time. */
  readonly nth: number;
  /** By an attempt that outlasts its workflow task, or by a wait for its next try. */
  readonly hold: 'slow' | 'backoff';
  readonly deeds: readonly Deed[];
}

/** Probabilities, each of one attempt, task or message. */
export interface Trouble {
  readonly retryable: number;
  readonly fatal: number;
  /** A worker dies in the middle of an activity; half of the time after its work was done. */
  readonly death: number;
  /** A worker that was thought dead finishes later all the same. */
  readonly zombie: number;
  /** Retried until the schedule-to-close limit. */
  readonly exhausted: number;
  /** A local activity waits for its next try by a timer of the workflow. */
  readonly backoff: number;
  /** A local activity outlasts its workflow task. */
  readonly slowLocal: number;
  readonly ignoresCancel: number;
  /** The worker dies in the middle of a workflow task. */
  readonly crash: number;
  /** The cache forgets a workflow after a task. */
  readonly evict: number;
}

export interface Plan {
  readonly seed: number;
  readonly kind: 'rollout' | 'collection';
  readonly queries: number;
  readonly samples: number;
  readonly limits: TurnLimits;
  readonly reward: RewardSettings;
  readonly task: 'math' | 'code';
  readonly maxConcurrent: number;
  readonly maxHistoryEvents: number;
  /** Share of a collection's rollouts that are workflows of ours, not stand-ins. */
  readonly realChildren: number;
  /** Units that were started before the collection was. */
  readonly before: readonly number[];
  readonly trouble: Trouble;
  readonly interferences: readonly Interference[];
  readonly ambush: Ambush | null;
}

const CALM: Trouble = {
  retryable: 0,
  fatal: 0,
  death: 0,
  zombie: 0,
  exhausted: 0,
  backoff: 0,
  slowLocal: 0,
  ignoresCancel: 0.3,
  crash: 0,
  evict: 0.05,
};

const DEEDS: Readonly<Record<Plan['kind'], readonly Deed[]>> = {
  rollout: ['pause', 'pause', 'resume', 'resume', 'stop', 'cancel', 'signal', 'ask', 'reset'],
  collection: ['pause', 'pause', 'resume', 'stop', 'cancel', 'tune', 'tune', 'tune-badly', 'signal', 'ask', 'reset'],
};
const CHILD_DEEDS: readonly Deed[] = ['pause', 'resume', 'stop', 'cancel', 'terminate', 'signal'];

export function planOf(seed: number): Plan {
  const random = seeded(seed);
  const kind = random.chance(0.6) ? 'rollout' : 'collection';
  const queries = kind === 'rollout' ? 1 : random.int(1, 5);
  const samples = kind === 'rollout' ? 1 : random.int(1, 2);
  const units = queries * samples;
  return {
    seed,
    kind,
    queries,
    samples,
    limits: { numTurns: random.int(1, kind === 'rollout' ? 4 : 2), stop: random.pick(['always', 'success']) },
    reward: { rewardScaling: 1, rewardBias: random.pick([0, 0.5]), turnDiscount: random.pick([1, 0.5]) },
    task: random.chance(0.3) ? 'code' : 'math',
    maxConcurrent: random.int(1, 4),
    maxHistoryEvents: random.pick([10, 15, 20, 30, 4000]),
    realChildren: random.pick([0, 0, 0.3, 1]),
    before: kind === 'collection' ? range(units).filter(() => random.chance(0.08)) : [],
    trouble: random.chance(0.25) ? CALM : troubleOf(random),
    interferences: interferencesOf(random, kind, units),
    ambush: random.chance(0.2) ? ambushOf(random, kind) : null,
  };
}

function troubleOf(random: Random): Trouble {
  const some = (most: number) => (random.chance(0.5) ? random.next() * most : 0);
  return {
    retryable: some(0.4),
    fatal: some(0.15),
    death: some(0.2),
    zombie: some(0.15),
    exhausted: some(0.05),
    backoff: some(0.5),
    slowLocal: some(0.4),
    ignoresCancel: random.next(),
    crash: some(0.1),
    evict: some(0.4),
  };
}

function interferencesOf(random: Random, kind: Plan['kind'], units: number): Interference[] {
  if (random.chance(0.2)) return [];
  const last = random.pick([4, 15, 40]);
  return range(random.int(1, 6)).map(() => {
    const target = kind === 'collection' && random.chance(0.25) ? random.int(0, units - 1) : 'main';
    const deed = random.pick(target === 'main' ? DEEDS[kind] : CHILD_DEEDS);
    return { moment: random.int(0, last), target, deed, maxConcurrent: random.int(1, 6) };
  });
}

const STEPS: Readonly<Record<Plan['kind'], readonly string[]>> = {
  rollout: ['open', 'evaluate', 'log', 'finish'],
  collection: ['page', 'conclude', 'renewal', 'renewal'],
};

function ambushOf(random: Random, kind: Plan['kind']): Ambush {
  const deeds = DEEDS[kind].filter((deed) => deed !== 'reset' && deed !== 'ask');
  return {
    activity: random.pick(STEPS[kind]),
    nth: random.int(1, 3),
    hold: random.pick(['slow', 'slow', 'backoff']),
    deeds: range(random.int(1, 3)).map(() => random.pick(deeds)),
  };
}

/** What the model and the judge make of one turn of one sample. */
export interface TurnScript {
  readonly outputTokens: number;
  readonly noRoom: boolean;
  readonly verdict: VerdictValue;
  readonly reason: string;
  readonly version: number;
}

export function turnScript(plan: Plan, query: string, sample: number, turn: number): TurnScript {
  const random = named(plan.seed, `${query}/${sample}/${turn}`);
  const verdict = random.pick<VerdictValue>(['right', 'wrong', 'wrong', 'right', 'wrong', 'wrong', 'undecided']);
  return {
    outputTokens: random.int(1, 500),
    noRoom: turn > 1 && random.chance(0.08),
    verdict,
    reason: verdict === 'undecided' ? `judge-broke-${random.int(1, 3)}` : verdict,
    version: random.int(0, 9),
  };
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
