// Runs whose model calls tools, for tests: workflows, a worker, a model that is a script, real modules and a real MCP server.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { ToolRecord, ToolSettings } from '../../domain/tools/tool.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { createRun } from '../../run/create-run.ts';
import { newRecord } from '../../run/plan.ts';
import { readRows } from '../../run/rows.ts';
import { createEnvironments } from '../../environments/index.ts';
import { createOwnEnvironments, describeOwnEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Store } from '../../records/store.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { describeTools } from '../../environments/tools/describe.ts';
import { openTools } from '../../environments/tools/open.ts';
import type { Tools } from '../../environments/tools/tool.ts';
import { openRig, type Rig } from './rig.ts';
import { scriptedBackend } from './scripted-model.ts';
import { withTools } from './tool-chat.ts';
import { breachesOf } from '../records/breaches.ts';

const SHOP = join(import.meta.dirname, '../../examples/tools/shop.ts');
const ENVIRONMENTS = join(import.meta.dirname, '../environments/own');
const SERVER = `node ${join(import.meta.dirname, '../environments/tools/mcp-server.mjs')}`;
export const SECRET = 'RESULT-OF-A-TOOL';
const LONG: ToolRecord = {
  name: 'long',
  description: 'Gives much.',
  parameters: { type: 'object' },
  effect: 'pure',
  timeoutSeconds: 5,
  door: 'python',
  spec: ['python'],
  fingerprint: '0'.repeat(64),
};

export interface Played {
  readonly store: Store;
  readonly result: CollectionResult;
  of(query: string): Promise<Trajectory>;
}

export interface ToolRuns {
  readonly rig: Rig;
  /** Idempotency keys of the orders of a run that arrived. */
  ordersOf(run: string): string[];
  readonly out: string;
  play(
    run: string,
    ids: readonly string[],
    more?: Partial<RolloutSettings>,
    limits?: Partial<ToolSettings>,
    /** An environment of the user's own, as `--environment` takes it. */
    environment?: string,
  ): Promise<Played>;
  breaches(run: string): Promise<string[]>;
  close(): Promise<void>;
}

const orders: string[] = [];
const shop = createServer((request, response) => {
  orders.push(String(request.headers['idempotency-key']));
  response.end('ok');
}).unref();

/** One for all: its address is a variable of the process. */
async function opened(): Promise<void> {
  if (shop.listening) return;
  await new Promise<void>((resolve) => void shop.listen(0, '127.0.0.1', resolve));
  process.env['ENVIRONMENT_SHOP'] = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
}

export interface ToolRunsOptions {
  /** The reply to a turn, 1-based. */
  readonly says: (query: string, turn: number) => string;
  readonly contextLength?: number;
  readonly wrapped?: (tools: Tools) => Tools;
}

export async function openToolRuns({
  says,
  contextLength,
  wrapped = (same) => same,
}: ToolRunsOptions): Promise<ToolRuns> {
  await opened();
  const open = openTools({ code: undefined, log: () => undefined, permitted: ({ spec }) => spec });
  const tools = wrapped({
    ...open,
    call: (tool, call, folder) =>
      tool.name === 'long'
        ? call.before().then(() => ({ text: `${SECRET}${'é'.repeat(3000)}END`, outcome: 'ok' as const }))
        : open.call(tool, call, folder),
  });
  const backend = withTools(
    scriptedBackend({
      answer({ requestId }) {
        const [, query = '', , turn] = requestId.split('/');
        return says(query, Number(turn));
      },
      ...(contextLength && { contextLength }),
    }),
  );
  const own = createOwnEnvironments({ log: () => undefined, permitted: ({ spec }) => spec });
  const parts = { tools, backend: async () => backend, environments: createEnvironments({}, own) };
  const rig: Rig = await openRig({ answer: () => '' }, parts);
  await rig.startWorker();
  const specs = { tool: [SHOP], mcp: [SERVER], toolTimeoutSeconds: null };
  const { list, codes } = await describeTools(specs, rig.out, () => undefined);
  const tokenizer = { ...backend.tokenizer, name: 'the tokenizer of the test', stopTokenIds: [256] };

  return {
    rig,
    ordersOf: (run) => orders.filter((key) => key.startsWith(`${run}/`)),
    out: rig.out,
    async play(run, ids, more = {}, limits = {}, environment = undefined) {
      const dataset = join(rig.out, `${run}.jsonl`);
      const rows = ids.map((id) => JSON.stringify({ id, name: id, question: `What costs it? ${id}`, answer: '7' }));
      writeFileSync(dataset, rows.join('\n'));
      const described =
        environment && (await describeOwnEnvironment(parseSpec(environment, ENVIRONMENTS), () => undefined));
      const environments = described ? [described.record] : undefined;
      const { dataset: read, queries } = await readRows({
        ...{ dataset, limit: null, shuffleSeed: null },
        ...(environments && { environments }),
      });
      const store = openFileStore(rig.out, run);
      const called = { format: 'hermes', list: [...list, LONG], maxCalls: 4, outputBytes: 1000, ...limits };
      const settings = {
        ...completeSettings(run, { seed: 7, numTurns: 2, ...more }),
        tools: called,
        ...(environments && { environments }),
      };
      const origins = Object.fromEntries(
        ['seed', 'numTurns', 'tool', 'environment', ...Object.keys(more)].map((key) => [key, 'flag' as const]),
      );
      const record = newRecord({ run, dataset: read, settings, samples: 1, origins }, Date.now());
      await createRun(store, record, queries(), codes);
      const handle = await rig.client.workflow.start('collection', {
        workflowId: run,
        taskQueue: 'everturn',
        args: [{ run, out: rig.out }],
      });
      const result = (await handle.result()) as CollectionResult;
      const of = async (query: string) => (await readTrajectory(store, { run, query, sample: 0, attempt: 1 }))!;
      return { store, result, of };
    },
    breaches: (run) =>
      breachesOf(openFileStore(rig.out, run), { tokenizer, calls: tools, everturn: everturnVersion() }),
    async close() {
      await rig.close();
      await own.close();
      await open.close();
    },
  };
}
