// The worker of a program that made a run with functions of its own: it answers the calls of these functions alone, on the
// run's own queue, and plays nothing else. All else of the run is done by the other workers, which wait for it while it is not there.

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { programActivities } from './activities/index.ts';
import type { Address } from './client/temporal/cluster-settings.ts';
import { openStopping } from './client/temporal/cancellation.ts';
import { openProgramQueue } from './client/temporal/worker-queues.ts';
import { openWorkerConnection, type WorkerConnection } from './client/temporal/worker-connection.ts';
import { EnvironmentError, UsageError } from './domain/errors/errors.ts';
import { createEnvironments } from './environments/index.ts';
import { createTools } from './environments/tools/index.ts';
import { parsedRow } from './formats/datasets/row.ts';
import type { TextBackend } from './inference/backend.ts';
import { installQuietRuntime } from './local/metrics/runtime.ts';
import { tryLock } from './local/machine/lock.ts';
import { everturnVersion } from './local/machine/package-root.ts';
import type { Home } from './local/service/home.ts';
import { openFileStore } from './records/file-store.ts';
import { parseSettings } from './run/config.ts';
import type { ProgramParts } from './run/functions.ts';
import { answered, mustBeAlone, programIdentity } from './run/program-pollers.ts';

export interface ProgramWorker {
  /** Resolves when the calls in flight have ended; rejects if the worker failed. */
  readonly done: Promise<void>;
}

export interface ProgramOptions {
  readonly home: Home;
  /** The Temporal server that plays the run; undefined: the one that the environment names. */
  readonly at: Address | undefined;
  /** Takes warnings, a line each. */
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Answers until the signal aborts. Throws a UsageError (`still-played`) while another program answers for the run.
 */
export async function serveProgram(
  { out, run }: { readonly out: string; readonly run: string },
  { model, environment, tools }: ProgramParts,
  { home, at, log, signal }: ProgramOptions,
): Promise<ProgramWorker> {
  const held = await tryLock(join(home.folder, 'programs', nameOf(out, run)));
  if (!('release' in held)) throw answered(run, `process ${held.heldBy.pid}`);
  const own = createEnvironments(
    {},
    {
      open(record) {
        if (environment && record.fingerprint === environment.record.fingerprint) return environment.environment;
        throw new EnvironmentError(`The program of run "${run}" has no environment ${record.name}.`, {
          ...{ reason: 'environment-not-served', retryable: true },
          fix: 'Start the program that made the run.',
        });
      },
      close: async () => undefined,
    },
  );
  const doors = createTools(tools ? { function: tools.door } : {});
  let cluster: WorkerConnection | undefined;
  const close = async () => {
    held.release();
    await Promise.allSettled([own.close(), doors.close(), cluster?.close()]);
  };
  try {
    installQuietRuntime(log);
    cluster = await openWorkerConnection({ say: log, signal }, at);
    const { session, untilAnswered } = cluster;
    await untilAnswered(() => mustBeAlone(session, run, home.folder));
    const activities = programActivities({
      version: everturnVersion(),
      worker: `${process.pid}@${hostname()}`,
      openStore(place, name) {
        if (place === out && name === run) return openFileStore(out, run);
        throw new UsageError(`This program answers for run "${run}" alone.`, { reason: 'not-allowed' });
      },
      backend: async () => mustHave(model, run),
      environments: own,
      tools: doors,
      permit: () => undefined,
      parseSettings,
      parseRow: (row, { environments }) => parsedRow(row, environments).query,
      isStopping: openStopping(session),
      now: Date.now,
    });
    const queue = await openProgramQueue(cluster, run, { activities, identity: programIdentity(home.folder) });
    signal.addEventListener('abort', queue.stop, { once: true });
    if (signal.aborted) queue.stop();
    return { done: queue.done.finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

const nameOf = (out: string, run: string): string =>
  createHash('sha256')
    .update(JSON.stringify([out, run]))
    .digest('hex')
    .slice(0, 32);

function mustHave(model: TextBackend | undefined, run: string): TextBackend {
  if (model) return model;
  throw new UsageError(`The program of run "${run}" has no model.`, { reason: 'not-allowed' });
}
