// A whole system for benchmarks, in processes of its own: Temporal's dev server, a model server that costs nothing,
// a real worker from dist/, and, with EVERTURN_BENCH_AGAINST, the worker of another checkout. Says what each of them used of
// the processors.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { TASK_QUEUE } from '../../domain/names/queues.ts';
import { startDevServer } from '../../local/service/dev-server.ts';
import { findTemporal } from '../../local/service/binary/find.ts';
import { isReady } from '../../local/machine/parent.ts';
import { freePort } from '../../local/machine/ports.ts';
import { ensureSearchAttributes } from '../../client/temporal/search-attributes.ts';
import { findModelSource } from '../../inference/tokenizer/model-source.ts';
import { openTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { openNamespace } from '../support/namespace.ts';
import { cpuSeconds, descendants } from '../support/processes.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOKENIZER = join(ROOT, 'models/tiny');
export const ANSWER_TOKENS = 1024;

interface RigOptions {
  readonly turns: number;
  readonly queries: number;
  readonly slots: number;
  readonly delayMs: number;
  /** Where run folders are put; its file system is what is measured. */
  readonly out: string;
}

/** `other`: the worker of the checkout that EVERTURN_BENCH_AGAINST names. */
type Which = 'whole' | 'other';
type Part = 'worker' | 'other' | 'temporal' | 'model';
/** Built as this one is. */
export const OTHER = process.env['EVERTURN_BENCH_AGAINST'];

export interface Played {
  readonly result: CollectionResult;
  readonly seconds: number;
  /** CPU seconds. */
  readonly cpu: Readonly<Record<Part, number>>;
}

export interface Rig {
  /** Plays the whole data set. */
  play(run: string, which: Which, maxConcurrent: number): Promise<Played>;
  readonly modelUrl: string;
  close(): Promise<void>;
}

export async function openRig({ turns, queries, slots, delayMs, out }: RigOptions): Promise<Rig> {
  const folder = mkdtempSync(join(out, 'everturn-bench-'));
  const scratch = mkdtempSync(join(tmpdir(), 'everturn-bench-server-'));
  const dataset = join(folder, 'questions.jsonl');
  const rows = Array.from({ length: queries }, (_, i) => ({
    query_id: `q${i}`,
    question: `What is 6 times ${i}?`,
    answer: `${6 * i}`,
  }));
  writeFileSync(dataset, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

  const port = await freePort([]);
  const server = await startDevServer({
    binary: (await findTemporal({ env: process.env })).path,
    database: join(scratch, 'temporal.db'),
    logFile: join(scratch, 'temporal.log'),
    port,
    uiPort: await freePort([], [port]),
  });
  const connection = await Connection.connect({ address: server.address });
  const namespaces: Readonly<Record<Which, string>> = {
    whole: 'default',
    other: 'other',
  };
  if (OTHER !== undefined) {
    const namespace = namespaces.other;
    await openNamespace(connection, namespace);
    await ensureSearchAttributes(connection, namespace);
  }

  const { url, process: model } = await startModel(await answerIds(), {
    DELAY_MS: `${delayMs}`,
  });
  const flags = process.env['EVERTURN_BENCH_NODE']?.split(' ') ?? [];
  const environment = {
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: 'default',
    EVERTURN_SLOTS: String(slots),
    EVERTURN_HOME: scratch,
    EVERTURN_RUNS_UNDER: folder,
    EVERTURN_ALLOWED_MODELS: TOKENIZER,
  };
  const worker = child('dist/worker.js', [], environment, flags);
  const there = { ...environment, TEMPORAL_NAMESPACE: namespaces.other };
  const otherFlags = process.env['EVERTURN_BENCH_AGAINST_NODE']?.split(' ') ?? [];
  const other = OTHER === undefined ? undefined : child(join(OTHER, 'dist/worker.js'), [], there, otherFlags);
  const workers = [worker, ...(other ? [other] : [])];
  await Promise.all(workers.map(ready));
  const pids = {
    worker: worker.pid!,
    other: (other ?? worker).pid!,
    temporal: server.id.pid,
    model: model.pid!,
  };
  const settings = { model: `sglang:${url}`, tokenizer: TOKENIZER, numTurns: turns, maxNewTokens: ANSWER_TOKENS };

  return {
    modelUrl: url,
    async play(run, which, maxConcurrent) {
      const before = cpuOf(pids);
      const started = performance.now();
      const client = new Client({ connection, namespace: namespaces[which] });
      const input = { run, out: folder, dataset, settings, maxConcurrent };
      const result = (await client.workflow.execute('collection', {
        workflowId: run,
        taskQueue: TASK_QUEUE,
        args: [input],
      })) as CollectionResult;
      const seconds = (performance.now() - started) / 1000;
      const after = cpuOf(pids);
      const cpu = Object.fromEntries(Object.entries(after).map(([k, v]) => [k, v - before[k as Part]]));
      return { result, seconds, cpu: cpu as Played['cpu'] };
    },
    async close() {
      for (const each of workers) {
        each.kill('SIGTERM');
        await once(each, 'exit');
      }
      model.kill();
      await connection.close();
      await server.stop();
      rmSync(folder, { recursive: true });
      rmSync(scratch, { recursive: true });
    },
  };
}

/** A server that gives this answer to every request. */
export async function startModel(ids: readonly number[], env: NodeJS.ProcessEnv = {}) {
  const process = child('test/bench/overhead-server.mjs', [JSON.stringify(ids)], env);
  const [said] = (await once(process.stdout!, 'data')) as [Buffer];
  return { url: said.toString().trim(), process, stop: () => process.kill() };
}

/** Ids of a plausible text of the wanted length that ends with an answer and the stop token. */
export async function answerIds(): Promise<number[]> {
  const tokenizer = await openTokenizer(await findModelSource(TOKENIZER));
  const end = [...(await tokenizer.encodeRendered('So the answer is \\boxed{41}.')), tokenizer.stopTokenIds[0]!];
  const step = await tokenizer.encodeRendered('First take 6 of them, then 7 more; that makes 13, and 13 + 28 = 41.\n');
  const filler = Array.from({ length: ANSWER_TOKENS - end.length }, (_, i) => step[i % step.length]!);
  return [...filler, ...end];
}

function child(script: string, args: string[], env: NodeJS.ProcessEnv, flags: string[] = []): ChildProcess {
  return spawn(process.execPath, [...flags, resolve(ROOT, script), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', process.env['EVERTURN_BENCH_LOG'] ? 'inherit' : 'ignore', 'ipc'],
  });
}

async function ready(process: ChildProcess): Promise<void> {
  process.stdout?.resume();
  for (;;) {
    const [message] = (await once(process, 'message')) as [unknown];
    if (isReady(message)) return;
  }
}

/** User and system seconds of each process and of those below it: the judge's. */
const cpuOf = (pids: Readonly<Record<Part, number>>): Record<Part, number> =>
  Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [name, cpuSeconds([pid, ...descendants(pid)])]),
  ) as Record<Part, number>;
