// A run of the user's own environments, with workflows, a worker and a model that is a script: the same game through each
// door gives the same trajectories, rows of a mixed data set go where they say, no retry makes a move twice, and `check`
// proves what was stored.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { completeSettings } from '../../domain/run/defaults.ts';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { createEnvironments, type OwnEnvironments } from '../../environments/index.ts';
import { createOwnEnvironments, describeOwnEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { exporterNamed } from '../../formats/exports/index.ts';
import { createRun } from '../../run/create-run.ts';
import { newRecord } from '../../run/plan.ts';
import { readRows } from '../../run/rows.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { describeOnQueue } from '../../client/temporal/describe-environment.ts';
import { guess } from '../environments/own/guess.ts';
import { serveEnvironment, type Served } from '../environments/own/http-server.ts';
import { recordHistory } from '../histories/history-file.ts';
import { pythonNumbers } from '../support/python-numbers.ts';
import { openRig, type Rig } from '../support/rig.ts';
import { breachesOf } from '../records/breaches.ts';

const HERE = join(import.meta.dirname, '../environments/own');
let rig: Rig;
let own: OwnEnvironments;
let server: Served;
beforeAll(async () => {
  own = createOwnEnvironments({ log: () => undefined, permitted: (record) => record.spec });
  server = await serveEnvironment(guess('value'), 'abc');
  rig = await openRig(
    {
      answer({ requestId }) {
        const [, query, , turn] = requestId.split('/');
        return query === 'b' ? '\\boxed{4}' : `I say ${[10, 5, 17][Number(turn) - 1]}.`;
      },
    },
    { environments: createEnvironments({}, own) },
  );
  await rig.startWorker();
});
afterAll(async () => {
  await rig.close();
  await own.close();
  await server.close();
});

type Steps = Readonly<Record<string, (params: never) => unknown>>;

/** The user's own worker: the guessing game as activities. */
async function serveQueue(taskQueue: string, kind: 'none' | 'value', changes: Steps = {}) {
  const game = { ...(guess(kind) as unknown as Steps), ...changes };
  const calls: string[] = [];
  const ended: string[] = [];
  const step = (name: string) => async (params: { episode: { key: string } }) => {
    calls.push(name);
    if (name === 'end') ended.push(params.episode.key);
    return (await game[name]!(params as never)) ?? {};
  };
  const hello = { protocol: 1, name: 'guess', version: '1', state: kind, begins: true, ends: true };
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const worker = await Worker.create({
    connection,
    namespace: rig.namespace,
    taskQueue,
    dataConverter: { payloadCodecs: [pythonNumbers] },
    activities: {
      describe: async () => hello,
      begin: step('begin'),
      respond: step('respond'),
      end: step('end'),
    },
  });
  const done = worker.run();
  return {
    calls,
    ended,
    async stop() {
      worker.shutdown();
      await done;
      await connection.close();
    },
  };
}

interface Given {
  readonly specs: readonly string[];
  readonly rows: readonly object[];
  readonly settings?: Partial<RolloutSettings>;
}

/** Plays a data set to its end, in the order of the command `run`. */
async function play(run: string, { specs, rows, settings = {} }: Given): Promise<CollectionResult> {
  const askQueue = (queue: string) => describeOnQueue({ client: rig.client, address: 'here' } as Session, queue);
  const described = await Promise.all(
    specs.map((text) => describeOwnEnvironment(parseSpec(text, HERE), () => undefined, askQueue)),
  );
  const environments: EnvironmentRecord[] = described.map(({ record }) => record);
  const dataset = join(rig.out, `${run}.jsonl`);
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const read = await readRows({ dataset, limit: null, shuffleSeed: null, environments });
  const store = openFileStore(rig.out, run);
  const complete = { ...completeSettings(run, { seed: 7, numTurns: 5, ...settings }), environments };
  const origins = { environment: 'flag', seed: 'flag', numTurns: 'flag' } as const;
  const record = newRecord({ run, dataset: read.dataset, settings: complete, samples: 2, origins }, Date.now());
  const codes = described.flatMap(({ code }) => code ?? []);
  await createRun(store, record, read.queries(), codes);
  const handle = await rig.client.workflow.start('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    args: [{ run, out: rig.out }],
  });
  return handle.result() as Promise<CollectionResult>;
}

const breaches = (run: string) => breachesOf(openFileStore(rig.out, run));

/** The samples of a run, without the time at which they were made. */
async function samples(run: string): Promise<unknown[]> {
  const file = join(rig.out, `${run}-areal.jsonl`);
  await exportRun(openFileStore(rig.out, run), exporterNamed('areal'), file);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { data, keys, ...rest } = JSON.parse(line) as { data: Record<string, unknown>; keys: string[] };
    return { ...rest, keys, data: { ...data, birth_time: 0 } };
  });
}

const games = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `g${i}`, name: `game ${i}` }));

describe("a run of the user's own environment", () => {
  test('gives the same trajectories through every door', async () => {
    const doors = {
      'command-value': 'python3 guess.py value',
      'module-replay': './guess-replay.ts',
      'url-value': server.url,
      'queue-none': 'queue:guess-none@1',
    };
    const worker = await serveQueue('guess-none@1', 'none');
    const played = Object.entries(doors).map(async ([run, spec]) => {
      const result = await play(run, { specs: [spec], rows: games(2) });
      expect(result.counts.outcomes, run).toMatchObject({ complete: 4, failed: 0, undecided: 0 });
      expect(result.counts.rewardAt?.[0]?.count, run).toBe(4);
      expect(await breaches(run), run).toEqual([]);
      return samples(run);
    });
    const exported = await Promise.all(played);
    const [first] = exported;
    expect(first).toHaveLength(4);
    expect(JSON.stringify(first)).not.toContain('task_ids');
    // Metrics and messages do not depend on the state; the seed follows from the query, not from the run.
    expect(new Set(exported.map((samples) => JSON.stringify(samples))).size).toBe(1);
    await worker.stop();
    // Each rollout was ended by its environment, once or more.
    expect(new Set(worker.ended).size).toBe(4);
    await recordHistory(rig.client, 'rollout-queue', { workflowId: 'queue-none/g0/0' });
    for await (const described of rig.client.workflow.list({ query: "WorkflowType = 'describeEnvironment'" }))
      await recordHistory(rig.client, 'described-queue', described);
  }, 240_000);

  test('on a queue has its failures named, and what is no JSON, and the run ends', async () => {
    const replies: Readonly<Record<string, object>> = {
      g0: { reward: NaN },
      g2: { succes: true },
      g3: { verdict: 'right', done: true },
      g4: { reward: 'NaN' },
      g5: { reward: 1, metrics: { loss: '-Infinity' } },
    };
    const worker = await serveQueue('harmful@1', 'none', {
      respond({ episode, turn }: { episode: { query: string }; turn: number }) {
        if (turn === 1 && episode.query !== 'g0') return { reward: 1, messages: [{ role: 'user', content: 'On.' }] };
        const reply = replies[episode.query];
        if (!reply) throw ApplicationFailure.nonRetryable('no row', 'BadRow');
        return reply;
      },
    });
    const result = await play('queue-harmful', { specs: ['queue:harmful@1'], rows: games(6) });
    await worker.stop();
    expect(result.counts.outcomes).toMatchObject({ complete: 2, undecided: 10, failed: 0 });
    expect(result.counts.reasons).toEqual({ 'environment-broken': 8, 'environment-error': 2 });
    expect(await breaches('queue-harmful')).toEqual([]);
  }, 120_000);

  test('on a queue whose worker ends is played on by the next one', async () => {
    const first = await serveQueue('moving@1', 'value');
    const playing = play('queue-moving', { specs: ['queue:moving@1'], rows: games(4) });
    await expect.poll(() => first.calls.length, { timeout: 60_000 }).toBeGreaterThan(6);
    await first.stop();
    const second = await serveQueue('moving@1', 'value');
    const result = await playing;
    await second.stop();
    expect(result.counts.outcomes).toMatchObject({ complete: 8 });
    expect(await breaches('queue-moving')).toEqual([]);
    expect(second.calls.length).toBeGreaterThan(0);
  }, 120_000);

  // EVERTURN_TEMPORALIO names a Python that has `temporalio`.
  const python = process.env['EVERTURN_TEMPORALIO'];
  test('on a queue may be in Python: the example, as it is written', async (context) => {
    if (python === undefined) return context.skip('EVERTURN_TEMPORALIO names no Python that has temporalio');
    const script = join(import.meta.dirname, '../../examples/environments/queue_worker.py');
    const worker = spawn(python!, [script, 'nearer@1'], {
      env: { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: rig.namespace },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(worker.stdout, 'data');
      const rows = [17, 10, 4].map((n, i) => ({ id: `g${i}`, question: '?', solutions: [`\\boxed{${n}}`] }));
      const result = await play('in-python', { specs: ['queue:nearer@1'], rows, settings: { numTurns: 3 } });
      expect(result.counts.outcomes).toMatchObject({ complete: 6 });
      expect(result.counts.verdicts?.right).toEqual({ environment: 4 });
      expect(await breaches('in-python')).toEqual([]);
    } finally {
      worker.kill();
    }
  });

  test('may be one of several, and a judge of ours answers the rows that name it', async () => {
    const rows = [
      { id: 'a', environment: 'guess', name: 'x' },
      { id: 'b', environment: 'math', question: 'What is 2 + 2?', answer: '4' },
    ];
    const result = await play('mixed', { specs: ['python3 guess.py none'], rows, settings: { numTurns: 2 } });
    expect(result.counts.outcomes.complete).toBe(4);
    expect(result.counts.verdicts?.right).toMatchObject({ 'equal-text': 4 });
    expect(await breaches('mixed')).toEqual([]);
  }, 60_000);

  test.each([false, true])(
    'held by a server that fails after a move is not asked for that move again, unless it says that it may: %s',
    async (idempotent) => {
      const moves: string[] = [];
      const replies = new Map<string, unknown>();
      let failed = false;
      const held = await serveEnvironment(
        {
          ...{ name: 'held', version: '1', state: 'held', idleSeconds: 60, idempotent },
          begin: () => ({ messages: [{ role: 'user', content: 'Which?' }], state: { id: 's' } }),
          respond({ episode, turn }: { episode: { key: string }; turn: number }) {
            const move = `${episode.key}/${turn}`;
            const known = idempotent ? replies.get(move) : undefined;
            if (known) return known;
            moves.push(move);
            const reply = {
              reward: turn,
              ...(turn === 2 ? { done: true } : { messages: [{ role: 'user', content: 'On.' }] }),
            };
            replies.set(move, reply);
            if (turn === 2 && !failed) {
              failed = true;
              throw new Error('after the move');
            }
            return reply;
          },
          end() {},
        },
        'abc',
      );
      const run = `held-fails-${idempotent}`;
      const result = await play(run, { specs: [held.url], rows: games(1) });
      await held.close();
      expect(new Set(moves).size).toBe(moves.length);
      if (idempotent) expect(result.counts.outcomes).toMatchObject({ complete: result.total });
      else expect(result.counts.reasons).toEqual({ 'environment-lost': 1 });
      expect(await breaches(run)).toEqual([]);
    },
    120_000,
  );
});
