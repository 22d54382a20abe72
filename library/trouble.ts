// The reason why a run does not advance: a disk that cannot be written, an activity of the run or of a few of its
// rollouts that is retried or that no worker takes, a model server that is away, or one that takes minutes. Undefined if there is no such
// reason, or if Temporal does not answer.

import { oneLine } from '../domain/text/foreign-text.ts';
import { takesActivities } from '../client/temporal/workers.ts';
import { type DescribedWorkflow, describeInFlight } from '../client/temporal/in-flight.ts';
import { stranded } from '../client/temporal/routing.ts';
import { activitiesIn, type PendingActivity, retriedLocally } from '../client/temporal/pending.ts';
import type { Session } from '../client/temporal/connection.ts';
import { isFunctionQueue, TASK_QUEUE } from '../domain/names/queues.ts';
import { unwritable } from '../records/places/writable.ts';
import { unanswered } from '../local/service/link.ts';
import { isUnanswered } from '../run/program-pollers.ts';
import { workOf } from '../run/require-worker.ts';
import { isOnDisk } from '../records/place.ts';

const ROLLOUTS = 32;
/** The workflows without a pending activity whose history is read. */
const HISTORIES = 4;
const CALL_MS = 5_000;

type Pending = PendingActivity & { readonly workflowId: string };

const MODEL_AWAY = new Set(['server-unreachable', 'server-timeout', 'server-reset', 'server-busy', 'server-error']);

/** Why the run waits, with the text of a server or a program. */
export async function troubleOf(session: Session, run: string, folder: string | null): Promise<string | undefined> {
  return reasonOf(session, run, folder, (pending) => {
    const failing = pending.find(({ lastFailure }) => lastFailure?.message);
    if (!failing) return undefined;
    const { name, workflowId, lastFailure } = failing;
    const what = MODEL_AWAY.has(lastFailure!.reason) ? 'Waiting for model server' : 'Retried repeatedly';
    return oneLine(`${what}, ${name} of ${workflowId}: ${lastFailure!.message}`).slice(0, MOST_CHARS);
  });
}

/** The same without text of a server or a program: a disk, a model server or a worker that is away. */
export async function awaitedOf(session: Session, run: string, folder: string | null): Promise<string | undefined> {
  return reasonOf(session, run, folder, (pending) => awayModel(pending) ?? wrongWorker(pending));
}

async function reasonOf(
  session: Session,
  run: string,
  folder: string | null,
  ofCalls: (pending: readonly Pending[]) => string | undefined,
): Promise<string | undefined> {
  const described = await inFlight(session, run);
  const reported = described.flatMap(({ workflowId, raw }) => activitiesIn(raw).map((one) => ({ ...one, workflowId })));
  const pending = [...reported, ...(await localsOf(session, described))];
  const known = (await diskTrouble(pending, folder)) ?? ofCalls(pending);
  const missing = known ?? (await missingWorker(session, pending)) ?? (await stranded(session, run, described));
  return missing ?? slowAnswer(pending);
}

/** A request may take so long before it is said. */
const SLOW_MINUTES = [30, 10, 3];

function slowAnswer(pending: readonly Pending[]): string | undefined {
  const begun = pending.flatMap(({ name, state, since }) =>
    name === 'generate' && state === 'started' && since !== null ? [since] : [],
  );
  const minutes = (Date.now() - Math.min(...begun)) / 60_000;
  const passed = begun.length === 0 ? undefined : SLOW_MINUTES.find((least) => minutes >= least);
  if (passed === undefined) return undefined;
  return `No answer for more than ${passed} min to the oldest of ${begun.length} requests seen. A request is sent again after the run's requestTimeoutSeconds (3600 by default).`;
}

const MOST_CHARS = 600;

/** Only if every pending `generate` failed because the server is away, or because no model runs in the worker. */
function awayModel(pending: readonly Pending[]): string | undefined {
  const reasons = pending.flatMap(({ name, lastFailure }) => (name === 'generate' ? [lastFailure?.reason ?? ''] : []));
  if (reasons.length === 0) return undefined;
  if (reasons.every((reason) => reason === 'no-embedded-models')) {
    return 'Answers are waiting for a worker that runs models itself: start one of the image worker-cpu, or of a whole installation. Nothing is lost meanwhile.';
  }
  if (!reasons.every((reason) => MODEL_AWAY.has(reason))) return undefined;
  return `Waiting for model server (${reasons[0]}): requests to it are retried. Nothing is lost meanwhile.`;
}

/** One that lacks what a step needs: the step is left to others, and none has taken it yet. */
const OF_WORKER = new Set([
  ...['not-allowed', 'environment-not-served', 'tool-not-served', 'agent-not-served', 'agent-changed'],
]);

function wrongWorker(pending: readonly Pending[]): string | undefined {
  const failure = pending.find(({ lastFailure }) => OF_WORKER.has(lastFailure?.reason ?? ''))?.lastFailure;
  return failure ? oneLine(`Waiting for another worker: ${failure.message}`).slice(0, 800) : undefined;
}

/** The error of the run folder's disk, as a message of ours: a worker's if it reported one, else this machine's. */
const DISK = new Set([
  ...['disk-full', 'read-only', 'no-permission', 'too-many-files', 'io-error'],
  ...['bucket-away', 'bucket-denied', 'bucket-missing', 'bucket-refused', 'bucket-region', 'bucket-unsafe'],
  ...['clock-skew', 'no-bucket-keys'],
]);

async function diskTrouble(pending: readonly Pending[], folder: string | null): Promise<string | undefined> {
  const reported = pending.map(
    ({ waits, lastFailure }) => waits ?? (DISK.has(lastFailure?.reason ?? '') ? lastFailure!.message : undefined),
  );
  const error = reported.find((text) => text !== undefined);
  // Other steps, which do not report it, may wait as well.
  if (error === undefined) return folder === null ? undefined : localDiskTrouble(folder);
  const kind = folder !== null && !isOnDisk(folder) ? 'bucket' : 'disk';
  return oneLine(`Waiting for the ${kind}: ${error}`).slice(0, MOST_CHARS);
}

/** The same for this machine alone: Temporal need not answer, which it may not do on a full disk. */
export async function localDiskTrouble(folder: string): Promise<string | undefined> {
  const error = await unwritable(folder);
  return error === undefined ? undefined : oneLine(`Waiting for the disk: ${error}`).slice(0, MOST_CHARS);
}

async function missingWorker(session: Session, pending: readonly Pending[]): Promise<string | undefined> {
  const waiting = new Set(pending.filter(({ state }) => state === 'scheduled').map(({ queue }) => queue));
  for (const queue of new Set(pending.map((one) => one.queue))) {
    const known = workOf(queue);
    // Steps of the run itself wait for its own workers: `stranded` says why.
    if (!known || queue === TASK_QUEUE) continue;
    const isMissing = isFunctionQueue(queue)
      ? await isUnanswered(session, queue, waiting.has(queue)).catch(unanswered)
      : waiting.has(queue) && (await takesActivities(session, queue)) === false;
    if (!isMissing) continue;
    return `${known.what} are waiting, and no worker takes them (queue ${queue}). ${known.fix} Nothing is lost meanwhile.`;
  }
  return undefined;
}

/** None where the server does not answer. */
async function inFlight(session: Session, run: string): Promise<DescribedWorkflow[]> {
  const asking = session.client.withDeadline(Date.now() + CALL_MS, () => describeInFlight(session, run, ROLLOUTS));
  return (await asking.catch(unanswered)) ?? [];
}

/** Local activities that fail. */
async function localsOf(session: Session, described: readonly DescribedWorkflow[]): Promise<Pending[]> {
  const idle = described.filter(({ raw }) => (raw.pendingActivities ?? []).length === 0);
  // The run's own is first, its rollouts are last.
  const some = idle.length > HISTORIES ? [idle[0]!, ...idle.slice(1 - HISTORIES)] : idle;
  const found = some.map(async ({ workflowId }): Promise<Pending[]> => {
    const failing = await retriedLocally(session, workflowId);
    return failing ? [{ ...failing, workflowId }] : [];
  });
  return (await Promise.all(found)).flat();
}
