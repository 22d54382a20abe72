// The built `everturn view` on a long run, asked as the page asks: the first rows of a fresh process, the pages of a list
// that is scrolled while the run is still read, the whole list, filters, and a turn of 32,000 tokens. Beside each wall
// time the processor time of the viewer's process, and its largest memory. The run's files are in the system's memory.
//   ROLLOUTS=100000 npx vitest bench --run --project near test/bench/viewer.bench.ts     (FORM=loose: files)

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench } from 'vitest';
import { RUN } from '../records/play.ts';
import type { RolloutMessage, RowsMessage, RunMessage, TokensMessage } from '../../viewer/model/messages.ts';
import { LONG_TOKENS, longOf, makeViewedRun } from './viewer-rig.ts';

const ROLLOUTS = Number(process.env['ROLLOUTS'] ?? 10_000);
const FORM = process.env['FORM'] === 'loose' ? 'loose' : 'ended';
/** A run made once for several measurements; default: made, and removed. */
const KEPT = process.env['BENCH_RUNS'];
const NODE_OPTIONS = process.env['VIEW_NODE_OPTIONS']?.split(' ') ?? [];
const CLI = process.env['VIEW_CLI'] ?? join(import.meta.dirname, '../../dist/cli/index.js');
/** Of the page: rows asked for at once, and the wait while a run is still read. */
const [PAGE, READING_MS] = [100, 700];
const TICKS_PER_S = 100;

interface Viewer {
  readonly process: ChildProcess;
  readonly url: string;
  get<T>(path: string): Promise<T>;
  cpuS(): number;
}

async function startViewer(out: string): Promise<Viewer> {
  const args = [...NODE_OPTIONS, CLI, 'view', RUN, '--out', out, '--no-open', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { origin } = new URL((JSON.parse(line) as { readonly url: string }).url);
  const get = async <T>(path: string): Promise<T> => {
    const ask = () => fetch(`${origin}${path}`, { headers: { 'accept-encoding': 'gzip' } });
    // A connection that the server closes as it is used again: browsers ask once more too.
    const response = await ask().catch(ask);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
    return (path.startsWith('/api/') ? JSON.parse(text) : text) as T;
  };
  const cpuS = () => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
  };
  return { process: child, url: origin, get, cpuS };
}

const api = (question: string, ...args: unknown[]): string =>
  `/api/${question}?args=${encodeURIComponent(JSON.stringify([RUN, ...args]))}`;
const rowsAt = (from: number, filter = '', sort = ''): string => api('rows', { filter, sort }, from, PAGE);
const rounded = (n: number): number => Math.round(n * 1000) / 1000;

async function measure(): Promise<void> {
  const out = KEPT ?? mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'everturn-viewer-bench-'));
  try {
    if (!existsSync(join(out, RUN))) await makeViewedRun(out, ROLLOUTS, FORM);
    const began = performance.now();
    const viewer = await startViewer(out);
    const started = { s: rounded((performance.now() - began) / 1000), cpuS: viewer.cpuS() };
    try {
      const found = await ask(viewer);
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${viewer.process.pid}/status`, 'utf8'))?.[1];
      const facts = { rollouts: ROLLOUTS, form: FORM, load: loadavg().map(rounded), started };
      console.log(JSON.stringify({ ...facts, ...found, peakMb: Math.round(Number(peak) / 1024) }, null, 1));
    } finally {
      viewer.process.kill('SIGINT');
      await once(viewer.process, 'exit');
    }
  } finally {
    if (KEPT === undefined) rmSync(out, { recursive: true });
  }
}

async function ask(viewer: Viewer) {
  async function timed(work: () => Promise<unknown>) {
    const [began, cpu] = [performance.now(), viewer.cpuS()];
    await work();
    return { s: rounded((performance.now() - began) / 1000), cpuS: rounded(viewer.cpuS() - cpu) };
  }
  const rows = (from: number, filter?: string, sort?: string) => viewer.get<RowsMessage>(rowsAt(from, filter, sort));
  const firstRows = async (): Promise<void> => {
    for (const path of ['/', '/page.js', '/page.css', api('run')]) await viewer.get(path);
    while ((await rows(0)).rows.length === 0) await sleep(READING_MS);
  };
  const coldRows = await timed(firstRows);
  // A person scrolls while the run is still read; the page asks for its state.
  const whileRead: number[] = [];
  const states: number[] = [];
  let glancedS = 0;
  const whole = await timed(async () => {
    const began = performance.now();
    for (let n = 0; ; n++) {
      const asked = performance.now();
      const { count } = await rows((n * 7919) % ROLLOUTS);
      whileRead.push(performance.now() - asked);
      if (count === ROLLOUTS) {
        glancedS = (performance.now() - began) / 1000;
        break;
      }
      if (n % 7 === 0) {
        const before = performance.now();
        await viewer.get<RunMessage>(api('run'));
        states.push(performance.now() - before);
      }
      await sleep(READING_MS / 7);
    }
  });
  const longest = (ms: readonly number[]) => rounded(Math.max(0, ...ms) / 1000);
  // Its numbers are counted while a person scrolls on.
  let counted = false;
  const whileCounted: number[] = [];
  const scroll = async (): Promise<void> => {
    for (let n = 0; !counted; n++) {
      const began = performance.now();
      await rows((n * 7919) % ROLLOUTS);
      whileCounted.push(performance.now() - began);
      await sleep(20);
    }
  };
  const scrolling = scroll();
  const state = [await timed(() => viewer.get(api('run'))), await timed(() => viewer.get(api('')))];
  counted = true;
  await scrolling;
  const warmRows = await timed(firstRows);
  const pages = Array.from({ length: 20 }, (_, i) => ((i * 7919) % (ROLLOUTS / PAGE)) * PAGE);
  const times: number[] = [];
  const scrolled = await timed(async () => {
    for (const from of pages) {
      const began = performance.now();
      if ((await rows(from)).rows.length !== PAGE) throw new Error('a page is not whole');
      times.push(performance.now() - began);
    }
  });
  const place = { query: `q${longOf(ROLLOUTS)}`, sample: 0, attempt: 1 };
  const list = { filter: '', sort: '' };
  const turn = async (): Promise<void> => {
    const { turns } = await viewer.get<RolloutMessage>(api('rollout', place, list));
    const { output } = await viewer.get<TokensMessage>(api('tokens', place, 1));
    if (turns[0]?.outputTokens !== LONG_TOKENS || output.texts.length === 0) throw new Error('not the long turn');
  };
  return {
    coldRows,
    wholeList: {
      ...whole,
      glancedS: rounded(glancedS),
      longestPageS: longest(whileRead),
      longestStateS: longest(states),
    },
    state,
    longestPageWhileCountedS: longest(whileCounted),
    warmRows,
    pages20: { ...scrolled, longestS: longest(times) },
    filter: await timed(() => rows(0, 'right@1:yes tokens<1000')),
    filterNextPage: await timed(() => rows(PAGE, 'right@1:yes tokens<1000')),
    sort: await timed(() => rows(0, '', '-tokens')),
    queries: await timed(() => viewer.get(api('queries', 'all', 0, 100))),
    longTurn: [await timed(turn), await timed(turn)],
  };
}

bench('the viewer on a long run', measure, { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 });
