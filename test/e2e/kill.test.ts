// The promise, on the local service and the shipped model: 40 rollouts × 4 turns, and worker, server and command line
// killed at random moments. Every turn is in the store once and logged once, and what was played equals an undisturbed
// run, timing and attempts aside. Many kills of workers in every phase: chaos/storm.chaos.ts.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../storage/files.ts';
import { type Everturn, openEverturn, until } from '../support/everturn.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const COMMON = ['--num-turns', '4', '--limit', '40', '--max-concurrent', '16', '--seed', '7', '--deterministic'];
// A failing test is repeated by KILL_SEED=<the number it printed>.
const SEED = Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 1e9));

let random = SEED;
const rand = () =>
  Number.parseInt(createHash('sha256').update(`${random++}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000;

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn();
});
afterAll(() => everturn.close());

/** What was played: all records of a run without timing, attempts and hashes of what carries them. */
async function played(run: string): Promise<Record<string, unknown>> {
  const store = openFileStore(join(everturn.folder, 'runs'), run);
  const all: Record<string, unknown> = {};
  for await (const id of store.listRollouts((breach) => expect.fail(JSON.stringify(breach)))) {
    const turns: unknown[] = [];
    for (let turn = 1; ; turn++) {
      const stored = await store.getTurn(id, turn);
      if (!stored) break;
      const { startedAt: _s, finishedAt: _f, attempt: _a, previous: _p, ...rest } = stored.record;
      const { verdict, reason } = (await store.getVerdict(id, turn))!.record;
      turns.push({ ...rest, verdict, reason });
    }
    const { rewards, outcome } = (await store.getEnd(id))!.record;
    all[`${id.query}/${id.sample}`] = { turns, rewards, outcome };
  }
  return all;
}

/** 160 turns in the store, each logged once, and `check` finds nothing. */
async function expectWhole(run: string): Promise<void> {
  const checked = await everturn.run('check', run, '--json');
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  const files = readdirSync(join(everturn.folder, 'runs', run, 'rollouts'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((f) => /turn-\d+\.json$/.test(f))).toHaveLength(160);
  const logs = join(everturn.folder, 'runs', run, 'answers/0');
  const lines = readdirSync(logs)
    .filter((f) => f.endsWith('.jsonl'))
    .flatMap((f) => readFileSync(join(logs, f), 'utf8').trim().split('\n'));
  expect(lines).toHaveLength(160);
}

/** A turn is in the store, and the run is far from its end: what a fast machine prints says nothing of that. */
const untilTurnsOf = (run: string) =>
  until('some turns', () => {
    const folder = join(everturn.folder, 'runs', run, 'rollouts');
    if (!existsSync(folder)) return undefined;
    return (
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((f) => /turn-\d+\.json$/.test(f)) || undefined
    );
  });

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('a run', () => {
  test('plays to its end undisturbed', { timeout: 300_000 }, async () => {
    const ended = await everturn.run('run', DATA, '--name', 'calm', ...COMMON);
    expect(ended.code, ended.stderr).toBe(0);
    await expectWhole('calm');
  });

  test(
    'survives a kill -9 of the worker, of the server and of the command line, whose repetition attaches',
    { timeout: 300_000 },
    async () => {
      console.log(`KILL_SEED=${SEED}`);
      const first = everturn.start('run', DATA, '--name', 'both', ...COMMON);
      await untilTurnsOf('both');
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      await sleep(rand() * 1000);
      process.kill(everturn.service()!.server!.pid, 'SIGKILL');
      await sleep(rand() * 2000);
      first.child.kill('SIGKILL');
      await first.ended;
      const second = await everturn.run('run', DATA, '--name', 'both', ...COMMON);
      expect(second.code, second.stderr).toBe(0);
      await expectWhole('both');
      expect(await played('both')).toEqual(await played('calm'));
    },
  );

  test('goes on when Ctrl-C detaches, and the same command attaches to it', { timeout: 300_000 }, async () => {
    const first = everturn.start('run', DATA, '--name', 'detached', ...COMMON);
    await untilTurnsOf('detached');
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    const second = await everturn.run('run', DATA, '--name', 'detached', ...COMMON);
    expect(second.code, second.stderr).toBe(0);
    await expectWhole('detached');
  });

  test('leaves no process behind when its service is killed', { timeout: 120_000 }, async () => {
    await everturn.run('up');
    const { supervisor, server, worker } = everturn.service()!;
    const family = [supervisor.pid, server!.pid, worker!.pid, ...childrenOf(worker!.pid)];
    expect(family.length).toBeGreaterThanOrEqual(3);
    process.kill(supervisor.pid, 'SIGKILL');
    await until('all processes gone', () => (family.some(alive) ? undefined : true), 30_000);
  });
});

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
