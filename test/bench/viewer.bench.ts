// The built `everturn view` on a long run, asked as the page asks: the first rows of a fresh process, the whole list, its
// numbers, a filter and a sort. Beside each wall time the processor time of the viewer's process, and its largest memory. The
// run stays in EVERTURN_BENCH_OUT, if it is named, for the next time.
//   ROLLOUTS=100000 npx vitest bench --run --project near test/bench/viewer.bench.ts

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench } from 'vitest';
import { RUN } from '../records/play.ts';
import type { RowsMessage } from '../../viewer/model/messages.ts';
import { cpuSeconds } from '../support/processes.ts';
import { endedRun } from './ended-rig.ts';

const ROLLOUTS = Number(process.env['ROLLOUTS'] ?? 10_000);
const KEPT = process.env['EVERTURN_BENCH_OUT'];
const CLI = process.env['VIEW_CLI'] ?? join(import.meta.dirname, '../../dist/cli/index.js');
/** Of the page: rows asked for at once, and the wait while a run is still read. */
const [PAGE, READING_MS] = [100, 700];

const api = (question: string, ...args: unknown[]): string =>
  `/api/${question}?args=${encodeURIComponent(JSON.stringify([RUN, ...args]))}`;
const rounded = (n: number): number => Math.round(n * 1000) / 1000;

async function measure(): Promise<void> {
  const folder = KEPT ?? mkdtempSync(join(tmpdir(), 'everturn-viewer-bench-'));
  try {
    const out = await endedRun(folder, ROLLOUTS);
    const args = [CLI, 'view', RUN, '--out', out, '--no-open', '--json'];
    const viewer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(createInterface(viewer.stdout), 'line')) as [string];
      const { origin } = new URL((JSON.parse(line) as { readonly url: string }).url);
      const found = await ask(origin, viewer.pid!);
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${viewer.pid}/status`, 'utf8'))?.[1];
      const facts = { rollouts: ROLLOUTS, load: loadavg().map(rounded), peakMb: Math.round(Number(peak) / 1024) };
      console.log(JSON.stringify({ ...facts, ...found }, null, 1));
    } finally {
      viewer.kill('SIGINT');
      await once(viewer, 'exit');
    }
  } finally {
    if (KEPT === undefined) rmSync(folder, { recursive: true });
  }
}

async function ask(origin: string, pid: number) {
  const get = async (path: string): Promise<unknown> => {
    const request = () => fetch(`${origin}${path}`, { headers: { 'accept-encoding': 'gzip' } });
    // A connection that the server closes as it is used again: browsers ask once more too.
    const response = await request().catch(request);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
    return path.startsWith('/api/') ? JSON.parse(text) : text;
  };
  const cpuS = () => cpuSeconds([pid]);
  async function timed(work: () => Promise<unknown>) {
    const [began, cpu] = [performance.now(), cpuS()];
    await work();
    return { s: rounded((performance.now() - began) / 1000), cpuS: rounded(cpuS() - cpu) };
  }
  const rows = async (from: number, filter = '', sort = ''): Promise<RowsMessage> =>
    (await get(api('rows', { filter, sort }, from, PAGE))) as RowsMessage;
  const firstRows = async (): Promise<void> => {
    for (const path of ['/', '/page.js', '/page.css', api('run')]) await get(path);
    while ((await rows(0)).rows.length === 0) await sleep(READING_MS);
  };
  const wholeList = async (): Promise<void> => {
    while ((await rows(0)).count < ROLLOUTS) await sleep(READING_MS / 7);
  };
  return {
    coldRows: await timed(firstRows),
    wholeList: await timed(wholeList),
    numbers: await timed(() => get(api('run'))),
    warmRows: await timed(firstRows),
    filter: await timed(() => rows(0, 'right@3:yes')),
    sort: await timed(() => rows(0, '', '-tokens')),
  };
}

bench('the viewer on a long run', measure, { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 });
