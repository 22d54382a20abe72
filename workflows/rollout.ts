// One query, played turn by turn: the algorithm of the product. Every ending has a name, and a failure is data. Only small
// facts pass through this workflow; tokens and texts are in the store.

import { CancelledFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import {
  rolloutResult,
  type RolloutResult,
  scoredTurns,
  type StopReason,
  stopReason,
} from '../domain/rollout/ending.ts';
import type { RolloutInput } from '../domain/run/messages.ts';
import { type OpenedRollout, turnFacts } from '../domain/rollout/rollout-facts.ts';
import { playAgent } from './agent.ts';
import { failureFacts } from './failure.ts';
import { openProgress, type ShownProgress } from './progress.ts';
import { begin, callTools, endEnvironment, evaluate, finish, generate, log, open } from './steps.ts';

/** Resolves when a limit ends the rollout (domain/rollout/ending.ts). A reply that calls tools is a turn, and not an answer. */
async function play(
  { rollout, limits, task, environment, modelQueue }: OpenedRollout,
  progress: ShownProgress,
): Promise<StopReason> {
  for (let turn = 1, answers = 0; ; turn++) {
    await progress.mayBegin(turn);
    // S_t = C_t ++ O_t: the model's answer O_t to the context C_t. The first context is the prompt, and each further one
    // is C_{t+1} = S_t ++ feedback on success_t (domain/context/new-context.ts).
    const answer = await generate(rollout, turn, modelQueue);
    if (answer.noRoom) return 'context-length';
    if (answer.calls) await callTools(rollout, turn, answer.calls);
    else answers++;
    // success_t, from which the reward and the feedback follow; or the reward and the messages of a user's environment.
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
    const failure = failureFacts(error) ?? null;
    // r_t = ((success_t − 0.5)·2 − bias)·scaling, and backwards G_t = r_t + γ·G_{t+1} (domain/rollout/reward.ts).
    const scored = scoredTurns(progress.turns, stop, opened.reward);
    const wanted = rolloutResult(opened.rollout, progress.turns, stop, failure, scored);
    // If a workflow task whose worker died has already recorded an end, that one counts.
    const stored = await CancellationScope.nonCancellable(() => finish(wanted, failure?.message ?? null));
    const result = stored ?? wanted;
    if (opened.environment?.ends) await leave(opened, progress.turns.length);
    progress.closed(result);
    return result;
  };

  try {
    if (notBegun) throw notBegun;
    return await end(await scope.run(() => (opened.program ? playAgent : play)(opened, progress)));
  } catch (error) {
    if (!isCancellation(error) && !failureFacts(error)) throw error;
    // Work that was asked to stop is not tried again when it fails: that rollout was cancelled, too.
    if (!isCancellation(error) && !scope.consideredCancelled) return end('failed', error);
    const result = await end('cancelled');
    if (result.outcome === 'cancelled' && CancellationScope.current().consideredCancelled) throw cancellation(error);
    return result;
  }
}

/** A rollout that is cancelled while it opens is opened all the same: its end is recorded. */
async function openedFor(input: RolloutInput): Promise<OpenedRollout> {
  try {
    return await open(input);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return CancellationScope.nonCancellable(() => open(input));
  }
}

/** The rollout as its environment began it; and the failure, if it could not. */
async function begunBy(input: RolloutInput, opened: OpenedRollout): Promise<readonly [OpenedRollout, unknown?]> {
  const { environment } = opened;
  if (!environment?.begins) return [opened];
  try {
    return [await begin(input, environment)];
  } catch (error) {
    if (!isCancellation(error)) return [opened, error];
    return [await CancellationScope.nonCancellable(() => open(input, true)), error];
  }
}

/** The environment gives back what it took; the result does not depend on it. */
async function leave({ rollout: id, environment }: OpenedRollout, turns: number): Promise<void> {
  const ended = () => endEnvironment(id, turns, environment!);
  await CancellationScope.nonCancellable(ended).catch(() => undefined);
}

function cancellation(error: unknown): unknown {
  return isCancellation(error) ? error : new CancelledFailure('The rollout was cancelled.', [], error as Error);
}
