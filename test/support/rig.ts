// A real worker with scripted parts on the shared test server: its own task queue per test file is not
// possible (the queues are part of the contract), so each test uses its own namespace instead.

import { everturnVersion } from '../../local/machine/package-root.ts';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import { closedRollouts } from '../../client/temporal/runs.ts';
import { cancelRollout, isWaiting, openStopping } from '../../client/temporal/cancellation.ts';
import { parseSettings, resolveOptions } from '../../run/config.ts';
import { createRun } from '../../run/create-run.ts';
import { makeEvaluation } from '../../run/evaluations.ts';
import { planRun } from '../../run/plan.ts';
import { readRows } from '../../run/rows.ts';
import { queryFromRow } from '../../formats/datasets/row.ts';
import { DatasetError } from '../../domain/errors/errors.ts';
import { AGENT_QUEUE, CODE_QUEUE, ENVIRONMENT_QUEUE, GENERATE_QUEUE, TASK_QUEUE } from '../../domain/names/queues.ts';
import { createEnvironments } from '../../environments/index.ts';
import { ensureSearchAttributes } from '../../client/temporal/search-attributes.ts';
import { adapterHash, weightServer, weightServers } from '../../inference/weights/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import { openNamespace } from './namespace.ts';
import { quietRuntime } from './runtime.ts';
import { type Script, type ScriptedBackend, scriptedBackend } from './scripted-model.ts';

export interface Rig {
  readonly client: Client;
  readonly namespace: string;
  /** A fresh folder for runs. */
  readonly out: string;
  readonly backend: ScriptedBackend;
  /** Starts one more worker; `stop` ends it in order. */
  startWorker(options?: RigWorkerOptions): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

interface RigWorkerOptions {
  /** Generations at once. */
  readonly slots?: number;
  /** Beats are sent at most this often. */
  readonly beat?: '1 second' | '3 seconds';
}

/**
 * An option of the SDK that its types leave out. Past its 5 s the SDK ends a step of a workflow in the middle, and that can
 * end the whole process ("async hook stack has become corrupted"): on a machine with many tests no step is a dead lock.
 */
const PATIENT: object = { isolateExecutionTimeout: '5 minutes' };

/** `bundle`: path of other workflows than those of today; `out`: the folder of runs, a fresh one by default. */
export async function openRig(
  script: Script,
  overrides: Partial<ActivityDeps> = {},
  bundle: string = inject('workflowBundle'),
  out: string = mkdtempSync(join(tmpdir(), 'everturn-runs-')),
): Promise<Rig> {
  quietRuntime();
  const address = inject('temporalAddress');
  const namespace = `test-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
  const connection = await Connection.connect({ address });
  const client = await openNamespace(connection, namespace);
  await ensureSearchAttributes(connection, namespace);
  const native = await NativeConnection.connect({ address });
  const backend = scriptedBackend(script);
  const deps: ActivityDeps = {
    version: everturnVersion(),
    openStore: openFileStore,
    backend: async () => backend,
    environments: createEnvironments(),
    permit: () => undefined,
    parseRow(row, { environments }) {
      const parsed = queryFromRow(row, '1', undefined, environments);
      if (parsed.ok) return parsed.query;
      throw new DatasetError(parsed.problem, { reason: 'bad-row', fix: parsed.fix });
    },
    parseSettings,
    async createRun({ run, dataset, ...request }) {
      const resolved = resolveOptions({ request });
      const { limit, shuffleSeed } = resolved.options;
      const rows = await readRows({ dataset, limit, shuffleSeed });
      const record = planRun({ ...resolved, name: run, dataset: rows.dataset, now: Date.now() });
      await createRun(openFileStore(out, run), record, rows.queries());
    },
    async makeEvaluation(of) {
      return (await makeEvaluation(openFileStore, of)) ? { maxConcurrent: 4 } : null;
    },
    closedRollouts: (run, ids) => closedRollouts(client, run, ids),
    isWaiting: (workflowId) => isWaiting(client, workflowId),
    cancelRollout: (workflowId) => cancelRollout(client, workflowId),
    isStopping: openStopping({ client }),
    tellCalls: (workflowId, counts) => client.workflow.getHandle(workflowId).signal('agentCalls', counts),
    slots: 100,
    weights: {
      ledger: openWeightsLedger,
      servers: weightServers,
      adapterHash,
      server: weightServer,
      prove: async () => null,
      permit: () => undefined,
      holdsStep: async () => true,
    },
    now: Date.now,
    ...overrides,
  };
  const { generate, ...light } = createActivities(deps);
  const stops: (() => Promise<void>)[] = [];
  return {
    client,
    namespace,
    out,
    backend,
    async startWorker({ slots = 100, beat = '1 second' } = {}) {
      const common = { connection: native, namespace, shutdownGraceTime: '1 second' } as const;
      const workers = await Promise.all([
        Worker.create({
          ...common,
          ...PATIENT,
          taskQueue: TASK_QUEUE,
          workflowBundle: { codePath: bundle },
          activities: light,
          stickyQueueScheduleToStartTimeout: '1 second',
          maxCachedWorkflows: 1000,
        }),
        Worker.create({
          ...common,
          taskQueue: CODE_QUEUE,
          activities: { evaluate: light.evaluate, callTool: light.callTool },
        }),
        Worker.create({ ...common, taskQueue: ENVIRONMENT_QUEUE, activities: light }),
        Worker.create({ ...common, taskQueue: AGENT_QUEUE, activities: { runAgent: light.runAgent } }),
        Worker.create({
          ...common,
          taskQueue: GENERATE_QUEUE,
          activities: { generate },
          maxConcurrentActivityTaskExecutions: slots,
          maxHeartbeatThrottleInterval: beat,
        }),
      ]);
      const done = Promise.all(workers.map((w) => w.run()));
      let stopped: Promise<void> | undefined;
      const stop = () => (stopped ??= (workers.forEach((w) => w.shutdown()), done.then(() => undefined)));
      stops.push(stop);
      return { stop };
    },
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      await native.close();
      await connection.close();
    },
  };
}
