// The activities that a rollout calls, each with its queue, its time limits and a title for the UI.
// Generation is a regular activity (heartbeats, cancellation, its own slots); the rest are local ones.
// Only Temporal retries: a failure that can pass is retried until the schedule-to-close limit.

import type { Duration } from '@temporalio/common';
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AgentRan, CallFacts } from '../activities/agent.ts';
import type { Activities } from '../activities/index.ts';
import { turnPriority, CODE_QUEUE, ENVIRONMENT_QUEUE, GENERATE_QUEUE } from '../domain/names/queues.ts';
import type { Task } from '../domain/query/query.ts';
import type { Called, Generated, GeneratedTurn, ReplyFacts, OpenedRollout } from '../domain/rollout/rollout-facts.ts';
import type { CallToRun } from '../domain/tools/tool.ts';
import { shownTokens } from '../domain/rollout/turn-facts.ts';
import type { RolloutResult } from '../domain/rollout/ending.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RolloutInput } from '../domain/run/messages.ts';
import { callQueue } from './own-queue.ts';

const RETRY = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;

/** Within the time of a heartbeat Temporal notices a dead worker and gives its work to another. */
const reporting = (taskQueue: string, startToCloseTimeout: Duration, scheduleToCloseTimeout: Duration = '24 hours') =>
  proxyActivities<Activities>({
    taskQueue,
    startToCloseTimeout,
    scheduleToCloseTimeout,
    heartbeatTimeout: '10 seconds',
    retry: RETRY,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });

const generation = (queue = GENERATE_QUEUE) => reporting(queue, '2 hours');
/** Programs are run by workers that have a sandbox, for as long as all their cases may take. */
const judgingCode = reporting(CODE_QUEUE, '30 minutes');
/** A user's own environment may take its time. */
const responding = (queue = ENVIRONMENT_QUEUE) => reporting(queue, '30 minutes');

const light = proxyLocalActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '24 hours',
  localRetryThreshold: '20 seconds',
  retry: { ...RETRY, initialInterval: '200 ms' },
});

/** After these tries it is left alone: the rollout's result does not depend on it. */
const leaving = (taskQueue = ENVIRONMENT_QUEUE) =>
  proxyActivities<Activities>({
    taskQueue,
    startToCloseTimeout: '5 minutes',
    scheduleToCloseTimeout: '10 minutes',
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumAttempts: 3 },
  });

/** `unbegun`: also where its environment has not begun it, and will not. */
export function open(input: RolloutInput, unbegun?: true): Promise<OpenedRollout> {
  return light.open.executeWithOptions({ summary: 'fix the query' }, unbegun ? [input, unbegun] : [input]);
}

export async function begin(input: RolloutInput, { name, queue, own, ask = {} }: Played): Promise<OpenedRollout> {
  const summary = `${name} begins`;
  if (!own) return responding(queue).begin.executeWithOptions({ summary }, [input]);
  const queueReply = await callQueue(own, 'begin', ask, summary);
  return responding().begin.executeWithOptions({ summary: `${name} has begun` }, [input, queueReply]);
}

type Played = NonNullable<OpenedRollout['environment']>;

export async function endEnvironment(
  rollout: TrajectoryReference,
  turns: number,
  { name, queue, own }: Played,
): Promise<void> {
  const summary = `${name} ends`;
  if (!own) return leaving(queue).endEnvironment.executeWithOptions({ summary }, [{ rollout, turns }]);
  const asked = await light.askEnvironment.executeWithOptions({ summary }, [{ rollout, turn: turns, method: 'end' }]);
  if ('params' in asked) await callQueue(own, 'end', asked.params, summary);
}

/** `queue`: of the program whose function is the model. */
export function generate(rollout: TrajectoryReference, turn: number, queue?: string): Promise<Generated> {
  const options = { summary: `turn ${turn} · generate`, priority: turnPriority(rollout.run, turn) };
  return generation(queue).generate.executeWithOptions(options, [{ rollout, turn }]);
}

export async function evaluate(
  rollout: TrajectoryReference,
  { turn, outputTokens, calls }: Pick<GeneratedTurn, 'turn' | 'outputTokens' | 'calls'>,
  task?: Task,
  environment?: Played,
): Promise<ReplyFacts> {
  // The results of tools are put together; nobody judges them.
  if (calls) return light.evaluate.executeWithOptions({ summary: `turn ${turn} · results` }, [{ rollout, turn }]);
  const summary = `turn ${turn} · ${environment?.name ?? 'judge'} ${shownTokens(outputTokens)}`;
  if (environment?.own) {
    const asked = await light.askEnvironment.executeWithOptions({ summary }, [{ rollout, turn, method: 'respond' }]);
    if ('judged' in asked) return asked.judged;
    const queueReply = await callQueue(environment.own, 'respond', asked.params, summary);
    return light.evaluate.executeWithOptions({ summary }, [{ rollout, turn, said: queueReply }]);
  }
  const slow = environment !== undefined || task === 'code';
  const options = slow ? { summary, priority: turnPriority(rollout.run, turn) } : { summary };
  const { evaluate: judge } = environment ? responding(environment.queue) : task === 'code' ? judgingCode : light;
  return judge.executeWithOptions(options, [{ rollout, turn }]);
}

/** Resolves when the program has ended by itself. */
export function runAgent(rollout: TrajectoryReference, { title, queue, withinSeconds }: Program): Promise<AgentRan> {
  const agent = reporting(queue, `${withinSeconds} seconds`, `${Math.max(withinSeconds, 24 * 3600)} seconds`);
  return agent.runAgent.executeWithOptions({ summary: title }, [{ rollout }]);
}

/** The facts of its calls that have a reply. */
export const agentTurns = (rollout: TrajectoryReference): Promise<readonly CallFacts[]> =>
  light.agentTurns.executeWithOptions({ summary: 'its calls' }, [{ rollout }]);

/** Its agent makes no new call until it goes on. */
export const pauseAgent = (rollout: TrajectoryReference, paused: boolean): Promise<void> =>
  light.pauseAgent.executeWithOptions({ summary: paused ? 'pause' : 'go on' }, [{ rollout, paused }]);

type Program = NonNullable<OpenedRollout['program']>;

/** Calls that change nothing run at the same time; each other one waits for those before it. */
export async function callTools(
  rollout: TrajectoryReference,
  turn: number,
  calls: readonly CallToRun[],
): Promise<void> {
  let running: Promise<Called>[] = [];
  for (const { call, name, code, queue, pure } of calls) {
    if (!pure) await Promise.all(running.splice(0));
    const options = { summary: `turn ${turn} · call ${call} · ${name}`, priority: turnPriority(rollout.run, turn) };
    const { callTool } = code ? judgingCode : responding(queue);
    const asked = callTool.executeWithOptions(options, [{ rollout, turn, call }]);
    if (pure) running = [...running, asked];
    else await asked;
  }
  await Promise.all(running);
}

export function log(
  rollout: TrajectoryReference,
  { turn, outputTokens }: GeneratedTurn,
  { verdict, reward }: ReplyFacts,
): Promise<void> {
  const rewardText = reward === undefined ? '' : ` · ${reward}`;
  const summary = `turn ${turn} · ${shownTokens(outputTokens)} · ${verdict}${rewardText}`;
  return light.log.executeWithOptions({ summary }, [{ rollout, turn }]);
}

/** Returns the end that was stored before, if it is another one; else null. */
export function finish(result: RolloutResult, message: string | null): Promise<RolloutResult | null> {
  const summary = `${result.outcome} · ${result.stopReason}`;
  return light.finish.executeWithOptions({ summary }, [{ result, message }]);
}
