// Asynchronous against batch-synchronous training, over the product: the same run with --max-staleness 8 and 0, a real
// Temporal, worker, feed and admission, and a trainer that takes TRAIN_MS for a step. Eight mock servers answer with
// log-normal lengths (sigma 1.2), the same for both, a token at a fixed speed. Leaves out learning: nothing is trained.
//   npm run build && npx vitest bench --run test/bench/async.bench.ts

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench } from 'vitest';
import { openBatch } from '../../client/feed/feed-rows.ts';
import type { GrantedLease, LeaseResult } from '../../domain/feed/messages.ts';
import type { NeutralRow } from '../../domain/samples/neutral-row.ts';
import { ensureService, stopService } from '../../local/service/service.ts';
import { openFileStore } from '../../records/file-store.ts';
import { connect, type Session } from '../../client/temporal/connection.ts';
import { callFeed, startFeed } from '../../client/temporal/feed.ts';
import { answerIds, startModel } from './overhead-rig.ts';

const SERVERS = 8;
const GROUPS = 8;
const SAMPLES = 4;
/** As many as a synchronous step has: both have the same places on the servers. */
const IN_FLIGHT = GROUPS * SAMPLES;
const MEDIAN_TOKENS = 64;
const SIGMA = 1.2;
const MS_PER_TOKEN = Number(process.env['BENCH_MS_PER_TOKEN'] ?? 25);
const TRAIN_MS = 1000;
const STALENESS = Number(process.env['BENCH_STALENESS'] ?? 8);
const STEPS = { sync: 3, async: 12 };
const BIN = join(import.meta.dirname, '../../dist/cli/index.js');

bench(
  'asynchronous against batch-synchronous',
  async () => {
    const folder = mkdtempSync(join(process.env['EVERTURN_BENCH_OUT'] ?? tmpdir(), 'everturn-async-'));
    const env = { ...process.env, EVERTURN_HOME: join(folder, 'home'), EVERTURN_UI: 'off' };
    const ids = await answerIds();
    const variables = { DELAY_MS: String(MS_PER_TOKEN), LENGTHS: `${MEDIAN_TOKENS},${SIGMA}` };
    const servers = await Promise.all(Array.from({ length: SERVERS }, () => startModel(ids, variables)));
    const { address } = await ensureService({ env, onProgress: () => {} });
    const session = await connect({ address, namespace: 'default' });
    try {
      const data = join(folder, 'questions.jsonl');
      const rows = Array.from({ length: 400 }, (_, i) => ({
        query_id: `q${i}`,
        question: `6 times ${i}?`,
        answer: '41',
      }));
      writeFileSync(data, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const model = `sglang:${servers.map(({ url }) => url).join(',')}`;
      const start = (run: string, staleness: number) => {
        const args = ['run', data, '--name', run, '--model', model, '--fleet-policy', 'least_requests', '--detach'];
        const sizes = ['--samples', String(SAMPLES), '--num-turns', '1', '--max-new-tokens', '1024', '--seed', '7'];
        const pace = ['--train', '--batch-groups', String(GROUPS), '--max-staleness', String(staleness)];
        const most = [
          '--max-concurrent',
          String(IN_FLIGHT),
          '--tokenizer',
          join(import.meta.dirname, '../../models/tiny'),
        ];
        const done = spawnSync(process.execPath, [BIN, ...args, ...sizes, ...pace, ...most], { cwd: folder, env });
        if (done.status !== 0) throw new Error(String(done.stderr));
      };
      const sync = await train(session, folder, 'sync', STEPS.sync, () => start('sync', 0));
      const async = await train(session, folder, 'async', STEPS.async, () => start('async', STALENESS));
      const ratio = async.samplesPerSecond / sync.samplesPerSecond;
      console.log(`synchronous ${say(sync)}\nasynchronous (staleness up to ${STALENESS}) ${say(async)}`);
      console.log(`ratio ${ratio.toFixed(2)} (wanted: at least 2.77)`);
    } finally {
      await session.close();
      await stopService(env);
      for (const server of servers) server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 },
);

interface Trained {
  readonly samplesPerSecond: number;
  readonly seconds: number;
  readonly steps: readonly number[];
  /** Share of the places on the servers that were taken, on average. */
  readonly busy: number;
}

const say = ({ samplesPerSecond, seconds, steps, busy }: Trained): string =>
  `${samplesPerSecond.toFixed(2)} samples/s: ${steps.length} steps in ${seconds.toFixed(1)} s ` +
  `(${steps.map((s) => s.toFixed(1)).join(', ')}), ${(busy * 100).toFixed(0)} % of the places taken`;

/** Timed from the moment in which the run was accepted, until the last step is published. */
async function train(session: Session, out: string, run: string, steps: number, start: () => void): Promise<Trained> {
  start();
  const begun = performance.now();
  const place = { run, out: join(out, 'runs') };
  await startFeed(session, place);
  const took: number[] = [];
  let tokens = 0;
  let at = begun;
  for (let version = 1; version <= steps; version++) {
    let granted: LeaseResult;
    do {
      const asked = { consumer: 'bench', groups: GROUPS, wait: 20, request: `${version}` };
      granted = await callFeed<LeaseResult>(session, place, 'lease', asked, 20_000);
    } while (granted.lease === null);
    await sleep(TRAIN_MS);
    await callFeed(session, place, 'acknowledge', { lease: granted.lease.id, version });
    await callFeed(session, place, 'version', { version });
    took.push((performance.now() - at) / 1000);
    at = performance.now();
    tokens += await tokensOf(place, granted.lease);
  }
  const seconds = (at - begun) / 1000;
  spawnSync(process.execPath, [BIN, 'cancel', run], {
    cwd: out,
    env: { ...process.env, EVERTURN_HOME: join(out, 'home') },
  });
  const samples = steps * GROUPS * SAMPLES;
  return {
    samplesPerSecond: samples / seconds,
    seconds,
    steps: took,
    busy: (tokens * MS_PER_TOKEN) / 1000 / seconds / IN_FLIGHT,
  };
}

async function tokensOf(
  { run, out }: { readonly run: string; readonly out: string },
  lease: GrantedLease,
): Promise<number> {
  const store = openFileStore(out, run);
  const batch = await openBatch(store, { run, queries: await store.countQueries(), samples: SAMPLES }, lease);
  let tokens = 0;
  for await (const line of batch.lines()) {
    const { response_mask: mask } = JSON.parse(line) as NeutralRow;
    tokens += mask.filter((sampled) => sampled === 1).length;
  }
  return tokens;
}
