// The promise: a trainer on a feed trains each group once along the surviving line of its weights, whoever is killed:
// the trainer (which may lose its last checkpoints with it), workers, the Temporal server, the feed's server and command
// lines. The trainer's own log, its last checkpoint, the feed's ledger and `check` say the same.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { addEntry, emptyLine } from '../../domain/feed/entry.ts';
import { groupId, groupPlace } from '../../domain/samples/group.ts';
import { eachNumber } from '../../domain/feed/number-set.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import { until } from '../support/until.ts';
import { type Kept, keepNode } from './kept.ts';
import { kill } from './nemesis.ts';
import { randomOf, SEED } from './seed.ts';
import { FULL } from './size.ts';
import { useWorkload, type Workload } from './workload.ts';

const QUERIES = Number(process.env['CHAOS_GROUPS'] ?? (FULL ? 2000 : 60)) / 2;
const EPOCHS = 2;
const SAMPLES = 2;
const KILLS = Number(process.env['CHAOS_KILLS'] ?? (FULL ? 100 : 8));
const BATCH = FULL ? 8 : 4;
const RUN = 'fed';

let workload: Workload;
useWorkload(
  { file: import.meta.filename, workers: 2, slots: 32, model: { kind: 'sglang', latencyMs: 20 } },
  (opened) => (workload = opened),
);
const kept: Kept[] = [];
afterAll(() => Promise.all(kept.map((one) => one.stop())));

interface Step {
  readonly version: number;
  readonly groups: readonly string[];
  readonly ids: readonly string[];
}

describe('a feed under kills', () => {
  test(
    `${QUERIES * EPOCHS} groups and ${KILLS} kills: each group once along the surviving line, none lost`,
    { timeout: 3_600_000 },
    async () => {
      const trainer = join(workload.folder, 'trainer');
      mkdirSync(trainer);
      const flags = ['--samples', String(SAMPLES), '--epochs', String(EPOCHS), '--train', '--max-staleness', '2'];
      const run = { name: RUN, rollouts: QUERIES, turns: 1, maxConcurrent: FULL ? 32 : 16 };
      await workload.start({ ...run, flags: [...flags, '--batch-groups', String(BATCH)] });
      const folder = join(workload.out, RUN);
      startTrainer(trainer, folder);
      const begun = Date.now();
      const { kills, lost } = await torment(trainer);
      await until('the trainer has finished', () => finished(trainer), 3_000_000);
      writeFileSync(join(trainer, 'stop'), '');
      await until('the run has its result', () => existsSync(join(folder, 'result.json')), 60_000);

      const wanted = expectedGroups();
      const logged = survivingSteps(trainer);
      expect(logged.flatMap(({ groups }) => groups).sort()).toEqual(wanted);
      const ids = logged.flatMap((step) => step.ids);
      expect([ids.length, new Set(ids).size]).toEqual([wanted.length * SAMPLES, wanted.length * SAMPLES]);

      const store = openFileStore(workload.out, RUN);
      const line = emptyLine();
      const entries = await store.countFeedEntries();
      for (let n = 1; n <= entries; n++) addEntry(line, (await store.get('feed', n))!.record);
      const shape = { queries: QUERIES, samples: SAMPLES };
      const queries = (await store.readQueries(0, QUERIES)).map(({ queryId }) => queryId);
      const ledger = line.acknowledged.map(({ version, groups }) => ({
        version,
        groups: [...eachNumber(groups)].map((group) => {
          const { index, epoch } = groupPlace(shape, group);
          return groupId(queries[index]!, epoch);
        }),
      }));
      expect(ledger).toEqual(logged.map(({ version, groups }) => ({ version, groups })));

      const { feed } = await checkRun(store, (breach) => expect.fail(JSON.stringify(breach)));
      expect(feed).toMatchObject({ trained: wanted.length, entries });
      const seconds = Math.round((Date.now() - begun) / 1000);
      console.log(JSON.stringify({ seed: SEED, groups: wanted.length, kills, lost, ...feed, seconds }));
      expect(Object.values(kills).reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(KILLS);
    },
  );
});

function startTrainer(trainer: string, folder: string): void {
  const { TEMPORAL_ADDRESS: _, ...own } = process.env;
  const env = {
    ...own,
    TEMPORAL_ADDRESS: workload.temporal.address,
    EVERTURN_HOME: join(workload.everturn.folder, 'home'),
  };
  const bin = join(import.meta.dirname, '../../dist/cli/index.js');
  const config = { server: join(folder, '.feed/server.json'), folder: trainer, groups: BATCH, stepMs: FULL ? 50 : 100 };
  const script = join(import.meta.dirname, 'feed-trainer.mjs');
  const log = (name: string) => join(workload.folder, `${name}.log`);
  kept.push(
    keepNode('feed', () => [bin, 'feed', folder], env, log('feed')),
    keepNode('trainer', () => [script, JSON.stringify(config)], env, log('trainer')),
  );
}

/** Kills one after the other until there were enough, or the trainer has finished. */
async function torment(trainer: string): Promise<{ kills: Record<string, number>; lost: number }> {
  const random = randomOf('feed');
  const kills: Record<string, number> = {};
  let lost = 0;
  const [feed, training] = kept as [Kept, Kept];
  const victims: readonly (readonly [string, () => number | undefined])[] = [
    ['trainer', training.pid],
    ['trainer', training.pid],
    ['worker', () => workload.workers[Math.floor(random() * 2)]!.pid()],
    ['worker', () => workload.workers[Math.floor(random() * 2)]!.pid()],
    ['feed', feed.pid],
    ['feed', feed.pid],
    ['temporal', workload.temporal.pid],
    ['cli', () => workload.everturn.start(random() < 0.5 ? 'status' : 'check', RUN).child.pid],
  ];
  for (let n = 0; n < KILLS;) {
    // The trainer makes some progress between two kills, so that it ends at all.
    const steps = logOf(trainer).length;
    for (let i = 0; i < 300 && logOf(trainer).length < steps + 1 && !finished(trainer); i++) await sleep(100);
    await sleep(random() * 500);
    const [name, pidOf] = victims[Math.floor(random() * victims.length)]!;
    const pid = pidOf();
    if (pid === undefined) continue;
    if (name === 'cli') await sleep(random() * 1000);
    if (!(await kill(pid))) continue;
    kills[name] = (kills[name] ?? 0) + 1;
    n++;
    if (name !== 'trainer') continue;
    // Its last checkpoints may be lost with it: that is a rewind. The next life may have begun already, and dies too.
    const gone = checkpoints(trainer).slice(0, Math.floor(random() * 3));
    if (gone.length === 0) continue;
    await killLife(training);
    for (const checkpoint of gone) rmSync(join(trainer, checkpoint), { force: true });
    await killLife(training);
    lost += gone.length;
  }
  return { kills, lost };
}

async function killLife(one: Kept): Promise<void> {
  const pid = one.pid();
  if (pid !== undefined) await kill(pid);
}

function checkpoints(trainer: string): string[] {
  const versionOf = (name: string) => Number(/\d+/.exec(name)![0]);
  const names = readdirSync(trainer).filter((name) => /^checkpoint-\d+\.json$/.test(name));
  return names.sort((a, b) => versionOf(b) - versionOf(a));
}

interface Logged extends Partial<Step> {
  readonly event: 'resume' | 'step' | 'finished';
  readonly version: number;
}

function logOf(trainer: string): Logged[] {
  const path = join(trainer, 'log.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Logged]));
}

function finished(trainer: string): boolean {
  return logOf(trainer).at(-1)?.event === 'finished';
}

/** A trainer that resumes from an older checkpoint has lost the steps after it. */
function survivingSteps(trainer: string): Step[] {
  let line: Step[] = [];
  for (const { event, version, groups, ids } of logOf(trainer)) {
    if (event === 'resume') line = line.filter((step) => step.version <= version);
    if (event === 'step') line.push({ version, groups: groups!, ids: ids! });
  }
  return line;
}

function expectedGroups(): string[] {
  const text = readFileSync(join(workload.out, RUN, 'queries.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);
  const queries = text.map((line) => (JSON.parse(line) as { queryId: string }).queryId);
  return Array.from({ length: EPOCHS }, (_, epoch) => queries.map((query) => groupId(query, epoch)))
    .flat()
    .sort();
}
