// Proves a run's result: result.json counts the records of its rollouts.

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { samplesPerQuery } from '../../domain/rollout/group.ts';
import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { addResult, type CollectionCounts, ended, noCounts } from '../../domain/run/progress.ts';
import { outputTokens, totalTokens } from '../../domain/rollout/turn.ts';
import { countedVerdicts, VERDICTS } from '../../domain/rollout/verdict.ts';
import { RESULT_FILE } from '../record/layout.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { OnBreach, Store } from '../store.ts';
import type { CheckedRollout } from './checked.ts';

/** The proved part of it. */
interface StoredResult {
  readonly run: string;
  readonly total: number;
  readonly cancelled: boolean;
  readonly numTurns: number;
  readonly counts: CollectionCounts;
}

/** Undefined for one that does not count: a later attempt does not belong to the collection. */
export function countedOf({ id, end, turns, verdicts: judged }: CheckedRollout): RolloutResult | undefined {
  if (!end || id.attempt !== 1) return undefined;
  const { outcome, stopReason, rewards, success, said = [], called } = end;
  const counted = turns.slice(0, end.turns.length);
  const tokens = totalTokens(counted.map((turn) => (turn ? outputTokens(turn.record) : 0)));
  // Reasons are for people and not compared.
  const verdicts = countedVerdicts(judged.slice(0, counted.length).flatMap((verdict) => verdict ?? []));
  const facts = { outcome, stopReason, rewards, success, verdicts, tokens, ...(called && { called }) };
  const played = { ...facts, reason: null, turns: counted.length, trajectory: { out: '', ...id } };
  return said.length > 0 ? { ...played, steered: true } : played;
}

export interface ResultCheck {
  rollout(counted: RolloutResult): void;
  /** After the last rollout. `queries` times the run's samples is the number of expected rollouts. */
  all(queries: number, run: RunRecord | undefined): void;
}

export function openResultCheck(result: object | undefined, onBreach: OnBreach): ResultCheck {
  const claimed = result as StoredResult | undefined;
  const is = noCounts();
  return {
    rollout(counted) {
      if (!claimed) return;
      addResult(is, counted, claimed.numTurns);
    },

    all(queries, run) {
      if (!claimed) return;
      const differs = (what: string, says: unknown, records: unknown) => {
        if (isDeepStrictEqual(says, records)) return;
        onBreach({
          path: RESULT_FILE,
          problem: `says ${what} ${JSON.stringify(says)}; the records say ${JSON.stringify(records)}`,
        });
      };
      const { counts, total, cancelled } = claimed;
      differs('total', total, queries * (run ? samplesPerQuery(run) : 1));
      if (run) {
        differs('run', claimed.run, run.run);
        differs('numTurns', claimed.numTurns, run.settings.numTurns);
      }
      if (!cancelled && ended(counts) !== total) differs('ended', ended(counts), total);
      const { outcomes } = counts;
      for (const outcome of ['complete', 'undecided'] as const)
        differs(outcome, outcomes[outcome], is.outcomes[outcome]);
      // A rollout whose workflow was terminated from outside is counted and has no end record.
      for (const outcome of ['failed', 'cancelled'] as const)
        if (is.outcomes[outcome] > outcomes[outcome]) differs(outcome, outcomes[outcome], is.outcomes[outcome]);
      differs('steered', counts.steered, is.steered);
      for (const series of ['judgedAt', 'rightAt', 'rightBy'] as const) differs(series, counts[series], is[series]);
      for (const verdict of VERDICTS) {
        const [says, records] = [counts.verdicts[verdict] ?? {}, is.verdicts[verdict] ?? {}];
        for (const reason of new Set([...Object.keys(says), ...Object.keys(records)]))
          differs(`${verdict} (${reason})`, says[reason] ?? 0, records[reason] ?? 0);
      }
      differs('turns', counts.turns, is.turns);
      differs('tokens', counts.tokens, is.tokens);
    },
  };
}

/** A collection writes its result right after its last rollout; the check looks for it this often. */
const LOOKS = 8;
const LOOK_AGAIN_MS = 250;

/** For a run whose rollouts have all ended: the breach if it has no result. */
export async function missingResult(
  store: Store,
  ended: number,
  isGoing?: () => Promise<boolean | undefined>,
): Promise<string | undefined> {
  for (let look = 1; ; look++) {
    // An unreadable result is reported already.
    const found = await store.getResult().catch(() => null);
    if (found !== undefined) return undefined;
    if (look > 1 && (await isGoing?.())) return undefined;
    if (look === LOOKS) break;
    await sleep(LOOK_AGAIN_MS);
  }
  return `is missing, though all ${ended} rollouts have ended (if the run was killed at that moment, starting it again writes it)`;
}
