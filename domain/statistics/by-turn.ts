// Accuracy turn by turn: right of the judged, right by then of all, repairs and spoils, answers cut at their limit.
// Only ended rollouts count.

import type { RolloutSummary } from '../rollout/rollout-summary.ts';
import type { Finish } from '../rollout/turn.ts';
import { type Estimate, shareEstimate } from './estimate.ts';
import { meanOf, spreadOf } from './mean.ts';
import { answersOf, isScored, known, type QueryGroup, rightAt } from './outcomes.ts';

/** `count` of `of`; a rate without observations does not exist. */
interface Part {
  readonly count: number;
  readonly of: number;
}

export interface TurnStatistics {
  /** 1-based. */
  readonly turn: number;
  /** Rollouts judged right or wrong at this turn, and right ones of them. */
  readonly judged: number;
  readonly right: number;
  /** Rollouts whose answer at this turn could not be judged. */
  readonly undecided: number;
  readonly accuracy: Estimate;
  /** Right at any turn so far, of all ended rollouts: those that failed or are undecided count as not right. */
  readonly rightBy: Estimate;
  /** Right now, of those wrong at the turn before; and the reverse. */
  readonly repairs: Part;
  readonly spoils: Part;
  /** Answers by how their generation ended; empty if turns were not read. */
  readonly finish: Readonly<Partial<Record<Finish, number>>>;
  /** Verdicts of this turn by reason; empty if turns were not read. */
  readonly reasons: Readonly<Record<string, number>>;
  /** r_t: real numbers, where an environment gives them. Null if turns were not read. */
  readonly reward: { readonly n: number; readonly mean: number | null; readonly spread: number | null } | null;
}

/** `groups`: of ended rollouts. `turn`: 1-based. */
export function statisticsOfTurn(groups: readonly QueryGroup[], turn: number): TurnStatistics {
  const all = groups.flatMap(({ rollouts }) => rollouts);
  const judged = groups.map(({ rollouts }) => known(rollouts.map((r) => rightAt(r, turn))));
  const flat = judged.flat();
  const decided = all.filter((r) => !isScored(r));
  const here = all.flatMap((r) => answersOf(r)[turn - 1] ?? []);
  const rewards = known(here.map(({ reward }) => reward));
  return {
    turn,
    judged: flat.length,
    right: flat.filter((one) => one === 1).length,
    undecided: here.filter(({ verdict }) => verdict === 'undecided').length,
    accuracy: shareEstimate(
      {
        name: `accuracy@turn${turn}`,
        unit: 'rollouts',
        leftOut: all.length - flat.length,
        definition: `right at turn ${turn} / judged right or wrong at turn ${turn}; other rollouts are left out`,
      },
      judged,
    ),
    rightBy: shareEstimate(
      {
        name: `rightBy@turn${turn}`,
        unit: 'rollouts',
        leftOut: all.length - decided.length,
        definition: `right at any turn up to ${turn} / all ended rollouts; failed and undecided ones count as not right; those with rewards and no verdict are left out`,
      },
      groups.map(({ rollouts }) =>
        rollouts.flatMap((r) => (isScored(r) ? [] : r.success.slice(0, turn).includes(1) ? 1 : 0)),
      ),
    ),
    repairs: changed(all, turn, 0),
    spoils: changed(all, turn, 1),
    finish: countNames(here.map(({ finish }) => finish)),
    reasons: countNames(here.flatMap(({ verdict, reason }) => (verdict === null ? [] : (reason ?? [])))),
    reward: here.length === 0 ? null : { n: rewards.length, mean: meanOf(rewards).value, spread: spreadOf(rewards) },
  };
}

/** The rollouts with the other verdict, among those that were `from` at the turn before and judged at this one. */
function changed(rollouts: readonly RolloutSummary[], turn: number, from: 0 | 1): Part {
  let [count, of] = [0, 0];
  for (const rollout of rollouts) {
    const now = rightAt(rollout, turn);
    if (turn < 2 || now === null || rightAt(rollout, turn - 1) !== from) continue;
    of++;
    if (now !== from) count++;
  }
  return { count, of };
}

/** Names come from records: none is a key of Object.prototype here. */
export function countNames<K extends string>(names: Iterable<K>): Record<K, number> {
  const counts = new Map<K, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1])) as Record<K, number>;
}
