// The activities as a rollout calls them: each with its queue, its time limits and a title for the UI.
// Generation is a regular activity (heartbeats, cancellation, its own slots); the rest are local ones.
// Only Temporal retries: a failure that can pass is retried until the schedule-to-close limit.

import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Task } from '../domain/query.ts';
import { CODE_QUEUE, GENERATE_QUEUE } from '../domain/queues.ts';
import type { Generated, GeneratedTurn, GenerateInput, OpenedRollout } from '../domain/rollout-facts.ts';
import type { SentMessage } from '../domain/say.ts';
import type { Verdict } from '../domain/verdict.ts';
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

export function open(input: RolloutInput): Promise<OpenedRollout> {
  return light.open.executeWithOptions({ summary: 'fix the query' }, [input]);
}

/** `say`: a person's message before this turn. */
export function generate(rollout: TrajectoryReference, turn: number, say?: SentMessage): Promise<Generated> {
  const input: GenerateInput = say ? { rollout, turn, say } : { rollout, turn };
  return generation.generate.executeWithOptions({ summary: `turn ${turn} · generate` }, [input]);
}

export function evaluate(
  rollout: TrajectoryReference,
  { turn, outputTokens }: GeneratedTurn,
  task?: Task,
): Promise<Verdict> {
  const summary = `turn ${turn} · judge ${outputTokens} tokens`;
  const { evaluate: judge } = task === 'code' ? judgingCode : light;
  return judge.executeWithOptions({ summary }, [{ rollout, turn }]);
}

export function log(
  rollout: TrajectoryReference,
  { turn, outputTokens }: GeneratedTurn,
  { verdict }: Verdict,
): Promise<void> {
  const summary = `turn ${turn} · ${outputTokens} tokens · ${verdict}`;
  return light.log.executeWithOptions({ summary }, [{ rollout, turn }]);
}

/** Returns the end that was stored before, if it is another one; else null. */
export function finish(result: RolloutResult, message: string | null): Promise<RolloutResult | null> {
  const summary = `${result.outcome} · ${result.stopReason}`;
  return light.finish.executeWithOptions({ summary }, [{ result, message }]);
}
