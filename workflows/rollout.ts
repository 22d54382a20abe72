// One query, turn by turn: the algorithm of the product. For t = 1, 2, … until a limit ends it (domain/rollout/ending.ts):
//   S_t     = C_t ++ O_t, O_t the model's answer to C_t     activity `generate`; C_1 is the prompt
//   r_t     = ((success_t − 0.5)·2 − bias)·scaling          success_t: activity `evaluate`; r_t: domain/rollout/reward.ts
//   C_{t+1} = S_t ++ feedback on success_t                  first step of the next `generate`: domain/rollout/new-context.ts
// and then G_t = r_t + γ·G_{t+1}: `rolloutResult`. A reply that calls tools is a turn with r_t = 0 and their results as its
// feedback. Every ending has a name, and a failure is data. Only small facts pass through; tokens and texts are in the store.

import { CancelledFailure, CancellationScope, isCancellation, patched } from '@temporalio/workflow';
import { rolloutResult, type RolloutResult, type StopReason, stopReason } from '../domain/rollout/ending.ts';
import type { RolloutInput } from '../domain/run/messages.ts';
import { type OpenedRollout, turnFacts } from '../domain/rollout/rollout-facts.ts';
import { failureOf } from './failure.ts';
import { RECORDED_WHEN_CANCELLED, STOPPED_NOT_FAILED } from './patches.ts';
import { openProgress, type Progress } from './progress.ts';
import { begin, callTools, endEnvironment, evaluate, finish, generate, log, open } from './steps.ts';

async function play({ rollout, limits, task, environment }: OpenedRollout, progress: Progress): Promise<StopReason> {
  for (let turn = 1, answers = 0; ; turn++) {
    const said = await progress.mayBegin(turn);
    const answer = await generate(rollout, turn, said);
    if (answer.noRoom) return 'context-length';
    if (answer.calls) await callTools(rollout, turn, answer.calls);
    else answers++;
    const reply = await evaluate(rollout, answer, task, environment);
    await log(rollout, answer, reply);
    progress.played(turnFacts(answer, reply));
    const stop = answer.calls ? undefined : stopReason(answers, reply.verdict, limits, reply.done);
    if (stop) return stop;
  }
}

/** Plays the query and records how it ended, exactly once; a rollout that was asked to stop ends as `cancelled`. */
export async function rollout(input: RolloutInput): Promise<RolloutResult> {
  const scope = new CancellationScope();
  const progress = openProgress(scope);
  const [opened, notBegun] = await begunBy(input, await openedFor(input));
  progress.opened(opened);
  if (opened.ended) {
    // Restarted after it had ended: the stored result is returned, also a cancelled one.
    progress.closed(opened.ended);
    return opened.ended;
  }

  const end = async (stop: StopReason, error?: unknown) => {
    const failure = failureOf(error) ?? null;
    const wanted = rolloutResult(opened.rollout, progress.turns, stop, failure, opened.reward);
    // If a workflow task whose worker died has already recorded an end, that one counts.
    const stored = await CancellationScope.nonCancellable(() => finish(wanted, failure?.message ?? null));
    const result = stored ?? wanted;
    if (opened.environment?.ends) await leave(opened, progress.turns.length);
    progress.closed(result);
    return result;
  };

  try {
    if (notBegun) throw notBegun;
    return await end(await scope.run(() => play(opened, progress)));
  } catch (error) {
    if (!isCancellation(error) && !failureOf(error)) throw error;
    if (!wasStopped(error, scope)) return end('failed', error);
    const result = await end('cancelled');
    if (result.outcome === 'cancelled' && CancellationScope.current().consideredCancelled) throw cancellation(error);
    return result;
  }
}

/** Also of a rollout that is cancelled meanwhile: its end is recorded under what is opened. */
async function openedFor(input: RolloutInput): Promise<OpenedRollout> {
  try {
    return await open(input);
  } catch (error) {
    if (!isCancellation(error) || !patched(RECORDED_WHEN_CANCELLED)) throw error;
    return CancellationScope.nonCancellable(() => open(input));
  }
}

/** As its environment began it; and the failure, if it could not. */
async function begunBy(input: RolloutInput, opened: OpenedRollout): Promise<readonly [OpenedRollout, unknown?]> {
  const { environment } = opened;
  if (!environment?.begins) return [opened];
  try {
    return [await begin(input, environment)];
  } catch (error) {
    if (!isCancellation(error)) return [opened, error];
    if (!patched(RECORDED_WHEN_CANCELLED)) throw error;
    return [await CancellationScope.nonCancellable(() => open(input, true)), error];
  }
}

/** The environment gives back what it took; the result does not depend on it. */
async function leave({ rollout: id, environment }: OpenedRollout, turns: number): Promise<void> {
  const ended = () => endEnvironment(id, turns, environment!);
  await CancellationScope.nonCancellable(ended).catch(() => undefined);
}

/** Work that was asked to end is not retried when it fails. */
function wasStopped(error: unknown, scope: CancellationScope): boolean {
  return isCancellation(error) || (scope.consideredCancelled && patched(STOPPED_NOT_FAILED));
}

function cancellation(error: unknown): unknown {
  return isCancellation(error) ? error : new CancelledFailure('The rollout was cancelled.', [], error as Error);
}
