// A run as loose files and as packs: files, megabytes on disk, and the time to read it whole, in one run on one machine.
// Its files are written without fsync.
//   ROLLOUTS=2000 npx vitest bench --run bench/pack.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bench } from 'vitest';
import { logName } from '../domain/turn-log.ts';
import { openFileStore } from '../storage/files.ts';
import { packRun } from '../storage/pack/pack.ts';
import { hashQueries } from '../storage/queries.ts';
import { logPath, rolloutFolder } from '../storage/record/layout.ts';
import { encodeRecord } from '../storage/record/text.ts';
import { readTrajectories } from '../storage/trajectories.ts';
import { aQuery, putRun, RUN, someSettings, turnRecord } from '../test/storage/play.ts';

const ROLLOUTS = Number(process.env['ROLLOUTS'] ?? 2000);
const TURNS = 5;
const TOKENS = 200;
const out = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'everturn-pack-bench-'));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function make(): Promise<void> {
  const store = openFileStore(out, RUN);
  const queries = Array.from({ length: ROLLOUTS }, (_, i) => aQuery(`q${i}`));
  await putRun(store, queries);
  await hashQueries(queries);
  for (const [index, query] of queries.entries()) {
    const id = { query: query.queryId, sample: 0, attempt: 1 };
    const root = join(store.folder, rolloutFolder(id));
    const write = async (file: string, kind: 'rollout' | 'turn' | 'verdict' | 'end', record: object) => {
      const { text, hash } = await encodeRecord(kind, id, record);
      put(join(root, file), text);
      return hash;
    };
    const settings = someSettings();
    let previous = await write('rollout.json', 'rollout', { run: RUN, ...id, query, index, settings, birthTime: 1 });
    const turns: string[] = [];
    const words = Array.from({ length: TOKENS }, (_, i) => `w${(index * 31 + i * 17) % 997}`).join(' ');
    for (let turn = 1; turn <= TURNS; turn++) {
      const outputIds = Array.from({ length: TOKENS }, () => Math.floor(Math.random() * 150_000));
      const logprobs = outputIds.map(() => Math.fround(Math.log(Math.random())));
      const base = turnRecord(turn, words);
      const record = {
        ...base,
        outputIds,
        logprobs,
        contextIds: outputIds.slice(0, 40),
        outputText: words,
        answer: words,
        previous,
      };
      previous = await write(`turn-00${turn}.json`, 'turn', record);
      turns.push(previous);
      await write(`verdict-00${turn}.json`, 'verdict', {
        turn,
        verdict: 'wrong',
        reason: 'other',
        of: previous,
        tookMs: 1,
      });
    }
    const end = { outcome: 'complete', stopReason: 'max-turns', failure: null, turns, finishedAt: 9 };
    await write('end.json', 'end', { ...end, turnRewards: [], rewards: [], success: [] });
    put(join(store.folder, logPath(0, logName(id), 'txt')), `${words}\n`.repeat(TURNS));
    put(join(store.folder, logPath(0, logName(id), 'jsonl')), '{"success":false}\n'.repeat(TURNS));
  }
}

async function readAll(): Promise<{ readonly s: number; readonly cpuS: number }> {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  let count = 0;
  for await (const { turns } of readTrajectories(openFileStore(out, RUN))) count += turns.length;
  if (count !== ROLLOUTS * TURNS) throw new Error(`${count} turns`);
  const { user, system } = process.cpuUsage(cpu);
  return { s: (performance.now() - began) / 1000, cpuS: (user + system) / 1e6 };
}

const disk = () => ({
  files: Number(execFileSync('sh', ['-c', `find ${join(out, RUN)} -type f | wc -l`], { encoding: 'utf8' })),
  mb: Number(execFileSync('sh', ['-c', `du -sk ${join(out, RUN)} | cut -f1`], { encoding: 'utf8' })) / 1024,
});

async function measure(): Promise<void> {
  try {
    await make();
    const loose = disk();
    const readLoose = [await readAll(), await readAll()];
    const began = performance.now();
    await packRun(openFileStore(out, RUN), { minAgeMs: 0 });
    const packS = (performance.now() - began) / 1000;
    const readPacked = [await readAll(), await readAll()];
    console.log(JSON.stringify({ rollouts: ROLLOUTS, loose, readLoose, packS, packed: disk(), readPacked }, null, 1));
  } finally {
    rmSync(out, { recursive: true });
  }
}

bench('loose files and packs', measure, { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 });
