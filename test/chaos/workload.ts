// What a chaos test torments: a real Temporal server with its database file, worker processes as a user starts them,
// a hostile model server, and runs over a generated data set by the built command line. Everything is in one folder,
// with logs, marks and counts; a failing test leaves it and says where it is.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { connect, type Session } from '../../client/temporal/connection.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { type Kept, keepNode } from './kept.ts';
import { type HostileModel, type HostileOptions, startHostileModel } from './model.ts';
import { commandOf, SEED } from './seed.ts';
import { type KeptTemporal, keepTemporal } from './temporal.ts';

export interface WorkloadOptions {
  /** The test file that asks: `import.meta.filename`. */
  readonly file: string;
  readonly workers: number;
  /** Generations at once in one worker. */
  readonly slots: number;
  readonly model: Omit<HostileOptions, 'seed'>;
  readonly env?: Readonly<Record<string, string>>;
  /** The command line that the next life of the so many-th worker is of; default the built one. */
  readonly bin?: (worker: number) => string;
  /** What the command of the so many-th worker begins with: a network of its own. */
  readonly within?: (worker: number) => readonly string[];
  /** Another server than our own. */
  readonly cluster?: Cluster;
}

/** Ended by whoever started it. */
export interface Cluster extends KeptTemporal {
  /** How clients and workers find it. */
  readonly env: Readonly<Record<string, string>>;
  connect(): Promise<Session>;
}

export interface RunOptions {
  readonly name: string;
  readonly rollouts: number;
  readonly turns: number;
  readonly maxConcurrent: number;
  readonly flags?: readonly string[];
}

export interface Workload {
  readonly folder: string;
  /** The folder of the runs' folders. */
  readonly out: string;
  /** What the workers' marks are in. */
  readonly marks: string;
  readonly temporal: KeptTemporal;
  readonly workers: readonly Kept[];
  readonly model: HostileModel;
  readonly everturn: Everturn;
  /** Asks Temporal itself; reconnects by itself after a kill. */
  readonly session: Session;
  /** The command that starts a run, as arguments. */
  command(run: RunOptions): string[];
  /** Starts a run in the background, and resolves when it is accepted. */
  start(run: RunOptions): Promise<void>;
  /** Resolves to the run's length in milliseconds, counted from now. */
  untilEnded(run: string, withinMs: number): Promise<number>;
  /** `failed`: keeps the folder and says how to repeat. */
  close(failed: boolean): Promise<void>;
}

const BIN = join(import.meta.dirname, '../../dist/cli/index.js');
const MARKS = join(import.meta.dirname, 'marks.mjs');

/** For the tests of a file: opened before them and closed after them. A failing one leaves all it saw. */
export function useWorkload(
  options: WorkloadOptions | (() => Promise<WorkloadOptions>),
  use: (workload: Workload) => void,
): void {
  let workload: Workload | undefined;
  let failed = false;
  beforeAll(async () => {
    const given = typeof options === 'function' ? await options() : options;
    console.log(`Repeat: ${commandOf(given.file)}`);
    workload = await openWorkload(given);
    use(workload);
  });
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });
  afterAll(() => workload?.close(failed));
}

export async function openWorkload(options: WorkloadOptions): Promise<Workload> {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-chaos-'));
  const marks = join(folder, 'marks');
  mkdirSync(marks);
  const { cluster } = options;
  const temporal = cluster ?? (await keepTemporal(inject('temporalBinary'), folder));
  const asked = { TEMPORAL_ADDRESS: temporal.address, ...cluster?.env, ...options.env };
  const everturn = openEverturn(asked);
  const out = join(everturn.folder, 'runs');
  const model = await startHostileModel(folder, { runs: out, seed: SEED, ...options.model });
  const own = Object.entries(process.env).filter(([name]) => !/^(TEMPORAL|EVERTURN|VITEST|NODE_)/.test(name));
  const env = {
    ...Object.fromEntries(own),
    EVERTURN_HOME: join(everturn.folder, 'home'),
    EVERTURN_MARKS: marks,
    ...asked,
  };
  const bin = options.bin ?? (() => BIN);
  const args = (worker: number) => ['--import', MARKS, bin(worker), 'worker', '--slots', String(options.slots)];
  const workers = Array.from({ length: options.workers }, (_, i) =>
    keepNode(`worker ${i + 1}`, () => args(i), env, join(folder, `worker-${i + 1}.log`), {
      within: options.within?.(i),
    }),
  );
  await Promise.all(workers.map((worker) => worker.ready()));
  const session = await (cluster?.connect() ?? connect({ address: temporal.address, namespace: 'default' }));

  function command({ name, rollouts, turns, maxConcurrent, flags = [] }: RunOptions): string[] {
    const data = join(folder, `queries-${rollouts}.jsonl`);
    if (!existsSync(data)) writeFileSync(data, queries(rollouts));
    return [
      ...['run', data, '--name', name, '--num-turns', String(turns)],
      ...(flags.includes('--model') ? [] : ['--model', model.spec]),
      ...(options.model.kind === 'openai' ? [] : ['--tokenizer', TINY_FOLDER]),
      ...['--max-concurrent', String(maxConcurrent), '--max-new-tokens', '64', '--seed', '7', ...flags],
    ];
  }

  return {
    folder,
    out,
    marks,
    temporal,
    workers,
    model,
    everturn,
    session,
    command,
    async start(run) {
      const { code, stderr } = await everturn.run(...command(run), '--detach');
      if (code !== 0) throw new Error(`the run did not start (${code}): ${stderr}`);
    },
    async untilEnded(run, withinMs) {
      const begun = Date.now();
      const result = join(out, run, 'result.json');
      while (!existsSync(result)) {
        if (Date.now() - begun > withinMs) throw new Error(`run "${run}" has not ended after ${withinMs / 1000} s`);
        await sleep(50);
      }
      return Date.now() - begun;
    },
    async close(failed) {
      await Promise.all(workers.map((worker) => worker.stop()));
      await session.close();
      await Promise.all([model.stop(), cluster ? undefined : temporal.stop()]);
      if (!failed) {
        await everturn.close();
        rmSync(folder, { recursive: true, force: true });
        return;
      }
      writeFileSync(join(folder, 'repeat.txt'), `${commandOf(options.file)}\nruns: ${out}\n`);
      console.error(`What is needed to see why: ${folder} (runs: ${out})\nRepeat: ${commandOf(options.file)}`);
    },
  };
}

/** Small sums; the model is right now and then. */
function queries(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const a = Math.floor(i / 10);
    const row = { query_id: idOf(i), question: `What is ${a + (i % 10)} - ${a}?`, answer: String(i % 10) };
    return `${JSON.stringify(row)}\n`;
  }).join('');
}

export function idOf(i: number): string {
  return `q${String(i).padStart(5, '0')}`;
}
