// A run with programs needs a sandbox, or the user's explicit consent to run them without one. Checked before the run
// starts: a run whose code no worker takes would wait without an error.

import { setTimeout as sleep } from 'node:timers/promises';
import { takesActivities } from '../../client/temporal/workers.ts';
import { EnvironmentError, SandboxError } from '../../domain/errors/errors.ts';
import { CODE_QUEUE, ENVIRONMENT_QUEUE } from '../../domain/run/queues.ts';
import { proveSandbox } from '../../environments/code/canary.ts';
import { UNSAFE_VARIABLE, unsafeCodeAllowed } from '../../environments/code/consent.ts';
import { homeOf } from '../../local/service/home.ts';
import type { Io } from '../io.ts';
import type { Link } from '../find/link.ts';

/** The programs that run in the sandbox. */
export type Programs = 'the data set has code to judge' | 'the tool `python` runs programs of the model';

export const programsOf = (isCode: boolean): Programs =>
  isCode ? 'the data set has code to judge' : 'the tool `python` runs programs of the model';

/** Throws a SandboxError if programs cannot run on this machine. */
export async function mustProveSandbox(io: Io, programs: Programs): Promise<void> {
  if (unsafeCodeAllowed(io.env)) return;
  const proof = await proveSandbox({ env: io.env });
  if (proof.ok) return;
  throw new SandboxError(`No sandbox is available, and ${programs}: ${proof.why}.`, {
    reason: 'no-sandbox',
    fix: `${proof.fix} On a throw-away machine: ${UNSAFE_VARIABLE}=1.`,
  });
}

/** A worker that has just started appears at the server a moment later. */
const WAIT_MS = { local: 15_000, elsewhere: 5_000 };
const POLL_MS = 250;

/** Throws an EnvironmentError if no worker takes the calls of users' own environments. */
export async function mustTakeEnvironments({ session, local }: Link): Promise<void> {
  if (await isTaken(session, local, ENVIRONMENT_QUEUE)) return;
  throw new EnvironmentError(`No worker at ${session.address} takes environments (queue ${ENVIRONMENT_QUEUE}).`, {
    reason: 'environment-not-served',
    fix: local ? '`everturn down` and this command restart the local service.' : 'Start `everturn worker` there.',
  });
}

/** Throws an EnvironmentError if no worker of the user's takes its queue. */
export async function mustTakeQueue({ session, local }: Link, queue: string): Promise<void> {
  if (await isTaken(session, local, queue)) return;
  throw new EnvironmentError(`No worker at ${session.address} takes activities of the queue ${queue}.`, {
    reason: 'environment-not-served',
    fix: `Start your worker for ${session.address}, namespace ${session.namespace}, first.`,
  });
}

async function isTaken(session: Link['session'], local: boolean, queue: string): Promise<boolean> {
  for (const end = Date.now() + WAIT_MS[local ? 'local' : 'elsewhere']; ; await sleep(POLL_MS)) {
    // If the server does not list its workers, assume that one takes it.
    if ((await takesActivities(session, queue)) !== false) return true;
    if (Date.now() > end) return false;
  }
}

/** Throws a SandboxError if no worker takes code. */
export async function mustTakeCode(io: Io, { session, local }: Link, programs: Programs): Promise<void> {
  if (await isTaken(session, local, CODE_QUEUE)) return;
  const where = local ? 'the local service' : `the cluster at ${session.address}`;
  throw new SandboxError(`No worker of ${where} takes programs (queue ${CODE_QUEUE}), and ${programs}.`, {
    reason: 'no-code-worker',
    fix: local
      ? `${homeOf(io.env).workerLog} says why; \`everturn down\` and this command restart it.`
      : 'Start `everturn worker` on a machine with bubblewrap; a worker without a proven sandbox says so when it starts.',
  });
}
