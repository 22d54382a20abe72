// A rollout that an agent's program plays: the program runs as one activity, and each call that it makes comes as an Update,
// and becomes a turn. The last turn is judged, by what the program said last.

import * as wf from '@temporalio/workflow';
import { type StopReason, stopReason } from '../domain/rollout/ending.ts';
import { CALLED } from '../domain/rollout/calls.ts';
import {
  type AskedTurn,
  type Generated,
  type GeneratedTurn,
  type OpenedRollout,
  turnFacts,
} from '../domain/rollout/rollout-facts.ts';
import { askTurn } from './messages.ts';
import type { ShownProgress } from './progress.ts';
import { evaluate, generate, runAgent } from './steps.ts';

/** Resolves when the program has ended and its answer is judged. The first call without an answer ends it by that failure. */
export async function playAgent(opened: OpenedRollout, progress: ShownProgress): Promise<StopReason> {
  const { rollout, program, limits, task, environment, modelQueue } = opened;
  const turns = new Map<number, Promise<GeneratedTurn>>();
  const running = new wf.CancellationScope();
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;

  const played = async (turn: number): Promise<GeneratedTurn> => {
    await progress.mayBegin(turn);
    // A call without room was refused before it became a turn.
    const answer = (await generate(rollout, turn, modelQueue)) as Generated & GeneratedTurn;
    progress.played(turnFacts(answer, CALLED));
    return answer;
  };
  wf.setHandler(
    askTurn,
    async ({ turn }) => {
      const answered = running.run(() => played(turn));
      turns.set(turn, answered);
      try {
        await answered;
      } catch (error) {
        // The others fail because this one did.
        if (!failure) failure = { error };
        running.cancel();
        throw error;
      }
    },
    {
      validator: (asked: AskedTurn) => {
        if (isOver) throw wf.ApplicationFailure.nonRetryable('The agent has ended.', 'rollout-ended');
        if (!Number.isSafeInteger(asked?.turn) || asked.turn < 1) throw new RangeError('turn is no number above 0');
      },
      description: 'A call of the agent becomes a turn',
    },
  );

  try {
    const { turns: count } = await running.run(() => runAgent(rollout, program!));
    isOver = true;
    await wf.condition(wf.allHandlersFinished);
    // Turns that an earlier workflow of this rollout played are read back.
    for (let turn = 1; turn <= count; turn++) if (!turns.has(turn)) turns.set(turn, played(turn));
    const all = await Promise.all(turns.values());
    const last = all.find(({ turn }) => turn === count)!;
    const reply = await evaluate(rollout, last, task, environment);
    progress.played(turnFacts(last, reply));
    return stopReason(1, reply.verdict, limits, true)!;
  } catch (error) {
    isOver = true;
    running.cancel();
    await wf.CancellationScope.nonCancellable(() => wf.condition(wf.allHandlersFinished));
    if (failure) throw failure.error;
    throw error;
  }
}
