// One query, turn by turn: the algorithm of the product. The model answers, the answer is judged, the
// turn is logged, the verdict is fed back with the next turn, until a limit ends it. Every ending has a
// name, and a failure is data. Tokens and texts stay in the store: only small facts pass through here.

import { CancelledFailure, CancellationScope, isCancellation, patched } from '@temporalio/workflow';
import { rolloutResult } from '../domain/ending.ts';
import { stopReason } from '../domain/limits.ts';
import type { StopReason } from '../domain/outcome.ts';
import { type OpenedRollout, turnFacts } from '../domain/rollout-facts.ts';
import { failureOf } from './failure.ts';
import type { RolloutInput } from '../domain/messages.ts';
import type { RolloutResult } from '../domain/rollout-result.ts';
import { STOPPED_NOT_FAILED } from './patches.ts';
import { openScoreboard, type Scoreboard } from './progress.ts';
import { evaluate, finish, generate, log, open } from './steps.ts';

export async function rollout(input: RolloutInput): Promise<RolloutResult> {
  const scope = new CancellationScope();
  const board = openScoreboard(scope);
  const opened = await open(input);
  board.opened(opened);
  if (opened.ended) {
    // Started again: what is kept is its end, also where it was stopped before.
    board.closed(opened.ended);
    return opened.ended;
  }

  const end = async (stop: StopReason, error?: unknown) => {
    const failure = failureOf(error) ?? null;
    const wanted = rolloutResult(opened.rollout, board.turns, stop, failure, opened.reward);
    // An end that was kept before, by a task whose worker died, stands.
    const kept = await CancellationScope.nonCancellable(() => finish(wanted, failure?.message ?? null));
    const result = kept ?? wanted;
    board.closed(result);
    return result;
  };

  try {
    return await end(await scope.run(() => play(opened, board)));
  } catch (error) {
    if (!isCancellation(error) && !failureOf(error)) throw error;
    if (!wasStopped(error, scope)) return end('failed', error);
    const result = await end('cancelled');
    if (result.outcome === 'cancelled' && CancellationScope.current().consideredCancelled) throw cancellation(error);
    return result;
  }
}

async function play({ rollout, limits, task }: OpenedRollout, board: Scoreboard): Promise<StopReason> {
  for (let turn = 1; ; turn++) {
    await board.mayBegin(turn);
    const answer = await generate(rollout, turn);
    if (answer.noRoom) return 'context-length';
    const verdict = await evaluate(rollout, answer, task);
    await log(rollout, answer, verdict);
    board.played(turnFacts(answer, verdict));
    const stop = stopReason(turn, verdict.verdict, limits);
    if (stop) return stop;
  }
}

/** Work that was asked to end is not tried again when it fails. */
function wasStopped(error: unknown, scope: CancellationScope): boolean {
  return isCancellation(error) || (scope.consideredCancelled && patched(STOPPED_NOT_FAILED));
}

function cancellation(error: unknown): unknown {
  return isCancellation(error) ? error : new CancelledFailure('The rollout was cancelled.', [], error as Error);
}
