// A run whose rollouts have ended: files, megabytes on disk, and seconds to read, export and check it, in one run on one
// machine. It is written without fsync. Reads are warm: what was just written is in memory. LOOSE=1: of rollouts that are
// still files, for comparison.
//   ROLLOUTS=2400 npx vitest bench --run --project near test/bench/ended.bench.ts

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bench } from 'vitest';
import { exporterNamed } from '../../formats/exports/index.ts';
import { checkRun } from '../../records/check/check.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { RUN } from '../records/play.ts';
import { makeRun, TURNS } from './ended-rig.ts';

const ROLLOUTS = Number(process.env['ROLLOUTS'] ?? 2400);
const LOOSE = process.env['LOOSE'] !== undefined;
const out = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'everturn-ended-bench-'));
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

const shown = (command: string): number => Number(execFileSync('sh', ['-c', command], { encoding: 'utf8' }));

async function measure(): Promise<void> {
  try {
    await makeRun(out, ROLLOUTS, { loose: LOOSE });
    const folder = join(out, RUN);
    const found = {
      files: shown(`find ${folder} -type f -not -path '*/answers/*' | wc -l`),
      mb: (shown(`du -sk ${folder} | cut -f1`) - shown(`du -sk ${folder}/answers | cut -f1`)) / 1024,
      read: [await timed(readAll), await timed(readAll)],
      export: await timed(() => exportAll()),
      parquet: await timed(() => exportAll('parquet')),
      parquetTurns: await timed(() => exportAll('parquet-turns')),
      check: await timed(checkAll),
      peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
    };
    console.log(JSON.stringify({ rollouts: ROLLOUTS, loose: LOOSE, ...found }, null, 1));
  } finally {
    rmSync(out, { recursive: true });
  }
}

bench('a run of ended rollouts', measure, { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 });
