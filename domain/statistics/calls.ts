// Calls of tools by name: how many, how they ended, how long they took, and the share of turns that made one. Of finished
// turns, also of rollouts in flight. A name is a model's: one that no tool has is counted like any other.

import type { CallRefusal } from '../errors/refusals.ts';
import type { TurnSummary } from '../rollout/rollout-summary.ts';
import type { CallResult } from '../tools/tool.ts';
import { type Distribution, distributionOf } from './mean.ts';

export interface CallStatistics {
  /** Null: calls that could not be read. */
  readonly name: string | null;
  readonly calls: number;
  /** `refused`: not run, as it was written. */
  readonly outcomes: Readonly<Record<CallResult['outcome'], number>>;
  /** The refused calls by reason; reasons that none has are left out. */
  readonly refusals: Readonly<Partial<Record<CallRefusal, number>>>;
  /** The seconds of the calls that ran. */
  readonly seconds: Distribution;
  /** Turns with such a call. */
  readonly turns: number;
  /** All turns. */
  readonly ofTurns: number;
}

/** The most frequent first. */
export function callStatistics(turns: readonly TurnSummary[]): CallStatistics[] {
  const byName = new Map<
    string | null,
    {
      outcomes: Record<CallResult['outcome'], number>;
      refusals: Partial<Record<CallRefusal, number>>;
      ms: number[];
      turns: number;
    }
  >();
  for (const { calls = [] } of turns) {
    const names = new Set<string | null>();
    for (const { name, outcome, ms, refusal } of calls) {
      const known = byName.get(name) ?? {
        outcomes: { ok: 0, failed: 0, 'timed-out': 0, refused: 0 },
        refusals: {},
        ms: [],
        turns: 0,
      };
      byName.set(name, known);
      known.outcomes[outcome]++;
      if (refusal) known.refusals[refusal] = (known.refusals[refusal] ?? 0) + 1;
      if (ms !== null) known.ms.push(ms);
      if (!names.has(name)) known.turns++;
      names.add(name);
    }
  }
  return [...byName]
    .map(([name, { outcomes, refusals, ms, turns: turnsWithIt }]) => ({
      name,
      calls: Object.values(outcomes).reduce((sum, n) => sum + n, 0),
      outcomes,
      refusals,
      seconds: distributionOf(ms.map((one) => one / 1000)),
      turns: turnsWithIt,
      ofTurns: turns.length,
    }))
    .toSorted((a, b) => b.calls - a.calls || ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
}
