// A run as loose files and as packs: files, megabytes on disk, and seconds to read it whole, to pack, export and check it,
// in one run on one machine. Its files are written without fsync. Reads are warm: what was just written is in memory.
//   ROLLOUTS=2000 npx vitest bench --run --project near bench/pack.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench } from 'vitest';
import { exporterNamed } from '../exporters/index.ts';
import { checkRun } from '../proof/check.ts';
import { exportRun } from '../storage/export-run.ts';
import { openFileStore } from '../storage/files.ts';
import { packRun } from '../storage/pack/pack.ts';
import { readTrajectories } from '../storage/trajectories.ts';
import { RUN } from '../test/storage/play.ts';
import { makeRun, TURNS } from './pack-rig.ts';

const ROLLOUTS = Number(process.env['ROLLOUTS'] ?? 2000);
const out = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'everturn-pack-bench-'));
const open = () => openFileStore(out, RUN);

async function timed(work: () => Promise<unknown>): Promise<{ readonly s: number; readonly cpuS: number }> {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  const rounded = (seconds: number) => Math.round(seconds * 100) / 100;
  return { s: rounded((performance.now() - began) / 1000), cpuS: rounded((user + system) / 1e6) };
}

async function readAll(): Promise<void> {
  let count = 0;
  for await (const { turns } of readTrajectories(open())) count += turns.length;
  if (count !== ROLLOUTS * TURNS) throw new Error(`${count} turns`);
}

async function exportAll(format = 'rows'): Promise<void> {
  const { exported } = await exportRun(open(), exporterNamed(format), join(out, 'export.jsonl'));
  if (exported !== ROLLOUTS) throw new Error(`${exported} exported`);
  rmSync(join(out, 'export.jsonl'));
}

async function checkAll(): Promise<void> {
  await checkRun(open(), ({ path, problem }) => {
    throw new Error(`${path} ${problem}`);
  });
}

const disk = () => ({
  files: Number(execFileSync('sh', ['-c', `find ${join(out, RUN)} -type f | wc -l`], { encoding: 'utf8' })),
  mb: Number(execFileSync('sh', ['-c', `du -sk ${join(out, RUN)} | cut -f1`], { encoding: 'utf8' })) / 1024,
});

async function measure(): Promise<void> {
  try {
    await makeRun(out, ROLLOUTS);
    const loose = {
      ...disk(),
      read: [await timed(readAll), await timed(readAll)],
      export: await timed(() => exportAll()),
    };
    const pack = await timed(() => packRun(open(), { minAgeMs: 0 }));
    const packed = {
      ...disk(),
      read: [await timed(readAll), await timed(readAll)],
      export: await timed(() => exportAll()),
      parquet: await timed(() => exportAll('parquet')),
      parquetTurns: await timed(() => exportAll('parquet-turns')),
      check: await timed(checkAll),
    };
    console.log(JSON.stringify({ rollouts: ROLLOUTS, loose, pack, packed }, null, 1));
  } finally {
    rmSync(out, { recursive: true });
  }
}

bench('loose files and packs', measure, { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 });
