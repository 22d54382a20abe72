// The composition root: the only place that constructs. Builds store, environments and backends once, and
// serves the task queues: workflows with light activities, generation, and, with a proven sandbox,
// code. Run as a program it serves until SIGTERM, SIGINT or the end of the process that started it.

import { realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities/index.ts';
import type { ActivityDeps } from './activities/deps.ts';
import { type BackendPermissions, type Backends, openBackends } from './run/backends.ts';
import { closedRollouts } from './temporal/runs.ts';
import { clusterConfig, connect, type Session } from './temporal/connection.ts';
import { holdsStep, startUpdate } from './temporal/weights.ts';
import { parseSettings } from './run/config.ts';
import { createRun } from './run/create-run.ts';
import { examineDataset, surveyDataset } from './run/survey.ts';
import { statedProblem } from './datasets/examine.ts';
import type { Problem } from './datasets/problem.ts';
import { queryFromRow } from './datasets/row.ts';
import { DatasetError, EverturnError, explain, SandboxError, UsageError } from './domain/errors.ts';
import type { RolloutSettings } from './domain/settings.ts';
import type { DeclaredWeights } from './domain/weights.ts';
import { weightsParts } from './run/weights.ts';
import { foundLogprobs, mustServeLogprobs } from './domain/logprob-meaning.ts';
import { CODE_QUEUE, GENERATE_QUEUE, TASK_QUEUE } from './domain/queues.ts';
import type { SolutionReader } from './domain/solution-reader.ts';
import { createCodeEnvironment } from './environments/code/code-environment.ts';
import { UNSAFE_FLAG, unsafeCodeAllowed } from './environments/code/consent.ts';
import type { Environment } from './environments/environment.ts';
import { createEnvironments } from './environments/index.ts';
import { createMathJudge } from './environments/math/math-environment.ts';
import { createSolutionReader } from './environments/solution-reader.ts';
import { metricsTarget, type MetricsTarget } from './metrics/endpoint.ts';
import type { Meter } from './metrics/meter.ts';
import { installRuntime } from './metrics/runtime.ts';
import { openWorkerMetrics, UNMEASURED, type WorkerMetrics } from './metrics/worker-metrics.ts';
import { type Operator, operatorOf, type OperatorWords } from './permissions/operator.ts';
import { openPermissions, type Permissions } from './permissions/permissions.ts';
import { homeOf } from './service/home.ts';
import { endWithParent, tellReady } from './machine/parent.ts';
import { ensureSearchAttributes } from './temporal/search-attributes.ts';
import type { Disk } from './storage/disk/disk.ts';
import { openFileStore } from './storage/files.ts';
import { openRecordCache } from './storage/record/cache.ts';
import { openThreadedDisk } from './storage/disk/threaded-disk.ts';
import { everturnVersion } from './machine/package-root.ts';

export interface WorkerSettings {
  /** Concurrent generations: the model's slots. */
  readonly slots: number;
  /** Runs model-written programs without a sandbox. */
  readonly unsafeCode: boolean;
  /** Permissions of workflows beyond the runs of the user's own commands. */
  readonly operator: Operator;
  /** Null: nothing is measured. */
  readonly metrics?: MetricsTarget | null;
}

export const DEFAULT_SLOTS = 64;

export interface RunningWorker {
  /** Resolves when all queues are drained; rejects if the worker failed. */
  readonly done: Promise<void>;
  stop(): void;
}

/** `meter`: of the installed runtime; undefined: nothing is measured. */
export async function startWorker(settings: WorkerSettings, meter?: Meter): Promise<RunningWorker> {
  const { slots, unsafeCode, operator } = settings;
  const measured = meter ? openWorkerMetrics(meter, slots) : UNMEASURED;
  const [{ session, connection }, code] = await Promise.all([openCluster(), openCodeJudge(unsafeCode)]);
  const environment = createEnvironments(code ? { code } : {});
  const backends = openBackends(
    (line) => console.error(line),
    (runFolder, current) => bringUpToDate(session, runFolder, current),
  );
  const disk = openThreadedDisk();
  const reading = createMathJudge(); // of new runs' solutions
  const reader = createSolutionReader(reading);
  const permissions = openPermissions(operator, homeOf(process.env));
  const parts = { session, environment, backends, disk, permissions, reader, measured };
  const { generate, ...light } = createActivities(dependencies(parts));
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
      // After this time another worker takes over the runs of a dead one.
      stickyQueueScheduleToStartTimeout: '3 seconds',
      maxCachedWorkflows: cachedWorkflows(slots),
    }),
    Worker.create({
      ...common,
      taskQueue: GENERATE_QUEUE,
      activities: { generate: measured.generate(generate) },
      maxConcurrentActivityTaskExecutions: slots,
      maxHeartbeatThrottleInterval: HEARTBEAT,
    }),
    ...(code
      ? [
          Worker.create({
            ...common,
            taskQueue: CODE_QUEUE,
            activities: { evaluate: light.evaluate },
            maxConcurrentActivityTaskExecutions: availableParallelism(),
            maxHeartbeatThrottleInterval: HEARTBEAT,
          }),
        ]
      : []),
  ]);
  const stop = () => workers.forEach((w) => w.getState() === 'RUNNING' && w.shutdown());
  const done = Promise.all(workers.map((w) => w.run().finally(stop))).then(() => undefined);
  return {
    stop,
    done: done.finally(async () => {
      reading.close();
      await Promise.allSettled([
        environment.close(),
        backends.close(),
        disk.close(),
        session.close(),
        connection.close(),
      ]);
    }),
  };
}

/** Seldom enough to be cheap, often enough that a busy machine misses no 10 s deadline. */
const HEARTBEAT = '3 seconds';

/**
 * Workflows in the cache are not replayed when their answer arrives. With more in flight than the cache holds, the
 * evicted one is always the next one needed. The rest is for collections.
 */
export function cachedWorkflows(slots: number): number {
  return Math.max(1000, slots + 100);
}

async function openCluster() {
  const session = await connect();
  const { connectionOptions } = clusterConfig();
  const connection = await NativeConnection.connect({ ...connectionOptions });
  await ensureSearchAttributes(session.client.connection, session.namespace);
  return { session, connection };
}

/** Undefined if no sandbox is proven: then this worker takes no code. */
async function openCodeJudge(unsafe: boolean): Promise<Environment | undefined> {
  try {
    const judge = await createCodeEnvironment({ unsafeWithoutSandbox: unsafe });
    if (unsafe) console.error(`UNSAFE: programs that a model wrote run here without a sandbox (${UNSAFE_FLAG}).`);
    return judge;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    console.error(`This worker judges no code. ${explain(error)}`);
    return undefined;
  }
}

interface Parts {
  readonly session: Session;
  readonly environment: ActivityDeps['environment'];
  readonly backends: Backends;
  readonly disk: Disk;
  readonly reader: SolutionReader;
  readonly permissions: Permissions;
  readonly measured: WorkerMetrics;
}

function dependencies({ session, environment, backends, disk, permissions, reader, measured }: Parts): ActivityDeps {
  const cache = openRecordCache();
  const openStore: ActivityDeps['openStore'] = (out, run) => {
    permissions.mayUseRun(out, run);
    return measured.store(openFileStore(out, run, { cache, disk }));
  };
  const mayOf = (settings: RolloutSettings, folder: string): BackendPermissions => ({
    mayLoad: permissions.mayLoad(settings, folder),
    mayUseWeights: (weights) => permissions.mayUseWeights({ settings, folder, weights, apiKeyEnv: settings.apiKeyEnv }),
  });
  const backend: ActivityDeps['backend'] = async (settings, folder) => {
    permissions.mayUseModel(settings, folder);
    return backends.get(settings, folder, mayOf(settings, folder));
  };
  return {
    version: everturnVersion(),
    openStore,
    environment,
    backend,
    permit: permissions.mayUseModel,
    parseRow: (row) => parsed(row).query,
    async readSolutions(row) {
      const problem = await statedProblem(parsed(row), reader);
      if (problem) throw rowError(problem);
    },
    parseSettings,
    now: Date.now,
    async createRun({ run, out, dataset, samples, limit, shuffleSeed, settings }) {
      permissions.mayReadDataset(dataset);
      const complete = parseSettings(run, { ...settings });
      const store = openStore(out, run);
      permissions.mayUseModel(complete, store.folder);
      const survey = await examineDataset(await surveyDataset({ dataset, limit, shuffleSeed }), reader);
      // Rollouts wait for a model that is away; the run does not.
      const facts = await backend(complete, store.folder).then((b) => b.facts, ifRetryable);
      if (facts) mustServeLogprobs(facts, complete);
      const origins = Object.fromEntries(
        Object.keys(complete).map((k) => [k, k in settings ? 'input' : 'default'] as const),
      );
      const logprobs = facts && foundLogprobs(facts);
      const model = facts?.identity ?? null;
      await createRun(store, { run, survey, settings: complete, samples, origins, logprobs, model });
    },
    closedRollouts: (run, workflowIds) => closedRollouts(session.client, run, workflowIds),
    weights: {
      ...weightsParts(backends, { mayUseModel: permissions.mayUseModel, ofBackend: mayOf }),
      permit: permissions.mayUseWeights,
      holdsStep: (workflow, activityId, attempt) => holdsStep(session, workflow, activityId, attempt),
    },
  };
}

/** A server came back with older weights: the update in force is carried out once more, for those that lack it. */
function bringUpToDate(session: Session, runFolder: string, { version, label, folder, rewind }: DeclaredWeights): void {
  const input = { run: basename(runFolder), out: dirname(runFolder), version, label, weights: folder, rewind };
  startUpdate(session, input).catch((error: unknown) => console.error(explain(error)));
}

function parsed(row: Readonly<Record<string, unknown>>) {
  const result = queryFromRow(row, '1');
  if (result.ok) return result;
  throw rowError(result);
}

function rowError({ field, problem, fix }: Problem): DatasetError {
  const where = field === null ? 'The row' : `Field \`${field}\` of the row`;
  return new DatasetError(`${where}: ${problem}`, { reason: 'bad-row', fix });
}

function ifRetryable(error: unknown): null {
  if (error instanceof EverturnError && error.retryable) return null;
  throw error;
}

function workflowBundle(): string {
  return fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));
}

/** Serves until it is asked to stop; resolves to the exit code. */
export async function serve(settings: WorkerSettings): Promise<number> {
  // V8 lets garbage grow to several times what is alive. Measured with 4,000 rollouts open and played: a worker takes
  // 680 MiB at most with this, 1,000 without, at the same turns/s.
  setFlagsFromString('--heap-growing-percent=50');
  const meter = installRuntime(settings.metrics ?? null);
  const worker = await startWorker(settings, meter);
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, worker.stop);
  endWithParent(worker.stop);
  tellReady();
  await worker.done;
  return 0;
}

/** The environment's settings; for the operator's lists, flags have precedence. */
export function workerSettings(
  env: NodeJS.ProcessEnv,
  flags: OperatorWords & { readonly metricsPort?: string } = {},
  at: { readonly local?: boolean; readonly cwd?: string } = {},
): WorkerSettings {
  const metrics = metricsTarget(env, flags.metricsPort);
  const rest = { unsafeCode: unsafeCodeAllowed(env), operator: operatorOf(env, flags, at), metrics };
  const text = env['EVERTURN_SLOTS'];
  if (!text) return { slots: DEFAULT_SLOTS, ...rest };
  if (/^[1-9]\d{0,4}$/.test(text)) return { slots: Number(text), ...rest };
  throw new UsageError(`EVERTURN_SLOTS is "${text}".`, {
    reason: 'bad-value',
    fix: 'It takes a whole number of at least 1.',
  });
}

const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) {
  // Then the local service started it, which serves one user only.
  const start = async () => serve(workerSettings(process.env, {}, { local: true }));
  start().then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error instanceof EverturnError ? explain(error) : error);
      process.exit(1);
    },
  );
}
