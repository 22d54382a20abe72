// The promise: rollouts with tools and environments of their own, while workers, hosts of environments, tool modules and
// MCP servers are killed. A shop outside counts: a tool that must not be called twice was not; games with state `value`
// or `replay` are the unbroken ones, `held` ones end so or as environment-lost; and nothing is left behind.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { scriptedVllm, type ScriptedVllm } from '../support/scripted-vllm.ts';
import { callText } from '../support/tool-chat.ts';
import { commandOf } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { killAll, openShop, sessionsLeft, type Shop, VICTIMS, withVariable } from './tool-world.ts';
import { useWorkload, type Workload } from './workload.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOOLS = ['--tool', join(ROOT, 'examples/tools/shop.ts'), '--mcp', `node ${import.meta.dirname}/tool-server.mjs`];
const GUESS = join(ROOT, 'test/environments/own/guess.py');
const STATES = ['value', 'replay', 'held'] as const;
const ROLLOUTS = sized(300);
const KILLS = sized(100);
const LEASE_SECONDS = FULL ? 30 : 12;
const KIND_OF: Record<(typeof STATES)[number], string> = {
  value: 'value',
  replay: `replay ${LEASE_SECONDS}`,
  held: `held ${LEASE_SECONDS}`,
};
const TURNS = [
  `${callText('price', { fruit: 'plum' })}\n${callText('twice', { count: 2 })}`,
  callText('order', { fruit: 'plum', count: 2 }),
  'I guess 1.',
  `${callText('book', { count: 3 })}\n${callText('sell', { count: 4 })}\n${callText('price', { fruit: 'fig' })}`,
  'I guess 20.',
  'I guess 10.',
];

const sessions = join(mkdtempSync(join(tmpdir(), 'everturn-sessions-')), 'sessions');
let shop: Shop;
let model: ScriptedVllm;
let workload: Workload;
useWorkload(
  async () => {
    const random = randomOf('shop');
    shop = await openShop(random);
    model = await scriptedVllm(TURNS);
    model.server.hold = (path, when) => (/generate/.test(path) && when === 'before' ? sleep(100 * random()) : sleep(0));
    const env = { ENVIRONMENT_SHOP: shop.url, ENVIRONMENT_SESSIONS: sessions };
    const { filename: file } = import.meta;
    return { file, workers: FULL ? 3 : 2, slots: 16, model: { kind: 'sglang', latencyMs: 1 }, env };
  },
  (opened) => (workload = opened),
);
afterAll(async () => {
  await model.server.close();
  shop.close();
});

const EACH = Math.round(ROLLOUTS / STATES.length);

async function start(name: string, state: (typeof STATES)[number]): Promise<void> {
  const rows = join(workload.folder, `${state}.jsonl`);
  const all = Array.from({ length: EACH }, (_, i) => ({ id: `g${i}`, name: `g${i}`, question: 'Which?' }));
  writeFileSync(rows, all.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { code, stderr } = await workload.everturn.run(
    ...['run', rows, '--name', name, '--num-turns', '3', '--seed', '7', '--max-concurrent', FULL ? '12' : '8'],
    ...['--environment', `python3 ${GUESS} ${KIND_OF[state]}`, ...TOOLS, ...model.flags, '--detach'],
  );
  expect(code, stderr).toBe(0);
}

async function played(run: string): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const one of readTrajectories(openFileStore(workload.out, run))) all.push(one);
  return all.toSorted((a, b) => (a.rollout.query.queryId < b.rollout.query.queryId ? -1 : 1));
}

/** All that an undisturbed run has as well: without times, attempts, the hashes of what carries them, and states. */
function canonical({ rollout, turns }: Trajectory): unknown[] {
  const shown = turns.map(({ record: { contextIds, outputIds, logprobs, calls }, verdict }) => {
    const { verdict: said, reason, reward, rewards, metrics, messages, done, calls: results } = verdict ?? {};
    const told = results?.map(({ name, arguments: given, outcome, output }) => [name, given, outcome, output]);
    return { contextIds, outputIds, logprobs, calls, said, reason, reward, rewards, metrics, messages, done, told };
  });
  return [rollout.query.queryId, rollout.query.prompt, ...shown];
}

const endOf = ({ end }: Trajectory): string => end!.failure?.reason ?? end!.outcome;

/** Calls of tools that must not be called twice, as the records say. */
function onceCalls({ rollout, turns }: Trajectory): string[] {
  const { run, query, sample } = rollout;
  return turns.flatMap(({ record, verdict }) =>
    (verdict?.calls ?? []).flatMap(({ name, effect, outcome }, i) =>
      effect === 'once' && outcome === 'ok'
        ? [`${name} ${run}/${query.queryId}/${sample}/1/${record.turn}/${i + 1}`]
        : [],
    ),
  );
}

describe(`${ROLLOUTS} rollouts with tools and environments of their own`, () => {
  test(
    `survive ${KILLS} kill -9 of workers, hosts and tool servers: once is once, and the games are the unbroken ones`,
    { timeout: FULL ? 3_600_000 : 600_000 },
    async () => {
      const calmFrom = Date.now();
      for (const state of ['value', 'replay'] as const) await start(`calm-${state}`, state);
      for (const state of ['value', 'replay'] as const) await workload.untilEnded(`calm-${state}`, 1_200_000);
      const calmMs = Date.now() - calmFrom;
      const calm = { value: await played('calm-value'), replay: await played('calm-replay') };
      expect([...calm.value, ...calm.replay].map(endOf).filter((end) => end !== 'complete')).toEqual([]);
      const generations = () => model.server.seen.filter(({ path }) => path.endsWith('/generate')).length;
      const [before, ofCalm] = [generations(), calm.value.reduce((sum, { turns }) => sum + turns.length, 0)];

      const stormFrom = Date.now();
      for (const state of STATES) await start(state, state);
      let over = false;
      const killing = killAll({
        random: randomOf('kills'),
        kills: KILLS,
        workers: () => workload.workers.flatMap((worker) => worker.pid() ?? []),
        done: () => (generations() - before) / (STATES.length * ofCalm),
        over: () => over,
        moment: () => shop.open() > 0,
      });
      for (const state of STATES) await workload.untilEnded(state, 2_400_000);
      over = true;
      const killed = await killing;
      const stormMs = Date.now() - stormFrom;

      const ends: Record<string, Record<string, number>> = {};
      const problems: string[] = [];
      for (const state of STATES) {
        const all = await played(state);
        ends[state] = counted(all.map(endOf));
        expect(all).toHaveLength(EACH);
        for (const one of all) {
          const { queryId } = one.rollout.query;
          const unbroken = calm[state === 'replay' ? 'replay' : 'value'].find(
            ({ rollout }) => rollout.query.queryId === queryId,
          );
          if (!isAsFar(one, unbroken!)) problems.push(`${state}/${queryId} is another game than the unbroken one`);
        }
        const wanted = ['complete', 'tool-outcome-unknown', ...(state === 'held' ? ['environment-lost'] : [])];
        for (const end of Object.keys(ends[state]))
          if (!wanted.includes(end)) problems.push(`${state}: ${ends[state][end]} end as ${end}`);
        for (const call of all.flatMap(onceCalls))
          if (!shop.calls.includes(call)) problems.push(`${call} never arrived`);
        const { code, stdout, stderr } = await workload.everturn.run('check', state, '--json');
        if (code !== 0) problems.push(`check of ${state} ends with ${code}: ${stdout.slice(0, 2000)}${stderr}`);
      }
      const twice = shop.calls.filter((call, i) => !call.startsWith('book ') && shop.calls.indexOf(call) < i);
      const repeated = shop.calls.filter((call, i) => call.startsWith('book ') && shop.calls.indexOf(call) < i);
      console.log(
        JSON.stringify({
          seed: SEED,
          calmMs,
          stormMs,
          killed,
          ends,
          calls: shop.calls.length,
          twice,
          repeated: repeated.length,
        }),
      );
      expect(twice).toEqual([]);
      expect(problems).toEqual([]);
      expect(Object.values(killed).reduce((sum, n) => sum + n, 0)).toBe(KILLS);
      if (FULL) for (const kind of VICTIMS) expect(killed[kind], kind).toBeGreaterThan(0);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);

      // Every session is ended, at the latest by its lease; and no process outlives its worker.
      await until('no session is left', async () => sessionsLeft(sessions).length === 0 || undefined, 120_000);
      expect(readFileSync(sessions, 'utf8')).toContain(' end ');
      await Promise.all(workload.workers.map((worker) => worker.stop()));
      const left = () => withVariable('ENVIRONMENT_SHOP', shop.url);
      await until('no process is left', async () => left().length === 0 || undefined, 30_000).catch(() => undefined);
      expect(left().map(commandOf)).toEqual([]);
    },
  );
});

const counted = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

/** Is this the unbroken game; or, of a rollout that failed, its beginning? */
function isAsFar(one: Trajectory, unbroken: Trajectory): boolean {
  const [mine, whole] = [canonical(one), canonical(unbroken)];
  if (endOf(one) === 'complete') return isDeepStrictEqual(mine, whole);
  const known = mine.slice(0, one.turns.filter(({ verdict }) => verdict).length + 1);
  return isDeepStrictEqual(known, whole.slice(0, known.length));
}
