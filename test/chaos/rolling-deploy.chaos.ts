// The promise: workers are swapped one after the other for those of the next release, back and forth, through two
// releases that change what a rollout does, while rollouts begin, play and end. None is stuck, none fails, and each
// turn is there once. The procedure is CONTRIBUTING.md's, "Changing a workflow".

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { TINY_FOLDER } from '../support/tiny.ts';
import { checkRun } from './checker.ts';
import { buildReleases, type Release } from './releases.ts';
import { SEED } from './seed.ts';
import { FULL, sized } from './size.ts';
import { idOf, useWorkload, type Workload } from './workload.ts';

const RUN = 'deployed';
const ROLLOUTS = sized(500);
const TURNS = 4;
const WORKERS = FULL ? 3 : 2;
/** In between, rollouts begin. */
const SWAP_EVERY_MS = FULL ? 30_000 : 1_000;
/** A swap is a worker and its new release. `drain`: until no rollout is open that the release before this began. */
const SWAPS: readonly (readonly [worker: number, to: Release] | 'drain')[] = [
  [0, 'current'],
  [0, 'previous'],
  [0, 'current'],
  ...Array.from({ length: WORKERS - 1 }, (_, i) => [i + 1, 'current'] as const),
  'drain',
  ...(FULL
    ? ([
        [0, 'next'],
        [0, 'current'],
      ] as const)
    : []),
  ...Array.from({ length: WORKERS }, (_, i) => [i, 'next'] as const),
];

const folder = mkdtempSync(join(tmpdir(), 'everturn-releases-'));
const serving: Release[] = Array.from({ length: WORKERS }, () => 'previous');
let bins: Readonly<Record<Release, string>>;
// After the workload's end: hooks run backwards.
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let workload: Workload;
useWorkload(
  async () => {
    bins = await buildReleases(folder);
    return {
      file: import.meta.filename,
      workers: WORKERS,
      slots: 48,
      model: { kind: 'sglang', latencyMs: FULL ? 8000 : 800 },
      bin: (worker) => bins[serving[worker]!],
      // These rollouts are begun by a client of its own: only folders that the operator names.
      env: { EVERTURN_RUNS_UNDER: tmpdir(), EVERTURN_ALLOWED_MODELS: TINY_FOLDER },
    };
  },
  (opened) => (workload = opened),
);

describe('a rolling deploy', () => {
  test(
    `ends no rollout: ${ROLLOUTS} outlive ${SWAPS.length - 1} swaps of ${WORKERS} workers between three releases`,
    { timeout: FULL ? 1_800_000 : 180_000 },
    async () => {
      const { client } = workload.session;
      const results: Promise<unknown>[] = [];
      const begin = async (i: number) => {
        const workflowId = `${RUN}/${idOf(i)}/0`;
        const row = { query_id: idOf(i), question: `What is ${i} - ${i}?`, answer: '0' };
        const settings = {
          model: workload.model.spec,
          tokenizer: TINY_FOLDER,
          numTurns: TURNS,
          maxNewTokens: 64,
          seed: 7,
        };
        const args = [{ run: RUN, out: workload.out, row, settings }];
        const handle = await client.workflow.start('rollout', { workflowId, taskQueue: 'everturn', args });
        results.push(handle.result());
      };
      // They begin evenly over all swaps, and the last ones when all is done.
      let begun = 0;
      const beginSome = async (share: number) => {
        for (const end = Math.round(ROLLOUTS * share); begun < end; begun++) {
          await begin(begun);
          await sleep((SWAP_EVERY_MS * (SWAPS.length + 1)) / ROLLOUTS);
        }
      };

      for (const [i, swap] of SWAPS.entries()) {
        await beginSome((i + 1) / (SWAPS.length + 1));
        if (swap === 'drain') {
          await untilNoneBegan(new Date());
          continue;
        }
        const [worker, release] = swap;
        serving[worker] = release;
        await workload.workers[worker]!.stop('SIGTERM');
        workload.workers[worker]!.start();
        await workload.workers[worker]!.ready();
      }
      await beginSome(1);
      const begunAll = Date.now();
      const ended = await Promise.race([Promise.all(results), sleep(FULL ? 120_000 : 60_000, 'stuck', { ref: false })]);
      const endMs = Date.now() - begunAll;
      expect(ended).not.toBe('stuck');

      const seen = await historiesOf();
      const checked = await checkRun(workload, { name: RUN, rollouts: ROLLOUTS, turns: TURNS });
      console.log(JSON.stringify({ seed: SEED, rollouts: ROLLOUTS, endMs, ...seen, duplicates: checked.duplicates }));
      expect(checked.problems).toEqual([]);
      // Each kind of rollout was there, and some were played by more than one release.
      for (const kind of ['without', 'patched', 'deprecated'] as const) expect(seen[kind]).toBeGreaterThan(0);
      expect(seen.severalReleases).toBeGreaterThan(0);
      expect(workload.workers.flatMap(({ crashes }) => crashes)).toEqual([]);
    },
  );
});

/** The rule by which a patch may go. */
async function untilNoneBegan(before: Date): Promise<void> {
  const query = `WorkflowType = "rollout" AND ExecutionStatus = "Running" AND StartTime < "${before.toISOString()}"`;
  while ((await workload.session.client.workflow.count(query)).count > 0) await sleep(200);
}

interface Seen {
  /** Rollouts that play the old way, have the patch, have it as deprecated. */
  readonly without: number;
  readonly patched: number;
  readonly deprecated: number;
  readonly severalReleases: number;
  /** Workflow tasks that a worker refused, since it does not know the patch. */
  readonly refused: number;
  /** From a refusal to a worker that knows it. */
  readonly longestRefusedMs: number;
  readonly longestMs: number;
}

async function historiesOf(): Promise<Seen> {
  const seen = {
    without: 0,
    patched: 0,
    deprecated: 0,
    severalReleases: 0,
    refused: 0,
    longestRefusedMs: 0,
    longestMs: 0,
  };
  for (let i = 0; i < ROLLOUTS; i++) {
    const { events } = await workload.session.client.workflow.getHandle(`${RUN}/${idOf(i)}/0`).fetchHistory();
    const builds = new Set<string>();
    let refusedAt: number | undefined;
    let kind: 'without' | 'patched' | 'deprecated' = 'without';
    for (const event of events ?? []) {
      const build = event.workflowTaskCompletedEventAttributes?.workerVersion?.buildId;
      if (build) builds.add(build);
      if (build && refusedAt) {
        seen.longestRefusedMs = Math.max(seen.longestRefusedMs, timeOf(event) - refusedAt);
        refusedAt = undefined;
      }
      if (event.workflowTaskFailedEventAttributes) {
        seen.refused++;
        refusedAt = timeOf(event);
      }
      const marker = event.markerRecordedEventAttributes;
      if (marker?.markerName !== 'core_patch') continue;
      const data = Buffer.from(marker.details!['patch-data']!.payloads![0]!.data!).toString();
      kind = (JSON.parse(data) as { deprecated: boolean }).deprecated ? 'deprecated' : 'patched';
    }
    seen[kind]++;
    if (builds.size > 1) seen.severalReleases++;
    seen.longestMs = Math.max(seen.longestMs, timeOf(events!.at(-1)!) - timeOf(events![0]!));
  }
  return seen;
}

function timeOf({ eventTime }: { readonly eventTime?: { seconds?: unknown; nanos?: unknown } | null }): number {
  return Number(eventTime!.seconds) * 1000 + Math.round(Number(eventTime!.nanos ?? 0) / 1e6);
}
