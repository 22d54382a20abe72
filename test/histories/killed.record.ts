// What workers and server die of: histories of a run whose worker processes and Temporal server are killed with
// kill -9 again and again. Kept are those in which most kinds of trouble are to be seen.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, test } from 'vitest';
import { kill, killWorkers } from '../chaos/nemesis.ts';
import { randomOf } from '../chaos/seed.ts';
import { openWorkload, type Workload } from '../chaos/workload.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { isRecorded, keepHistory } from './history-file.ts';
import { RELEASE } from './recorder.ts';

const NAMES = [...[1, 2, 3, 4].map((n) => `rollout-killed-${n}`), ...[1, 2].map((n) => `collection-killed-${n}`)];
const RUN = 'killed';
const QUERIES = 20;

let workload: Workload;
const wanted = NAMES.filter((name) => !isRecorded(name));
beforeAll(async () => {
  if (wanted.length === 0) return;
  workload = await openWorkload({
    file: import.meta.filename,
    workers: 2,
    slots: 8,
    model: { kind: 'sglang', latencyMs: 800 },
  });
});
afterAll(() => workload?.close(false));

type History = Parameters<typeof keepHistory>[2];

test.skipIf(wanted.length === 0)('histories of a run under kills', { timeout: 600_000 }, async () => {
  const { client } = workload.session;
  const dataset = join(workload.folder, 'queries.jsonl');
  const rows = Array.from({ length: QUERIES }, (_, i) => ({ id: `q${i}`, question: 'What is 2 + 2?', answer: '4' }));
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const settings = { model: workload.model.spec, tokenizer: TINY_FOLDER, numTurns: 3, maxNewTokens: 64 };
  const input = { run: RUN, out: workload.out, dataset, settings, maxConcurrent: 8, maxHistoryEvents: 80 };
  await client.workflow.start('collection', { workflowId: RUN, taskQueue: 'everturn', args: [input] });
  let over = false;
  const ended = workload.untilEnded(RUN, 500_000).finally(() => (over = true));
  const random = randomOf('recorded');
  const killing = killWorkers(workload, { random, kills: 40, perPhase: 4, gapMs: 600, over: () => over });
  const killingServer = (async () => {
    for (; !over; await sleep(15_000)) await kill(workload.temporal.pid() ?? 0);
  })();
  await ended;
  await Promise.all([killing, killingServer]);
  await sleep(3000);

  const histories: History[] = [];
  for await (const { workflowId, runId } of client.workflow.list()) {
    histories.push(await client.workflow.getHandle(workflowId, runId).fetchHistory());
  }
  for (const workflow of ['rollout', 'collection']) {
    const names = wanted.filter((name) => name.startsWith(workflow));
    const own = histories.filter((h) => typeOf(h) === workflow);
    mostTroubled(own, names.length).forEach((history, i) => keepHistory(RELEASE, names[i]!, history));
  }
});

const typeOf = ({ events }: History) => events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;

/** Each next one has the most kinds of trouble that those before it lack. */
function mostTroubled(histories: readonly History[], count: number): History[] {
  const left = new Set(histories);
  const seen = new Set<string>();
  const chosen: History[] = [];
  while (chosen.length < count && left.size > 0) {
    const fresh = (h: History) => troublesOf(h).filter((t) => !seen.has(t)).length;
    const next = [...left].reduce((best, h) => (fresh(h) > fresh(best) ? h : best));
    left.delete(next);
    troublesOf(next).forEach((t) => seen.add(t));
    chosen.push(next);
  }
  return chosen;
}

/** What went wrong, and after what: a lost task after a started activity is another thing than one after a record. */
function troublesOf({ events }: History): string[] {
  const list = events ?? [];
  return [
    ...new Set(
      list.flatMap((event, i) => {
        const before = list.findLast(
          (e, at) => at < i && !e.workflowTaskScheduledEventAttributes && !e.workflowTaskStartedEventAttributes,
        );
        if (event.workflowTaskTimedOutEventAttributes || event.workflowTaskFailedEventAttributes)
          return [`task lost after ${String(before?.eventType)}`];
        const started = event.activityTaskStartedEventAttributes;
        if ((started?.attempt ?? 1) > 1)
          return [`attempt ${String(started!.attempt)} after ${started!.lastFailure?.message ?? 'nothing'}`];
        return [];
      }),
    ),
  ];
}
