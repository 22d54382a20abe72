// A whole system for benchmarks, in processes of its own: Temporal's dev server, a model server that costs nothing,
// a real worker from dist/, one whose activities are empty, one whose activities are as bare as the contract allows, and,
// with EVERTURN_BENCH_AGAINST, the worker of another checkout. Says what each of them used of the processors.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

const ROOT = join(import.meta.dirname, '../..');
const TOKENIZER = join(ROOT, 'models/tiny');
export const ANSWER_TOKENS = 1024;

export interface RigOptions {
  readonly turns: number;
  readonly queries: number;
  readonly slots: number;
  readonly delayMs: number;
  /** The first so many requests are answered only when all of them are in flight. */
  readonly hold?: number;
  /** Conversations in the model server's prefix cache; it then counts hits. */
  readonly cache?: number;
  /** Where run folders are put; its file system is what is measured. */
  readonly out: string;
}

/** `other`: the worker of the checkout that EVERTURN_BENCH_AGAINST names. */
export type Which = 'whole' | 'other' | 'bare' | 'empty';
export type Part = 'worker' | 'other' | 'bare' | 'empty' | 'temporal' | 'model';
/** Built as this one is. */
export const OTHER = process.env['EVERTURN_BENCH_AGAINST'];

export interface Played {
  readonly result: CollectionResult;
  readonly seconds: number;
  /** CPU seconds. */
  readonly cpu: Readonly<Record<Part, number>>;
  /** Of each thread of the worker that played, by its id and name: the first is Node's main thread. */
  readonly threads: ReadonlyMap<string, number>;
}

export interface Rig {
  /** Plays the whole data set, with all activities, with bare ones, or with empty ones. */
  play(run: string, which: Which, maxConcurrent: number): Promise<Played>;
  /** Most requests that the model server had at once. */
  mostInFlight(): Promise<number>;
  memoryMiB(part: Part): { readonly now: number; readonly peak: number };
  readonly folder: string;
  readonly modelUrl: string;
  close(): Promise<void>;
}

export async function openRig({ turns, queries, slots, delayMs, hold = 0, cache = 0, out }: RigOptions): Promise<Rig> {
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
    bare: 'bare',
    empty: 'empty',
  };
  for (const namespace of [namespaces.other, namespaces.bare, namespaces.empty]) {
    const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await untilKnown(connection, namespace);
    await ensureSearchAttributes(connection, namespace);
  }

  const { url, process: model } = await startModel(await answerIds(), {
    DELAY_MS: `${delayMs}`,
    HOLD: `${hold}`,
    CACHE: `${cache}`,
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
  const args = (namespace: string) => [server.address, namespace, slots, queries, turns].map(String);
  const empty = child('test/bench/overhead-empty.mjs', args(namespaces.empty), {});
  const bareOut = join(folder, 'bare');
  mkdirSync(bareOut);
  const bare = child('test/bench/overhead-empty.mjs', args(namespaces.bare), { BARE_MODEL: url, BARE_OUT: bareOut });
  const children = [worker, empty, bare, ...(other ? [other] : [])];
  await Promise.all(children.map(ready));
  const pids = {
    ...{ worker: worker.pid!, other: (other ?? worker).pid!, bare: bare.pid!, empty: empty.pid! },
    ...{ temporal: server.id.pid, model: model.pid! },
  };
  const settings = { model: `sglang:${url}`, tokenizer: TOKENIZER, numTurns: turns, maxNewTokens: ANSWER_TOKENS };

  return {
    folder,
    modelUrl: url,
    async play(run, which, maxConcurrent) {
      const before = cpuOf(pids);
      const pid = pids[which === 'whole' ? 'worker' : which];
      const threadsBefore = threadsOf(pid);
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
      const threads = [...threadsOf(pid)].map(([k, v]) => [k, v - (threadsBefore.get(k) ?? 0)] as const);
      return { result, seconds, cpu: cpu as Played['cpu'], threads: new Map(threads) };
    },
    async mostInFlight() {
      return ((await (await fetch(`${url}/most`)).json()) as { most: number }).most;
    },
    memoryMiB(part) {
      const status = readFileSync(`/proc/${pids[part]}/status`, 'utf8');
      const of = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
      return { now: of('VmRSS'), peak: of('VmHWM') };
    },
    async close() {
      for (const each of [worker, ...(other ? [other] : [])]) {
        each.kill('SIGTERM');
        await once(each, 'exit');
      }
      for (const each of [model, empty, bare]) each.kill();
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

async function untilKnown(connection: Connection, namespace: string): Promise<void> {
  for (let n = 0; n < 100; n++) {
    const known = await new Client({ connection, namespace }).workflow.count().catch(() => undefined);
    if (known) return;
    await sleep(100);
  }
}

const TICKS = Number(execFileSync('getconf', ['CLK_TCK']));

/** User and system seconds of a process or a thread, and its name. */
function statOf(path: string): { readonly seconds: number; readonly name: string } {
  const stat = readFileSync(`${path}/stat`, 'utf8');
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  return { seconds: (Number(fields[11]) + Number(fields[12])) / TICKS, name: stat.slice(stat.indexOf('(') + 1, end) };
}

function threadsOf(pid: number): Map<string, number> {
  const threads = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const { seconds, name } = statOf(`/proc/${pid}/task/${thread}`);
      threads.set(`${thread} ${name}`, seconds);
    } catch {
      // The thread has just ended.
    }
  }
  return threads;
}

/** User and system seconds of each process and of the children it has now: the judge's. */
function cpuOf(pids: Readonly<Record<Part, number>>): Record<Part, number> {
  const seconds = (pid: number): number => {
    const own = statOf(`/proc/${pid}`).seconds;
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOf(pid, thread));
    return children.reduce((sum, child) => sum + seconds(child), own);
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, seconds(pid)])) as Record<Part, number>;
}

function childrenOf(pid: number, thread: string): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    return pids.split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // the thread has just ended
  }
}
