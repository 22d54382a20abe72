// The promise: an update of weights, or by an adapter, that is disturbed at any of its steps leaves no server paused, and no
// token of the run is said to be of other weights. At each step, before and after a server does it, all workers, the Temporal server or the
// inference server itself are killed, under a run that goes on. A server that is back with the weights it was started
// with makes no token of the run before it has those in force.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { WeightsInput, WeightsResult } from '../../domain/weights/weights.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { connect } from '../../client/temporal/connection.ts';
import { startUpdate, updateResult } from '../../client/temporal/weights.ts';
import { adapterFolder } from '../support/adapter-folder.ts';
import { compareWeights } from '../support/compare-weights.ts';
import { modelServer, type ModelServer } from '../support/model-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { kill } from './nemesis.ts';
import { type Random, randomOf, SEED } from './seed.ts';
import { FULL } from './size.ts';
import { useWorkload, type Workload } from './workload.ts';

const ADAPTERS = scratchFolder();

let workload: Workload;
useWorkload(
  {
    file: import.meta.filename,
    workers: 2,
    slots: 16,
    model: { kind: 'vllm', latencyMs: 10 },
    env: { EVERTURN_ALLOWED_MODELS: `/ckpt,${ADAPTERS}` },
  },
  (opened) => (workload = opened),
);

/** What is asked of a server, step by step; the question for its version comes first. */
const STEPS = {
  sglang: ['/model_info', '/pause_generation', '/update_weights_from_disk', '/continue_generation'],
  vllm: ['/weight_info', '/pause', '/collective_rpc', '/reset_prefix_cache', '/update_weight_version', '/resume'],
  'sglang adapters': ['/v1/models', '/load_lora_adapter', '/unload_lora_adapter'],
  'vllm adapters': ['/v1/models', '/v1/load_lora_adapter', '/v1/completions', '/v1/unload_lora_adapter'],
} as const;
type Case = keyof typeof STEPS;
const isOfAdapters = (of: Case) => of.endsWith('adapters');
const VICTIMS = ['workers', 'Temporal', 'server'] as const;
type Victim = (typeof VICTIMS)[number];

interface Blow {
  readonly step: string;
  readonly when: 'before' | 'after';
  readonly victim: Victim;
}

const KILLS = FULL ? 25 : 3;
const SERVERS = 2;
/** Between its updates a run is given this time. */
const CALM_MS = 200;

/** Every step and moment with each victim, in a random order, as often as it takes. */
function blows(kind: Case, random: Random): Blow[] {
  const all = STEPS[kind].flatMap((step) =>
    (['before', 'after'] as const).flatMap((when) =>
      VICTIMS.map((victim) => ({ step, when, victim, order: random() })),
    ),
  );
  const mixed = all.toSorted((a, b) => a.order - b.order);
  // A small number still has one of each victim.
  const first = VICTIMS.map((victim) => mixed.find((blow) => blow.victim === victim)!);
  const rest = mixed.filter((blow) => !first.includes(blow));
  return Array.from({ length: KILLS }, (_, i) => [...first, ...rest][i % all.length]!);
}

describe('updates of weights under kills', () => {
  test.each(FULL ? (Object.keys(STEPS) as Case[]) : (['vllm', 'vllm adapters'] as const))(
    `leave no server of %s paused after ${KILLS} of them, and no token of other weights than it says`,
    { timeout: FULL ? 3_600_000 : 400_000 },
    async (of) => {
      const kind = of.split(' ')[0] as 'vllm' | 'sglang';
      const takes = isOfAdapters(of) ? ({ adapters: 'taken' } as const) : {};
      const lives: ModelServer[] = [];
      const fleet: ModelServer[] = [];
      const open = async (port = 0) => {
        const server = await modelServer({ kind, meaning: 'policy', msPerToken: 2, length: 2048, port, ...takes });
        lives.push(server);
        return server;
      };
      for (let i = 0; i < SERVERS; i++) fleet.push(await open());
      try {
        await play(of, fleet, lives, open);
      } finally {
        await Promise.all(fleet.map((server) => server.close()));
      }
    },
  );
});

async function play(
  kind: Case,
  fleet: ModelServer[],
  lives: readonly ModelServer[],
  open: (port: number) => Promise<ModelServer>,
): Promise<void> {
  const run = `updated-${kind.replace(' ', '-')}`;
  const model = `${kind.split(' ')[0]}:${fleet.map(({ url }) => url).join(',')}`;
  const flags = ['--model', model, '--max-new-tokens', '24', '--new-tokens-per-chunk', '8', '--temperature', '0.8'];
  await workload.start({ name: run, rollouts: 5000, turns: 3, maxConcurrent: FULL ? 8 : 3, flags });
  const ended: { readonly version: number; readonly at: number }[] = [];
  const tally: Record<string, number> = {};
  let repeated = 0;
  let slowestMs = 0;

  for (const [i, blow] of blows(kind, randomOf(`weights ${kind}`)).entries()) {
    const version = i + 1;
    const input = isOfAdapters(kind)
      ? { run, out: workload.out, version, weights: adapterFolder(join(ADAPTERS, `${version}`)), adapter: true }
      : { run, out: workload.out, version, weights: `/ckpt/${version}` };
    const begun = Date.now();
    const struck = disturb(fleet, blow, open);
    let result = await update(input);
    await struck.done();
    // A server that is back late gets the version by itself, or by a repetition.
    for (; result.state !== 'whole'; repeated++) {
      expect(result.state, `${JSON.stringify(blow)}, seed ${SEED}`).not.toBe('superseded');
      await sleep(500);
      result = await update(input);
    }
    const of = `version ${version}, ${JSON.stringify(blow)}, seed ${SEED}`;
    for (const { engine } of fleet)
      expect([versionOf(engine, kind), engine.paused], of).toEqual([String(version), false]);
    expect(struck.hit(), of).toBe(true);
    slowestMs = Math.max(slowestMs, Date.now() - begun);
    ended.push({ version, at: Date.now() });
    tally[blow.victim] = (tally[blow.victim] ?? 0) + 1;
    await sleep(CALM_MS);
  }

  await stopRun(run);
  await workload.untilEnded(run, 300_000);
  for (const { engine } of fleet) expect(engine.paused).toBe(false);
  const store = openFileStore(workload.out, run);
  const numberOf = (label: string) => (label === 'default' ? 0 : Number(label));
  const found = await compareWeights(
    store,
    lives.map(({ engine }) => engine),
    numberOf,
  );
  let turns = 0;
  let late = 0;
  for await (const trajectory of readTrajectories(store)) {
    for (const { record } of trajectory.turns) {
      turns++;
      const inForce = ended.findLast(({ at }) => at < record.startedAt)?.version ?? 0;
      // What a killed worker left of the answer is older than the try that ended it.
      if (record.versions.at(-1)!.version < inForce) late++;
    }
  }
  const checked = await workload.everturn.run('check', run, '--json');
  console.log(JSON.stringify({ seed: SEED, kind, kills: KILLS, tally, repeated, slowestMs, turns, late, ...found }));
  expect(found).toMatchObject({ wrong: 0, unknown: 0 });
  expect(late).toBe(0);
  expect(turns).toBeGreaterThan(0);
  expect(checked.code, checked.stdout).toBe(0);
}

/** The newest that it has. */
function versionOf({ version, adapters }: ModelServer['engine'], kind: Case): string {
  return isOfAdapters(kind) ? [...adapters.keys()].at(-1)!.split('-').at(-1)! : version;
}

/** Kills the victim when the step is asked of a server for the first time. */
function disturb(fleet: ModelServer[], { step, when, victim }: Blow, open: (port: number) => Promise<ModelServer>) {
  let striking: Promise<unknown> | undefined;
  const strike = async (server: ModelServer): Promise<unknown> => {
    if (victim === 'workers') {
      return Promise.all(workload.workers.flatMap((worker) => worker.pid() ?? []).map(kill));
    }
    if (victim === 'Temporal') {
      const pid = workload.temporal.pid();
      return pid === undefined ? undefined : kill(pid);
    }
    const at = fleet.indexOf(server);
    await server.close();
    fleet[at] = await open(server.port);
    return undefined;
  };
  for (const server of fleet) {
    server.hold = async (path, moment) => {
      if (striking || moment !== when || path.split('?')[0] !== step) return;
      striking = strike(server);
      // The answer goes to nobody where the victim is who asked; else it comes.
      await striking;
    };
  }
  return {
    hit: () => striking !== undefined,
    async done() {
      await striking;
      for (const server of fleet) server.hold = null;
    },
  };
}

/** By a connection of its own each time: the server may have died under the last. */
async function update(input: WeightsInput): Promise<WeightsResult> {
  for (const until = Date.now() + 240_000; ; await sleep(300)) {
    const session = await connect({ address: workload.temporal.address, namespace: 'default' }).catch(() => null);
    try {
      if (session) return await updateResult(session, await startUpdate(session, input));
    } catch (error) {
      if (Date.now() > until || (error as { boundary?: string }).boundary === 'usage') throw error;
    } finally {
      await session?.close();
    }
    if (Date.now() > until) throw new Error('no update for 4 minutes');
  }
}

async function stopRun(run: string): Promise<void> {
  for (let tries = 0; tries < 60; tries++, await sleep(500)) {
    const { code } = await workload.everturn.run('cancel', run);
    if (code === 0) return;
  }
  throw new Error('the run could not be stopped');
}
