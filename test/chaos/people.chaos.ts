// The promise: people who judge, note, fork, extend and speak to rollouts at random, while workers are killed with `kill -9` and
// their own commands too, lose nothing and edit nothing: `check` is green for the run and for every fork, each act that was
// acknowledged is there, and an export is byte for byte what it is without people, but for rollouts that somebody spoke to.

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { exporterNamed } from '../../formats/exports/index.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { kill } from './nemesis.ts';
import { type Random, randomOf, SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { idOf, useWorkload, type Workload } from './workload.ts';

const ROLLOUTS = sized(120);
const TURNS = 3;
const ACTS = sized(500);
const AT_ONCE = 3;
/** Turns that are stored between two kills. */
const AT_LEAST = 2;

let workload: Workload;
useWorkload(
  { file: import.meta.filename, workers: 2, slots: 32, model: { kind: 'vllm', latencyMs: FULL ? 1500 : 700 } },
  (opened) => (workload = opened),
);

afterAll(() => vi.unstubAllEnvs());

interface Told {
  /** Acts by their verb and exit code. */
  readonly codes: Record<string, number>;
  /** Files of acts that were acknowledged. */
  readonly files: Set<string>;
  readonly forks: Set<string>;
  killed: number;
}

/** One act on a rollout that has begun; undefined where nothing has. */
async function anAct(random: Random, number: number): Promise<string[] | undefined> {
  const store = openFileStore(workload.out, 'base');
  const query = idOf(Math.floor(random() * ROLLOUTS));
  const id = (await store.listRolloutsOf(query)).at(-1);
  if (!id) return undefined;
  const ended = await store.getEnd(id);
  const turn = String(1 + Math.floor(random() * TURNS));
  const by = ['--by', random() < 0.5 ? 'anna' : 'bob', '--json'];
  const dice = random();
  if (dice < 0.35) return ['verdict', 'base', query, random() < 0.5 ? 'right' : 'wrong', '--turn', turn, ...by];
  if (dice < 0.55) return ['note', 'base', query, `note ${number}`, ...(random() < 0.5 ? ['--turn', turn] : []), ...by];
  if (!ended) return ['say', 'base', query, `Look at it again, ${number}.`, ...by];
  const name = ['--name', `fork-${number}`, '--detach', ...by];
  if (dice < 0.85) {
    const say = turn !== '1' && random() < 0.5 ? ['--say', 'Check the sign.'] : [];
    return [
      'fork',
      'base',
      query,
      '--from-turn',
      turn,
      '--samples',
      String(1 + Math.floor(random() * 2)),
      ...say,
      ...name,
    ];
  }
  return dice < 0.95 ? ['extend', 'base', query, '--turns', '1', ...name] : ['retry', 'base', query, ...by];
}

/** Of the run and of its forks. */
function turnsStored(): number {
  try {
    return readdirSync(workload.out, { recursive: true }).filter((name) => /turn-\d{3}\.json$/.test(String(name)))
      .length;
  } catch {
    // A folder went while it was listed: asked again.
    return 0;
  }
}

/** Runs it; now and then it is killed half-way, and then repeated as a person would. */
async function done(args: string[], random: Random, told: Told): Promise<void> {
  if (random() < 0.15) {
    const half = workload.everturn.start(...args);
    await sleep(600 + random() * 1500);
    half.child.kill('SIGKILL');
    if ((await half.ended).signal === 'SIGKILL') told.killed++;
  }
  const { code, stdout, stderr } = await workload.everturn.call(...args);
  const verb = args[0]!;
  told.codes[`${verb} ${code}`] = (told.codes[`${verb} ${code}`] ?? 0) + 1;
  // A refusal is right or wrong for that moment; anything else is a fault.
  expect([0, 2, 4], `${args.join(' ')}: ${stderr}`).toContain(code);
  if (code !== 0) return;
  if (verb === 'verdict' || verb === 'note') told.files.add((JSON.parse(stdout) as { file: string }).file);
  if (verb === 'fork' || verb === 'extend') told.forks.add(args[args.indexOf('--name') + 1]!);
}

async function exported(out: string, run: string, how: object = {}): Promise<string> {
  const file = join(workload.folder, 'export.jsonl');
  await exportRun(openFileStore(out, run), exporterNamed('areal'), file, how);
  return readFileSync(file, 'utf8');
}

describe('a run that people judge, note, fork, extend and speak to', () => {
  test(
    `stands ${ACTS} acts on ${ROLLOUTS} rollouts, and kills of workers and commands`,
    { timeout: 3_600_000 },
    async () => {
      vi.stubEnv('TEMPORAL_ADDRESS', workload.temporal.address);
      const random = randomOf('people');
      const told: Told = { codes: {}, files: new Set(), forks: new Set(), killed: 0 };
      const run = { name: 'base', rollouts: ROLLOUTS, turns: TURNS, maxConcurrent: FULL ? 16 : 6 };
      await workload.start(run);
      let over = false;
      let kills = 0;
      const killing = (async () => {
        const of = randomOf('kills');
        while (!over) {
          const worker = workload.workers[Math.floor(of() * workload.workers.length)]!;
          // A worker that is killed while it starts would never work; on a busy machine nothing would ever be played.
          await worker.ready();
          for (const before = turnsStored(); !over && turnsStored() < before + AT_LEAST;) await sleep(200);
          await sleep(of() * 3000);
          const pid = worker.pid();
          if (!over && pid !== undefined && (await kill(pid))) kills++;
        }
      })();
      let acts = 0;
      let asked = 0; // several people ask at once: a name is one's own
      const act = async (until: number) => {
        while (acts < until) {
          const args = await anAct(random, asked++);
          if (!args) await sleep(100);
          else {
            acts++;
            await done(args, random, told);
          }
        }
      };
      const people = (until: number) => Promise.all(Array.from({ length: AT_ONCE }, () => act(until)));
      // The first half meets rollouts in flight, the second ended ones: forks need these.
      await people(ACTS / 2);
      await workload.untilEnded('base', 2_700_000);
      await people(ACTS);
      over = true;
      await killing;
      for (const name of ['base', ...told.forks]) await workload.untilEnded(name, 2_700_000);

      const spoken = new Set<string>();
      for await (const { rollout, end } of readTrajectories(openFileStore(workload.out, 'base')))
        if (end?.said) spoken.add(rollout.query.queryId);
      console.log(
        JSON.stringify({
          seed: SEED,
          acts,
          kills,
          ...told,
          files: told.files.size,
          forks: told.forks.size,
          spoken: spoken.size,
        }),
      );
      for (const name of ['base', ...told.forks]) {
        const { code, stdout } = await workload.everturn.call('check', name);
        expect(code, `${name}: ${stdout}`).toBe(0);
      }
      for (const file of told.files) expect(existsSync(join(workload.out, 'base', file)), file).toBe(true);

      // The same run without its people's verdicts, notes and forks exports the same bytes.
      const bare = mkdtempSync(join(workload.folder, 'bare-'));
      cpSync(join(workload.out, 'base'), join(bare, 'base'), { recursive: true });
      rmSync(join(bare, 'base', 'steering'), { recursive: true, force: true });
      expect(await exported(workload.out, 'base')).toBe(await exported(bare, 'base'));
      // By default nobody's messages are in it, and asked for, all are.
      const lines = (text: string) => text.split('\n').filter(Boolean).length;
      const all = lines(await exported(workload.out, 'base', { humanTurns: 'include' }));
      expect(all - lines(await exported(workload.out, 'base'))).toBe(spoken.size);
      // Forks hold own turns alone: a turn is trained on in one run only.
      for (const name of told.forks) await exported(workload.out, name, { humanTurns: 'include' });
      expect(told.files.size).toBeLessThanOrEqual(readdirSync(join(workload.out, 'base', 'steering')).length);
      expect(kills).toBeGreaterThan(0);
      expect(told.files.size).toBeGreaterThan(0);
      expect(told.forks.size).toBeGreaterThan(0);
    },
  );
});
