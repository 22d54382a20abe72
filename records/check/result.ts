// Proves a run's result: result.json counts the records of its rollouts.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, RolloutResult } from '../../domain/rollout/ending.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { type CollectionCounts, countEnded } from '../../domain/run/progress.ts';
import { outputTokens, totalTokens } from '../../domain/rollout/turn-facts.ts';
import { countedVerdicts } from '../../domain/rollout/environment.ts';
import { differences } from './differences.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { Store } from '../store.ts';
import type { CheckedRollout } from './checked.ts';

/** Undefined for one that does not count: a later attempt does not belong to the collection. */
export function countedOf({ id, end, turns, verdicts: judged }: CheckedRollout): RolloutResult | undefined {
  if (!end || id.attempt !== 1) return undefined;
  const { outcome, stopReason, returns, success, said = [], called } = end;
  const counted = turns.slice(0, end.turns.length);
  const tokens = totalTokens(counted.map((turn) => (turn ? outputTokens(turn.record) : 0)));
  // Reasons are for people and not compared.
  const verdicts = countedVerdicts(judged.slice(0, counted.length).flatMap((verdict) => verdict ?? []));
  const facts = { outcome, stopReason, returns, success, verdicts, tokens, ...(called && { called }) };
  const played = { ...facts, reason: null, turns: counted.length, trajectory: { out: '', ...id } };
  return said.length > 0 ? { ...played, steered: true } : played;
}

/** `is`: the counts of the rollouts. `expected`: how many the run has to have. */
export function* resultProblems(
  claimed: CollectionResult,
  is: CollectionCounts,
  expected: number,
  run: RunRecord | undefined,
): Generator<string> {
  const { counts, total, cancelled } = claimed;
  yield* differences(claimed, { total: expected, ...(run && { run: run.run, numTurns: run.settings.numTurns }) });
  if (!cancelled && countEnded(counts) !== total)
    yield `says total ${total}, and counts ${countEnded(counts)} that ended`;
  // A rollout whose workflow was terminated from outside is counted and has no end record.
  const atLeast = (outcome: Outcome) => Math.max(counts.outcomes[outcome], is.outcomes[outcome]);
  const outcomes = { ...is.outcomes, failed: atLeast('failed'), cancelled: atLeast('cancelled') };
  yield* differences(counts.outcomes, outcomes);
  const { judgedAt, rightAt, rightBy, turns, tokens, steered, verdicts } = is;
  yield* differences(counts, { steered, judgedAt, rightAt, rightBy, turns, tokens, verdicts });
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
    const found = await store.get('result').catch(() => null);
    if (found !== undefined) return undefined;
    if (look > 1 && (await isGoing?.())) return undefined;
    if (look === LOOKS) break;
    await sleep(LOOK_AGAIN_MS);
  }
  return `is missing, though all ${ended} rollouts have ended (if the run was killed at that moment, starting it again writes it)`;
}
