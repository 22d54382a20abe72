// The composition root: the only place that constructs. Builds store, environments and backends once,
// and serves two task queues: workflows with light activities, and generation. Run as a program it
// serves until SIGTERM, SIGINT or the end of the process that started it.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities/index.ts';
import type { ActivityDeps } from './activities/deps.ts';
import { closedWorkflows } from './client.ts';
import { clusterConfig, connect, type Session } from './connection.ts';
import { parseSettings } from './config.ts';
import { createRun, surveyDataset } from './create-run.ts';
import { queryFromRow } from './datasets/row.ts';
import { DatasetError, EverturnError, explain, UsageError } from './domain/errors.ts';
import type { RolloutSettings } from './domain/settings.ts';
import { GENERATE_QUEUE, TASK_QUEUE } from './domain/queues.ts';
import { createEnvironments } from './environments/index.ts';
import type { Backend } from './inference/backend.ts';
import { createBackend } from './inference/index.ts';
import { endWithParent, tellReady } from './server/parent.ts';
import { ensureSearchAttributes } from './server/search-attributes.ts';
import { openFileStore } from './storage/files.ts';
import { everturnVersion } from './version.ts';

export interface WorkerSettings {
  /** Generations at once: the model's slots. */
  readonly slots: number;
}

export const DEFAULT_SLOTS = 64;

export interface RunningWorker {
  /** Resolves when both queues are drained; rejects when the worker broke. */
  readonly done: Promise<void>;
  stop(): void;
}

export async function startWorker({ slots }: WorkerSettings): Promise<RunningWorker> {
  const session = await connect();
  const { connectionOptions } = clusterConfig();
  const connection = await NativeConnection.connect({ ...connectionOptions });
  await ensureSearchAttributes(session.client.connection, session.namespace);

  const environment = createEnvironments();
  const backends = backendCache();
  const activities = createActivities(dependencies(session, environment, backends.get));
  const { generate, ...light } = activities;
  const common: Pick<WorkerOptions, 'connection' | 'namespace' | 'shutdownGraceTime' | 'shutdownForceTime'> = {
    connection,
    namespace: session.namespace,
    shutdownGraceTime: '2 seconds',
    shutdownForceTime: '10 seconds',
  };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue: TASK_QUEUE,
      workflowBundle: { codePath: workflowBundle() },
      activities: light,
      // A run whose worker died is taken over by another after this.
      stickyQueueScheduleToStartTimeout: '3 seconds',
      maxCachedWorkflows: 1000,
    }),
    Worker.create({
      ...common,
      taskQueue: GENERATE_QUEUE,
      activities: { generate },
      maxConcurrentActivityTaskExecutions: slots,
      // Seldom enough to be cheap, often enough that a busy machine misses no 10 s deadline.
      maxHeartbeatThrottleInterval: '3 seconds',
    }),
  ]);
  const stop = () => workers.forEach((w) => w.getState() === 'RUNNING' && w.shutdown());
  const done = Promise.all(workers.map((w) => w.run().finally(stop))).then(() => undefined);
  return {
    stop,
    done: done.finally(async () => {
      await Promise.allSettled([environment.close(), backends.close(), session.close(), connection.close()]);
    }),
  };
}

function dependencies(
  session: Session,
  environment: ActivityDeps['environment'],
  backend: ActivityDeps['backend'],
): ActivityDeps {
  return {
    version: everturnVersion(),
    openStore: openFileStore,
    environment,
    backend,
    parseRow(row) {
      const parsed = queryFromRow(row, '1');
      if (parsed.ok) return parsed.query;
      const field = parsed.field === null ? 'The row' : `Field \`${parsed.field}\` of the row`;
      throw new DatasetError(`${field}: ${parsed.problem}`, { reason: 'bad-row', fix: parsed.fix });
    },
    parseSettings,
    now: Date.now,
    async createRun({ run, out, dataset, samples, limit, shuffleSeed, settings }) {
      const survey = await surveyDataset({ dataset, limit, shuffleSeed });
      const complete = parseSettings(run, { ...settings });
      const origins = Object.fromEntries(
        Object.keys(complete).map((k) => [k, k in settings ? 'input' : 'default'] as const),
      );
      await createRun(openFileStore(out, run), { run, survey, settings: complete, samples, origins });
    },
    closedWorkflows: (workflowIds) => closedWorkflows(session.client, workflowIds),
  };
}

/** One backend per model and how it is reached, built at first use; one that failed to load is tried again. */
function backendCache() {
  const backends = new Map<string, Promise<Backend>>();
  return {
    get(settings: RolloutSettings, runFolder: string): Promise<Backend> {
      const { model, tokenizer, apiKeyEnv = null } = settings;
      const maxInFlight = settings.maxInFlightPerServer ?? null;
      const fleet = {
        policy: settings.fleetPolicy ?? 'sticky',
        maxInFlight,
        weights: settings.serverWeights ?? {},
        // Limits hold over all workers of a run: they meet in its folder.
        leaseFolder: maxInFlight === null ? null : join(runFolder, '.fleet'),
      };
      const key = JSON.stringify([model, tokenizer, apiKeyEnv, fleet]);
      const known = backends.get(key);
      if (known) return known;
      const made = createBackend(model, { tokenizer, apiKeyEnv, fleet, log: (line) => console.error(line) });
      backends.set(key, made);
      made.catch(() => backends.delete(key));
      return made;
    },
    async close(): Promise<void> {
      await Promise.allSettled([...backends.values()].map(async (b) => (await b).close()));
    },
  };
}

function workflowBundle(): string {
  return fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));
}

/** Serves until it is told to stop; resolves to the exit code. */
export async function serve(settings: WorkerSettings = slotsFromEnvironment()): Promise<number> {
  Runtime.install({
    logger: new DefaultLogger('INFO', ({ level, timestampNanos, message, meta }) => {
      const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
      process.stderr.write(`${time} ${level} ${message}${meta ? ` ${JSON.stringify(meta)}` : ''}\n`);
    }),
    shutdownSignals: [],
  });
  const worker = await startWorker(settings);
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, worker.stop);
  endWithParent(worker.stop);
  tellReady();
  await worker.done;
  return 0;
}

function slotsFromEnvironment(): WorkerSettings {
  const text = process.env['EVERTURN_SLOTS'];
  if (!text) return { slots: DEFAULT_SLOTS };
  if (/^[1-9]\d{0,4}$/.test(text)) return { slots: Number(text) };
  throw new UsageError(`EVERTURN_SLOTS is "${text}".`, {
    reason: 'bad-value',
    fix: 'It takes a whole number of at least 1.',
  });
}

const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) {
  serve().then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error instanceof EverturnError ? explain(error) : error);
      process.exit(1);
    },
  );
}
