// The activities as a rollout calls them: each with its queue, its time limits and a title for the UI.
// Generation is a regular activity (heartbeats, cancellation, its own slots); the rest are local ones.
// Only Temporal retries: a failure that can pass is retried until the schedule-to-close limit.

import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { turnPriority } from '../domain/priority.ts';
import type { Task } from '../domain/query.ts';
import { CODE_QUEUE, ENVIRONMENT_QUEUE, GENERATE_QUEUE } from '../domain/queues.ts';
import type {
  Called,
  Generated,
  GeneratedTurn,
  GenerateInput,
  Judged,
  OpenedRollout,
} from '../domain/rollout-facts.ts';
import type { CallToRun } from '../domain/tool.ts';
import type { SentMessage } from '../domain/say.ts';
import type { RolloutResult } from '../domain/ending.ts';
import type { TrajectoryReference } from '../domain/ids.ts';
import type { RolloutInput } from '../domain/messages.ts';

const generation = proxyActivities<Activities>({
  taskQueue: GENERATE_QUEUE,
  startToCloseTimeout: '2 hours',
  scheduleToCloseTimeout: '24 hours',
  // Within this time Temporal notices a dead worker and gives its work to another.
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const light = proxyLocalActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '24 hours',
  localRetryThreshold: '20 seconds',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** Programs are run by workers that have a sandbox, for as long as all their cases may take. */
const judgingCode = proxyActivities<Activities>({
  taskQueue: CODE_QUEUE,
  startToCloseTimeout: '30 minutes',
  scheduleToCloseTimeout: '24 hours',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** A user's own environment may take its time: its worker reports that it is alive. */
const responding = proxyActivities<Activities>({
  taskQueue: ENVIRONMENT_QUEUE,
  startToCloseTimeout: '30 minutes',
  scheduleToCloseTimeout: '24 hours',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** After these tries it is left alone: the rollout's result does not depend on it. */
const leaving = proxyActivities<Activities>({
  taskQueue: ENVIRONMENT_QUEUE,
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumAttempts: 3 },
});

/** `unbegun`: also where its environment has not begun it, and will not. */
export function open(input: RolloutInput, unbegun?: true): Promise<OpenedRollout> {
  return light.open.executeWithOptions({ summary: 'fix the query' }, unbegun ? [input, unbegun] : [input]);
}

export function begin(input: RolloutInput, environment: string): Promise<OpenedRollout> {
  return responding.begin.executeWithOptions({ summary: `${environment} begins` }, [input]);
}

export function endEnvironment(rollout: TrajectoryReference, turns: number, environment: string): Promise<void> {
  return leaving.endEnvironment.executeWithOptions({ summary: `${environment} ends` }, [{ rollout, turns }]);
}

/** `say`: a person's message before this turn. */
export function generate(rollout: TrajectoryReference, turn: number, say?: SentMessage): Promise<Generated> {
  const input: GenerateInput = say ? { rollout, turn, say } : { rollout, turn };
  const options = { summary: `turn ${turn} · generate`, priority: turnPriority(rollout.run, turn) };
  return generation.generate.executeWithOptions(options, [input]);
}

export function evaluate(
  rollout: TrajectoryReference,
  { turn, outputTokens, calls }: GeneratedTurn,
  task?: Task,
  environment?: string,
): Promise<Judged> {
  // The results of tools are put together; nobody judges them.
  if (calls) return light.evaluate.executeWithOptions({ summary: `turn ${turn} · results` }, [{ rollout, turn }]);
  const summary = `turn ${turn} · ${environment ?? 'judge'} ${outputTokens} tokens`;
  const slow = environment !== undefined || task === 'code';
  const options = slow ? { summary, priority: turnPriority(rollout.run, turn) } : { summary };
  const { evaluate: judge } = environment !== undefined ? responding : task === 'code' ? judgingCode : light;
  return judge.executeWithOptions(options, [{ rollout, turn }]);
}

/** Calls that change nothing run at the same time; each other one waits for those before it. */
export async function callTools(
  rollout: TrajectoryReference,
  turn: number,
  calls: readonly CallToRun[],
): Promise<void> {
  let running: Promise<Called>[] = [];
  for (const { call, name, code, pure } of calls) {
    if (!pure) await Promise.all(running.splice(0));
    const options = { summary: `turn ${turn} · call ${call} · ${name}`, priority: turnPriority(rollout.run, turn) };
    const asked = (code ? judgingCode : responding).callTool.executeWithOptions(options, [{ rollout, turn, call }]);
    if (pure) running = [...running, asked];
    else await asked;
  }
  await Promise.all(running);
}

export function log(
  rollout: TrajectoryReference,
  { turn, outputTokens }: GeneratedTurn,
  { verdict, reward }: Judged,
): Promise<void> {
  const own = reward === undefined ? '' : ` · ${reward}`;
  const summary = `turn ${turn} · ${outputTokens} tokens · ${verdict}${own}`;
  return light.log.executeWithOptions({ summary }, [{ rollout, turn }]);
}

/** Returns the end that was stored before, if it is another one; else null. */
export function finish(result: RolloutResult, message: string | null): Promise<RolloutResult | null> {
  const summary = `${result.outcome} · ${result.stopReason}`;
  return light.finish.executeWithOptions({ summary }, [{ result, message }]);
}
