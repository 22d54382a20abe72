// How long a lease and an acknowledgement of 256 groups take, after no group and after a million of them were trained. In a
// home of its own, with a real Temporal server and a worker from dist/.
//   npm run build && npx vitest bench --run test/bench/feed.bench.ts

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench } from 'vitest';
import type { FeedEntry } from '../../domain/feed/entry.ts';
import type { LeaseResult } from '../../domain/feed/messages.ts';
import { noCounts } from '../../domain/run/progress.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { ensureService, stopService } from '../../local/service/service.ts';
import { openFileStore } from '../../records/file-store.ts';
import { hashQueries } from '../../records/run/queries.ts';
import type { Store } from '../../records/store.ts';
import { connect, type Session } from '../../client/temporal/connection.ts';
import { callFeed, feedProgressOf, startFeed } from '../../client/temporal/feed.ts';
import { aQuery, aRunRecord, play, RUN, someSettings } from '../records/play.ts';

const GROUPS = 256;
const ROUNDS = 9;
const QUERIES = GROUPS * (ROUNDS + 1);
const TOKENS = 10;
const EPOCHS = Math.ceil(1e6 / QUERIES) + 1;

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

bench(
  'a lease and its acknowledgement',
  async () => {
    const folder = mkdtempSync(join(process.env['EVERTURN_BENCH_OUT'] ?? tmpdir(), 'everturn-feed-'));
    const env = { ...process.env, EVERTURN_HOME: join(folder, 'home'), EVERTURN_UI: 'off' };
    const { address } = await ensureService({ env, onProgress: () => {} });
    const session = await connect({ address, namespace: 'default' });
    try {
      for (const before of [0, (EPOCHS - 1) * QUERIES]) await measure(session, env, join(folder, `${before}`), before);
    } finally {
      await session.close();
      await stopService(env);
      rmSync(folder, { recursive: true, force: true });
    }
  },
  { iterations: 1, warmupIterations: 0, time: 0, warmupTime: 0 },
);

async function measure(session: Session, env: NodeJS.ProcessEnv, out: string, before: number): Promise<void> {
  const run = `${RUN}-${before}`;
  const store = openFileStore(out, run);
  await fill(store, run, before);
  registerRun(homeOf(env), { folder: store.folder, ...someSettings() });
  const place = { run, out };
  await startFeed(session, place);
  while (((await feedProgressOf(session, place))?.ready ?? 0) < QUERIES) await sleep(200);
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    const { lease } = await callFeed<LeaseResult>(session, place, 'lease', { consumer: 'bench', groups: GROUPS });
    await callFeed(session, place, 'acknowledge', { lease: lease!.id, version: round + 1 });
    took.push(performance.now() - begun);
    await callFeed(session, place, 'version', { version: round + 1 });
  }
  console.log(`after ${before} groups: lease and acknowledge ${GROUPS} in ${took.map(Math.round).join(', ')} ms`);
  console.log(`  median ${median(took).toFixed(1)} ms (wanted: below 100)`);
}

/** `before` groups were trained; those of the epoch after them are there to be leased. */
async function fill(store: Store, run: string, before: number): Promise<void> {
  const queries = Array.from({ length: QUERIES }, (_, i) => aQuery(`q${i}`));
  await store.putQueries(queries);
  const { sha256, accepted } = await hashQueries(queries);
  const epoch = before / QUERIES;
  const settings = someSettings({ numTurns: 1 });
  const dataset = { path: 'q.jsonl', sha256, accepted, refused: 0 };
  await store.put('run', null, aRunRecord(run, settings, { dataset, epochs: epoch + 1 }));
  if (before > 0) {
    const trained = { lease: `${run}~x`, consumer: 'x', groups: [[0, before - 1]], leasedAt: 0, version: 1 };
    const entry = { kind: 'trained', number: 1, previous: null, at: 0, ...trained } as unknown as FeedEntry;
    await store.put('feed', null, entry);
  }
  const outputIds = Array.from({ length: TOKENS }, (_, i) => 3 + (i % 600));
  const answer = {
    outputIds,
    logprobs: outputIds.map((id) => -id / 1000),
    versions: [{ version: 0, start: 0, end: TOKENS }],
  };
  for (let at = 0; at < QUERIES; at += 64) {
    const page = queries.slice(at, at + 64);
    await Promise.all(
      page.map((query, i) =>
        play(store, { query, index: at + i, sample: epoch, settings, verdicts: ['right'], turn: () => answer }),
      ),
    );
  }
  await store.put('result', null, { run, total: QUERIES, cancelled: false, numTurns: 1, counts: noCounts() });
}
