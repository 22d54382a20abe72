// The composition root: the only place that constructs. Builds store, environments and backends once, and serves the
// task queues. Run as a program it serves until SIGTERM, SIGINT or the end of the process that started it.

import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { createActivities } from './activities/index.ts';
import type { ActivityDeps } from './activities/deps.ts';
import { type BackendPermissions, type Backends, openBackends } from './run/backends/backends.ts';
import { closedRollouts, progressOf } from './client/temporal/runs.ts';
import { cancelRollout, isWaiting, openStopping } from './client/temporal/cancellation.ts';
import type { Session } from './client/temporal/connection.ts';
import { holdsStep, startUpdate } from './client/temporal/weights.ts';
import { parseSettings, resolveOptions, settingsOf } from './run/config.ts';
import { createRun } from './run/create-run.ts';
import { makeEvaluation } from './run/evaluations.ts';
import { planRun } from './run/plan.ts';
import { readRows } from './run/rows.ts';
import { statedProblem } from './formats/datasets/examine.ts';
import { parsedRow, rowError } from './formats/datasets/row.ts';
import { DEFAULT_MAX_CONCURRENT } from './domain/run/defaults.ts';
import { EverturnError, explain } from './domain/errors/errors.ts';
import { oneLine } from './domain/text/foreign-text.ts';
import type { RolloutSettings } from './domain/rollout/settings.ts';
import { type DeclaredWeights, repeated } from './domain/weights/weights.ts';
import { passOn } from './inference/side-models.ts';
import { adapterHash, weightServer, weightServers } from './inference/weights/index.ts';
import { mustGiveSets } from './domain/rollout/kept-sets.ts';
import { foundLogprobs, mustServeLogprobs } from './domain/rollout/logprob-meaning.ts';
import type { SolutionReader } from './domain/query/solution-reader.ts';
import { openCodeJudge } from './environments/code/open-judge.ts';
import type { Environments } from './environments/environment.ts';
import { createEnvironments } from './environments/index.ts';
import { createOwnEnvironments, servedBy } from './environments/own/own-environments.ts';
import { type Agents, createAgents, serveSessions } from './endpoint/index.ts';
import { openAgentHost } from './client/temporal/agent-host.ts';
import { createMathEnvironment, createMathJudge } from './environments/math-environment.ts';
import { createSolutionReader } from './environments/solution-reader.ts';
import type { Meter } from './local/metrics/meter.ts';
import { installRuntime } from './local/metrics/runtime.ts';
import { openWorkerMetrics, UNMEASURED, type WorkerMetrics } from './local/metrics/worker-metrics.ts';
import { openPermissions, type Permissions } from './local/permissions/permissions.ts';
import { registerUpdate } from './local/permissions/registered.ts';
import { serveLocalFeeds } from './client/feed/local-feed.ts';
import { type Home, homeOf } from './local/service/home.ts';
import { openHealthPort } from './local/machine/health-port.ts';
import { endWithParent, tellReady } from './local/machine/parent.ts';
import { makeWorkflowThreadsLean } from './local/machine/workflow-thread.ts';
import { watchDeployment } from './client/temporal/deployment.ts';
import { openWorkerConnection, watchCluster } from './client/temporal/worker-connection.ts';
import { openQueues } from './client/temporal/worker-queues.ts';
import type { Disk } from './records/steps/disk.ts';
import { hasEnded, openFileStore } from './records/file-store.ts';
import { openRecordCache } from './records/in-flight/cache.ts';
import { openEndedOf } from './records/ended/objects.ts';
import { basename, dirname } from './records/place.ts';
import { openWeightsLedger } from './records/run/weights.ts';
import { openThreadedDisk } from './records/steps/threaded-disk.ts';
import { servedTools } from './environments/tools/describe.ts';
import { openTools } from './environments/tools/open.ts';
import type { Tools } from './environments/tools/tool.ts';
import { everturnVersion } from './local/machine/package-root.ts';
import { type WorkerSettings, workerSettings } from './worker-settings.ts';

interface RunningWorker {
  /** Resolves when all queues are drained; rejects if the worker failed. */
  readonly done: Promise<void>;
  /** Null while it takes work; else why not. */
  problem(): string | null;
}

/**
 * `stop` ends the wait for the cluster, and later the worker itself, in order.
 * `meter`: of the installed runtime; undefined: nothing is measured. `onWait`: a wait for the cluster begins, or ends.
 */
async function startWorker(
  settings: WorkerSettings,
  stop: AbortSignal,
  meter?: Meter,
  onWait?: (waits: boolean) => void,
): Promise<RunningWorker> {
  const { slots, unsafeCode, operator, drainSeconds, version, feeds } = settings;
  const measured = meter ? openWorkerMetrics(meter, slots) : UNMEASURED;
  const [cluster, code, served, servers] = await Promise.all([
    openWorkerConnection({ say, signal: stop, ...(onWait && { onWait }) }),
    openCodeJudge(unsafeCode, say),
    servedBy(operator, say),
    servedTools(operator.mcp, say),
  ]);
  const { session } = cluster;
  const home = homeOf(process.env);
  const permissions = openPermissions(operator, home, { environments: served, tools: servers });
  const math = createMathEnvironment();
  const own = createOwnEnvironments({ log: say, permitted: permissions.mayUseEnvironment, hasEnded, math });
  const environments = createEnvironments({ math, ...(code && { code }) }, own);
  const tools = openTools({ code, log: say, permitted: permissions.mayUseTool, hasEnded });
  const sessions = settings.sessions && (await serveSessions(settings.sessions));
  const host = openAgentHost(cluster);
  const permitted = permissions.mayRunAgent;
  const agents = createAgents({ log: say, folder: join(home.folder, 'agents'), permitted, sessions, host });
  const backends = openBackends(say, (runFolder, current) => bringUpToDate(session, runFolder, current));
  const disk = openThreadedDisk();
  const reading = createMathJudge(); // of new runs' solutions
  const reader = createSolutionReader(reading);
  const parts = { session, environments, tools, agents, backends, disk, permissions, reader, measured, slots };
  const deps = dependencies(parts);
  const activities = createActivities(deps);
  makeWorkflowThreadsLean();
  const queues = await openQueues(cluster, {
    ...{ activities, slots },
    workflowBundle: workflowBundle(),
    judgesCode: code !== undefined,
    servesSessions: sessions !== undefined,
    drainMs: drainSeconds * 1000,
    version,
  });
  const reached = watchCluster(session);
  const serving = feeds && openFeeds(feeds, session, deps.openStore);
  const used = version && watchDeployment(session, version, say);
  if (stop.aborted) queues.stop();
  for (const end of [queues.stop, () => serving?.close()]) stop.addEventListener('abort', end, { once: true });
  return {
    problem: () => queues.problem() ?? reached.problem(),
    done: queues.done.finally(async () => {
      reading.close();
      reached.close();
      used?.close();
      await Promise.allSettled([
        serving?.close(),
        sessions?.close(),
        host.close(),
        environments.close(),
        tools.close(),
        backends.close(),
        disk.close(),
        cluster.close(),
      ]);
    }),
  };
}

/** Without it a run goes on as well, and `everturn feed` serves it. */
function openFeeds(home: Home, session: Session, openStore: ActivityDeps['openStore']) {
  const opened = serveLocalFeeds({
    ...{ home, session, openStore, log: say },
    onWeights: (folder, { settings: { model, apiKeyEnv } }, weights) =>
      registerUpdate(home, { folder, model, apiKeyEnv, weights }),
  }).catch((error: unknown) => say(`The local service serves no feeds: ${explain(error)}`));
  let closed: Promise<void> | undefined;
  return { close: () => (closed ??= opened.then((server) => server?.close())) };
}

const say = (line: string): void => console.error(oneLine(line));

interface Parts {
  readonly session: Session;
  readonly environments: Environments;
  readonly tools: Tools;
  readonly agents: Agents;
  readonly backends: Backends;
  readonly disk: Disk;
  readonly reader: SolutionReader;
  readonly permissions: Permissions;
  readonly measured: WorkerMetrics;
  readonly slots: number;
}

function dependencies(parts: Parts): ActivityDeps {
  const { session, environments, tools, agents, backends, disk, permissions, reader, measured, slots } = parts;
  const cache = openRecordCache();
  const endedOf = openEndedOf();
  const openStore: ActivityDeps['openStore'] = (out, run) => {
    permissions.mayUseRun(out, run);
    return measured.store(openFileStore(out, run, { cache, disk, endedOf }));
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
    worker: `${process.pid}@${hostname()}`,
    openStore,
    ...{ environments, tools, agents },
    tellCalls: (workflowId, counts) => session.client.workflow.getHandle(workflowId).signal('agentCalls', counts),
    ...{ slots, measure: measured.generate, passOn },
    backend,
    permit: permissions.mayUseModel,
    parseRow: (row, { environments: own }) => parsedRow(row, own).query,
    async readSolutions(row, { environments: own }) {
      const problem = await statedProblem(parsedRow(row, own), reader);
      if (problem) throw rowError(problem);
    },
    parseSettings,
    now: Date.now,
    async createRun({ run, out, dataset, ...request }) {
      permissions.mayReadDataset(dataset);
      const resolved = resolveOptions({ request });
      const { limit, shuffleSeed } = resolved.options;
      const settings = settingsOf(run, resolved.options);
      const store = openStore(out, run);
      permissions.mayUseModel(settings, store.folder);
      const rows = await readRows({ dataset, limit, shuffleSeed }, reader);
      try {
        // Rollouts wait for a model that is away; the run does not.
        const facts = await backend(settings, store.folder).then((b) => b.facts, ifRetryable);
        if (facts) mustServeLogprobs(facts, settings);
        if (facts && resolved.options.train) mustGiveSets(facts, settings);
        const found = { logprobs: facts && foundLogprobs(facts), model: facts?.identity ?? null };
        const record = planRun({ ...resolved, name: run, dataset: rows.dataset, now: Date.now() });
        await createRun(store, { ...record, ...found }, rows.queries());
      } finally {
        rows.close();
      }
    },
    async makeEvaluation(of) {
      if (!(await makeEvaluation(openStore, of))) return null;
      const { maxConcurrent = DEFAULT_MAX_CONCURRENT } = (await progressOf(session, of.run).catch(() => null)) ?? {};
      return { maxConcurrent };
    },
    closedRollouts: (run, workflowIds) => closedRollouts(session.client, run, workflowIds),
    isWaiting: (workflowId) => isWaiting(session.client, workflowId),
    cancelRollout: (workflowId) => cancelRollout(session.client, workflowId),
    isStopping: openStopping(session),
    weights: {
      ledger: openWeightsLedger,
      servers: weightServers,
      server: weightServer,
      adapterHash,
      async prove(settings, folder, weights) {
        permissions.mayUseModel(settings, folder);
        return backends.prove(settings, folder, weights, mayOf(settings, folder));
      },
      permit: permissions.mayUseWeights,
      holdsStep: (workflow, activityId, attempt) => holdsStep(session, workflow, activityId, attempt),
    },
  };
}

/** A server came back with older weights: the update in force is carried out once more, for those that lack it. */
function bringUpToDate(session: Session, runFolder: string, current: DeclaredWeights): void {
  const input = { run: basename(runFolder), out: dirname(runFolder), ...repeated(current) };
  startUpdate(session, input).catch((error: unknown) => console.error(explain(error)));
}

function ifRetryable(error: unknown): null {
  if (error instanceof EverturnError && error.retryable) return null;
  throw error;
}

const workflowBundle = (): string => fileURLToPath(new URL('./workflow-bundle.js', import.meta.url));

/** Serves until it is asked to stop; resolves to the exit code. */
export async function serve(settings: WorkerSettings): Promise<number> {
  // V8 lets garbage grow to several times what is alive. Measured with 4,000 rollouts open and played: a worker takes
  // 680 MiB at most with this, 1,000 without, at the same turns/s.
  setFlagsFromString('--heap-growing-percent=50');
  const stop = new AbortController();
  let worker: RunningWorker | undefined;
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stop.abort());
  endWithParent(() => stop.abort());
  const { health } = settings;
  const { meter, metrics } = await installRuntime(settings.metrics ?? (health ? { kind: 'health-port' } : null));
  let waits = false;
  const starting = () => (waits ? 'it waits for its cluster' : 'it is starting');
  const problem = () => (stop.signal.aborted ? 'it is ending' : worker ? worker.problem() : starting());
  const port = health && (await openHealthPort(health.host, health.port, { problem, metrics }));
  try {
    worker = await startWorker(settings, stop.signal, meter, (now) => (waits = now));
    tellReady();
    await worker.done;
  } catch (error) {
    if (worker || !stop.signal.aborted) throw error;
  } finally {
    port?.close();
  }
  return 0;
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
