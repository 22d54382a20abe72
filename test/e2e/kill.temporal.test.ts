// The promise, on the local service and the shipped model: worker, server and command line are killed at random moments,
// and the same command goes on. Every turn is in the store once and logged once. That such a run equals an undisturbed one
// to the byte, under many kills in every phase: chaos/storm.chaos.ts.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { until } from '../support/until.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const ROLLOUTS = 30;
const TURNS = 4;
const RUN = ['run', DATA, '--name', 'killed', '--num-turns', String(TURNS), '--limit', String(ROLLOUTS)];
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

/** So many turns are in the store: what a fast machine prints says nothing of that. */
const untilTurns = (turns: number) =>
  until('some turns', () => turnsIn(join(everturn.folder, 'runs/killed')) >= turns, 240_000);
/** Of rollouts in flight, which are files, and of ended ones, which are lines. */
function turnsIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const lines = names
    .filter((name) => /^ended\/.*\.jsonl$/.test(name))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1));
  const files = names.filter((name) => /turn-\d+\.json$/.test(name)).length;
  return [...new Set(lines)].join('').split('"format":"everturn-turn/1"').length - 1 + files;
}

describe('a run with the local service', () => {
  test(
    'survives a kill -9 of worker, server and command line and a Ctrl-C, and the same command goes on',
    { timeout: 900_000 },
    async () => {
      console.log(`KILL_SEED=${SEED}`);
      const first = everturn.start(...RUN, '--max-concurrent', '8', '--seed', '7');
      await untilTurns(1);
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      await sleep(rand() * 1000);
      process.kill(everturn.service()!.server!.pid, 'SIGKILL');
      await sleep(rand() * 2000);
      first.child.kill('SIGKILL');
      await first.ended;
      const second = everturn.start(...RUN, '--max-concurrent', '8', '--seed', '7');
      // A slow machine may have played the run to its end before the command is there.
      const attached = () => second.output().includes('(attached: it is running)') && 130;
      const left = await until('the command attaches', () => attached() || second.child.exitCode, 500_000);
      second.child.kill('SIGINT');
      expect((await second.ended).code, second.output()).toBe(left);
      const third = await everturn.run(...RUN, '--max-concurrent', '8', '--seed', '7');
      const failures = third.code === 0 ? '' : (await everturn.run('why', 'killed')).stdout;
      expect(third.code, failures + third.stderr).toBe(0);

      await everturn.mustCall('check', 'killed');
      expect(turnsIn(join(everturn.folder, 'runs/killed'))).toBe(ROLLOUTS * TURNS);
      const logs = join(everturn.folder, 'runs/killed/answers/0');
      const lines = readdirSync(logs)
        .filter((f) => f.endsWith('.jsonl'))
        .flatMap((f) => readFileSync(join(logs, f), 'utf8').trim().split('\n'));
      expect(lines).toHaveLength(ROLLOUTS * TURNS);
    },
  );
});
