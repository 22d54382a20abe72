// Task queues by name, which is part of the contract, and the order in which their work is taken, by Temporal's priority and
// fairness keys. Later turns go first: a trajectory is finished before another is begun, while its conversation is in the
// prefix cache of the inference server. Among equals the runs take turns, so that a second run does not wait for the first
// one's queue.

import { sha256Hex } from '../text/sha256.ts';

/** Workflows and light activities. */
export const TASK_QUEUE = 'everturn';
/** Generation only: one slot for each request that the model may have in flight. */
export const GENERATE_QUEUE = 'everturn-generate';
/** Calls of users' own environments. */
export const ENVIRONMENT_QUEUE = 'everturn-environment';
/** Judging of model-written code: polled only by workers with a proven sandbox. */
export const CODE_QUEUE = 'everturn-code';
/** Programs of agents, each of which holds its slot until it ends. */
export const AGENT_QUEUE = 'everturn-agent';
/** Agents that run elsewhere: polled only by workers that hand out sessions. */
export const SESSION_QUEUE = 'everturn-session';

const FUNCTION_QUEUES = 'everturn-functions/';
/** Calls of the functions of the program that made this run, which that program alone answers. */
export const functionQueue = (run: string): string => `${FUNCTION_QUEUES}${run}`;
export const isFunctionQueue = (queue: string): boolean => queue.startsWith(FUNCTION_QUEUES);

interface WorkPriority {
  /** 1 goes first, 5 last; work of versions without priorities has 3. */
  readonly priorityKey?: number;
  readonly fairnessKey: string;
}

export const LAST = 5;
/** The server's limit on a fairness key, in bytes; a run's name is ASCII. */
const MAX_KEY = 64;

/** The priority of a rollout's workflow tasks: it is named, because a child without one has its parent's. */
export function rolloutPriority(run: string): WorkPriority {
  return { priorityKey: 3, ...runPriority(run) };
}

/** The priority of the tasks of a run's own workflow and its blocks: before those of rollouts, of which there are many. */
export function steeringPriority(run: string): WorkPriority {
  return { priorityKey: 1, ...runPriority(run) };
}

/** A run's share among the runs; its place in the order is that of the default. */
export function runPriority(run: string): WorkPriority {
  return { fairnessKey: run.length <= MAX_KEY ? run : `${run.slice(0, 31)}~${sha256Hex(run).slice(0, 32)}` };
}

/** The priority of a turn's activities. */
export function turnPriority(run: string, turn: number): WorkPriority {
  return { priorityKey: Math.max(1, LAST + 1 - turn), ...runPriority(run) };
}
