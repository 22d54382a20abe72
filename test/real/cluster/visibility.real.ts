// The promise: the lists of a real server, of which it answers ten a second of a namespace and frontend, limit nobody who
// follows, shows or steers runs, and no run that waits; and where many ask for lists at once, they wait and do not fail.

import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { idOf, type Workload } from '../../chaos/workload.ts';
import { listRuns, startCollection } from '../../../client/temporal/runs.ts';
import type { Ended } from '../../support/everturn.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { until } from '../../support/until.ts';
import { type ClusterRig, useCluster } from './cluster-rig.ts';

const ROLLOUTS = Number(process.env['EVERTURN_TEST_ROLLOUTS'] ?? 200);
const LISTS = ['ListWorkflowExecutions', 'CountWorkflowExecutions', 'ScanWorkflowExecutions'];
const LIMITED = /resource.?exhausted|rate limit|too many requests/i;
const AT_ONCE = 80;
const ROUNDS = 3;
/** Runs that stand still are asked why every 15 s. */
const STILL_MS = 50_000;
/** Runs whose executions continue as new with more in flight than a worker asks for one by one. */
const WAITING = { runs: 4, inFlight: 120, maxHistoryEvents: 100, ms: 30_000 };
/** A model that holds what it was asked ends no run. */
const LATENCY_MS = { held: 86_000_000, answered: 1000 };

let rig: ClusterRig;
let workload: Workload;
useCluster(
  {
    ...{ file: import.meta.filename, workers: 2, slots: 32, latencyMs: LATENCY_MS.held },
    env: { EVERTURN_RUNS_UNDER: tmpdir(), EVERTURN_ALLOWED_MODELS: TINY_FOLDER },
  },
  (opened) => (rig = opened),
);
beforeAll(() => {
  workload = rig.workload;
});

interface Seen {
  readonly lists: number;
  readonly refused: number;
}

const NONE: Seen = { lists: 0, refused: 0 };

/** What the server counted while `work` went on. */
async function counted(work: () => Promise<unknown>): Promise<Seen> {
  const before = await rig.temporal.calls();
  await work();
  const after = await rig.temporal.calls();
  const rise = (of: 'asked' | 'refused') =>
    LISTS.reduce((sum, name) => sum + (after[of].get(name) ?? 0) - (before[of].get(name) ?? 0), 0);
  return { lists: rise('asked'), refused: rise('refused') };
}

function expectUnlimited({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toMatch(LIMITED);
}

/** All at once; on a busy machine no worker may answer in time, and then it is asked again. */
async function commanded(...commands: (readonly string[])[]): Promise<void> {
  const answered = async (args: readonly string[]) => {
    const ended = await workload.everturn.run(...args);
    expectUnlimited(ended);
    if (ended.code !== 0) expect(ended.stderr).toContain('No worker answered');
    return ended.code === 0;
  };
  await Promise.all(commands.map((args) => until(args.join(' '), () => answered(args), 300_000)));
}

/** Goes on by itself; ended with its test at the latest. */
function begun(...args: string[]) {
  const running = workload.everturn.start(...args);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  return running;
}

const inFlight = async (run: string): Promise<number> => {
  const { code, stdout } = await workload.everturn.run('status', run, '--json');
  return code === 0 ? (JSON.parse(stdout) as { inFlight: number }).inFlight : 0;
};

describe(`the lists of a real server with its own limits`, () => {
  test('are asked for by none who follows, shows or steers a run, and by `list` once', async () => {
    const runs = [
      { name: 'first', rollouts: ROLLOUTS },
      { name: 'second', rollouts: 60 },
      { name: 'third', rollouts: 60 },
    ];
    const names = runs.map(({ name }) => name);
    const seen: Record<string, Seen> = {};
    const each = async (what: string, ...commands: (readonly string[])[]) =>
      (seen[what] = await counted(() => commanded(...commands)));
    const attached = runs.map((run) => begun(...workload.command({ ...run, turns: 2, maxConcurrent: 32 })));
    for (const name of names) await until(`${name} is being played`, async () => (await inFlight(name)) > 0, 600_000);
    const following = [1, 2, 3].map(() => begun('status', 'first', '--follow'));
    for (let round = 0; round < ROUNDS; round++) {
      await each(`status ${round}`, ...names.map((name) => ['status', name]), ['status', 'first', '--json']);
      await each(`why and show ${round}`, ['why', 'first', idOf(0)], ['show', 'first', idOf(0)]);
      await each(`pause ${round}`, ...names.map((name) => ['pause', name]));
      await each(`tune ${round}`, ['tune', 'first', '--max-concurrent', String(24 + round)]);
      await each(`resume ${round}`, ...names.map((name) => ['resume', name]));
      const listed = await counted(() => commanded(['list'], ['list', '--json']));
      expect(listed).toEqual({ lists: 2, refused: 0 });
    }
    seen['standing still'] = await counted(() => sleep(STILL_MS));
    await each('cancel', ['cancel', 'second']);
    await workload.model.become({ latencyMs: LATENCY_MS.answered });
    seen['run and status --follow, to the end'] = await counted(async () => {
      for (const { ended } of [...attached, ...following]) expectUnlimited(await ended);
    });
    console.log(JSON.stringify(seen));
    expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((what) => [what, NONE])));
    for (const { ended } of [attached[0]!, attached[2]!, ...following]) expect((await ended).code).toBe(0);
    const checked = await counted(() => commanded(['check', 'first']));
    expect(checked.refused).toBe(0);
  });

  test(`are refused to none of ${WAITING.runs} runs that wait for rollouts of an earlier execution`, async () => {
    await workload.model.become({ latencyMs: LATENCY_MS.held });
    const dataset = join(workload.folder, 'waiting.jsonl');
    const row = (i: number) => ({ query_id: idOf(i), question: `What is ${i} - ${i}?`, answer: '0' });
    writeFileSync(dataset, Array.from({ length: WAITING.inFlight }, (_, i) => `${JSON.stringify(row(i))}\n`).join(''));
    const names = Array.from({ length: WAITING.runs }, (_, i) => `waiting-${i}`);
    const settings = { model: workload.model.spec, tokenizer: TINY_FOLDER, numTurns: 1, maxNewTokens: 64, seed: 7 };
    const starting = await counted(async () => {
      for (const run of names) {
        const { inFlight: maxConcurrent, maxHistoryEvents } = WAITING;
        const input = { run, out: workload.out, dataset, settings, maxConcurrent, maxHistoryEvents };
        await startCollection(workload.session, input, run);
      }
      const isWhole = async (run: string) => (await inFlight(run)) === WAITING.inFlight;
      for (const run of names) await until(`${run} is in flight`, () => isWhole(run), 900_000);
    });
    const waited = await counted(() => sleep(WAITING.ms));
    await workload.model.become({ latencyMs: LATENCY_MS.answered });
    const ended = await counted(async () => {
      const isOver = (run: string) => existsSync(join(workload.out, run, 'result.json'));
      for (const run of names) await until(`${run} has ended`, () => isOver(run), 900_000);
    });
    console.log(JSON.stringify({ starting, waited, ended }));
    expect([starting.refused, waited.refused, ended.refused]).toEqual([0, 0, 0]);
    // Else nobody waited by a list.
    expect(waited.lists).toBeGreaterThan(0);
    for (const run of names) await commanded(['check', run]);
  });

  test(`are waited for where ${AT_ONCE} are asked for at once: the server refuses, and no call fails`, async () => {
    const { refused } = await counted(async () => {
      const all = await Promise.all(Array.from({ length: AT_ONCE }, () => listRuns(workload.session)));
      for (const runs of all) expect(runs.map(({ run }) => run)).toContain('first');
    });
    expect(refused).toBeGreaterThan(0);
  });
});
