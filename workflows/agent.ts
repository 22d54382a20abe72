// A rollout that an agent plays: the agent runs as one activity, which generates its calls itself, each as a turn that is recorded
// once. The workflow hears of many calls together. The last turn is judged, by what the agent said last.

import * as wf from '@temporalio/workflow';
import { CALLED } from '../domain/rollout/calls.ts';
import { type StopReason, stopReason } from '../domain/rollout/ending.ts';
import { type OpenedRollout, turnFacts } from '../domain/rollout/rollout-facts.ts';
import { agentCalls } from './messages.ts';
import type { ShownProgress } from './progress.ts';
import { agentTurns, evaluate, pauseAgent, runAgent } from './steps.ts';

/** Resolves when the agent has ended and its answer is judged. */
export async function playAgent(opened: OpenedRollout, progress: ShownProgress): Promise<StopReason> {
  const { rollout, program, limits, task, environment } = opened;
  wf.setHandler(agentCalls, (counts) => progress.called(counts));
  await progress.onPause((paused) => pauseAgent(rollout, paused));
  const readTurns = async () => {
    await wf.condition(wf.allHandlersFinished);
    progress.played(...(await agentTurns(rollout)).map((facts) => turnFacts(facts, CALLED)));
  };
  let last: number;
  try {
    last = (await runAgent(rollout, program!)).turns;
  } catch (error) {
    await wf.CancellationScope.nonCancellable(readTurns);
    throw error;
  }
  await readTurns();
  const facts = progress.turns[last - 1]!;
  const reply = await evaluate(rollout, facts, task, environment);
  progress.played(turnFacts(facts, reply));
  return stopReason(1, reply.verdict, limits, true)!;
}
