// The workers that a run needs, by the task queue of their work: whether one takes it, and what to start where none does.

import { setTimeout as sleep } from 'node:timers/promises';
import { namesCluster } from '../client/temporal/cluster-settings.ts';
import { misrouted } from '../client/temporal/routing.ts';
import { takesActivities } from '../client/temporal/workers.ts';
import { EnvironmentError, SandboxError } from '../domain/errors/errors.ts';
import { unusable } from '../domain/errors/unusable.ts';
import {
  CODE_QUEUE,
  ENVIRONMENT_QUEUE,
  GENERATE_QUEUE,
  isFunctionQueue,
  SESSION_QUEUE,
  TASK_QUEUE,
} from '../domain/names/queues.ts';
import { needsProgram, type RolloutSettings } from '../domain/rollout/settings.ts';
import { proveSandbox } from '../packages/sandbox/index.ts';
import { UNSAFE_VARIABLE, unsafeCodeAllowed } from '../environments/code/consent.ts';
import { homeOf } from '../local/service/home.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import type { Link } from '../local/service/link.ts';

interface Work {
  readonly what: string;
  readonly fix: string;
}

const ANYWHERE = "Start `everturn worker` on any machine that reaches the run's folder";

const WORK: Readonly<Record<string, Work>> = {
  [TASK_QUEUE]: { what: 'Runs', fix: `${ANYWHERE}.` },
  [GENERATE_QUEUE]: { what: 'Answers', fix: `${ANYWHERE} and the model.` },
  [CODE_QUEUE]: {
    what: 'Programs',
    fix: 'Start `everturn worker` on a machine with bubblewrap; a worker without a proven sandbox says so when it starts.',
  },
  [ENVIRONMENT_QUEUE]: { what: 'Environments', fix: `${ANYWHERE}.` },
  [SESSION_QUEUE]: { what: 'Sessions', fix: 'Start `everturn worker` with `--sessions <address>`.' },
};

/** The work of a queue; undefined for a user's own. */
export const workOf = (queue: string): Work | undefined =>
  isFunctionQueue(queue)
    ? { what: 'Calls of functions', fix: 'Start the program again that made the run: it alone answers for them.' }
    : WORK[queue];

/** A worker that has just started appears at the server a moment later. */
const WAIT_MS = { local: 15_000, elsewhere: 5_000 };
const POLL_MS = 250;

/** Throws a SandboxError or an EnvironmentError if no worker takes the activities of this queue, which may be a user's own. */
export async function requireWorker(env: Environment, { session, local }: Link, queue: string): Promise<void> {
  for (const end = Date.now() + WAIT_MS[local ? 'local' : 'elsewhere']; Date.now() < end; await sleep(POLL_MS)) {
    // If the server does not list its workers, assume that one takes it.
    if ((await takesActivities(session, queue)) !== false) return;
  }
  const known = workOf(queue);
  const { address, namespace } = session;
  const message = `No worker at ${address} takes ${known?.what.toLowerCase() ?? 'activities'} (queue ${queue}).`;
  const own = `Start your worker for ${address}, namespace ${namespace}, first.`;
  const restart = `${homeOf(env).workerLog} says why; \`everturn down\` and this command restart the local service.`;
  const fix = known === undefined ? own : local ? restart : known.fix;
  if (queue === CODE_QUEUE) throw new SandboxError(message, { reason: 'no-code-worker', fix });
  throw new EnvironmentError(message, { reason: 'environment-not-served', fix });
}

/** Throws a UsageError for a run whose functions nobody would answer for. `what`: the subject of the refusal. */
export function mustNeedNoProgram(settings: RolloutSettings, what: string): void {
  if (!needsProgram(settings)) return;
  const message = `${what} has functions of the program that made the run, which answers for that run alone.`;
  const fix = 'Start that program under another name: it plays all queries anew (docs/library.md).';
  throw unusable(message, fix, 'not-allowed');
}

export const BUSY = {
  state: 'its workers have not answered yet',
  fix: 'They are busy, or ended a moment ago. Nothing is lost meanwhile.',
};

/** Why a run does not answer, as far as the server says it. The local service starts its own worker again. */
export async function silenceOf({ session, local }: Link): Promise<{ readonly state: string; readonly fix: string }> {
  const [elsewhere, takes] = await Promise.all([
    misrouted(session).catch(() => undefined),
    local || takesActivities(session, TASK_QUEUE).catch(() => undefined),
  ]);
  if (elsewhere !== undefined) return { state: 'no worker gets its work', fix: elsewhere };
  if (takes !== false) return BUSY;
  return { state: 'no worker answers', fix: `${ANYWHERE}. Nothing is lost meanwhile.` };
}

/** A run whose programs no worker takes would wait without an error. Workers of a cluster are elsewhere. */
export async function mustHaveSandbox(env: Environment): Promise<void> {
  if (namesCluster() || unsafeCodeAllowed(env)) return;
  const proof = await proveSandbox({ env });
  if (proof.ok) return;
  throw new SandboxError(`No sandbox is available, and the run has programs to run: ${proof.why}.`, {
    reason: 'no-sandbox',
    fix: `${proof.fix} On a throw-away machine: ${UNSAFE_VARIABLE}=1.`,
  });
}
