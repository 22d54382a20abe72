// The metrics of real workers: one endpoint with Everturn's and the SDK's, whose counts are those of the run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { freePort } from '../../local/machine/ports.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { brokenHistograms, type Exposition, parseExposition, total } from '../support/prometheus.ts';
import { until } from '../support/until.ts';
import { ROOT } from '../house/tree.ts';

let everturn: Everturn;
let port: number;
const collected: { path: string; type: string | undefined; body: Buffer }[] = [];
let collector: HttpListener;

beforeAll(async () => {
  port = await freePort([]);
  collector = await listenHttp((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      collected.push({ path: request.url ?? '', type: request.headers['content-type'], body: Buffer.concat(parts) });
      response.end();
    });
  });
  everturn = openEverturn({ EVERTURN_METRICS: String(port), EVERTURN_UI: 'off' });
});
afterAll(async () => {
  collector.close();
  await everturn.close();
});

/** What it answers, if with that status. */
async function says(at: number, path: string, status: number): Promise<string | undefined> {
  const reply = await fetch(`http://127.0.0.1:${at}${path}`).catch(() => undefined);
  const text = await reply?.text();
  return reply?.status === status ? text!.trim() : undefined;
}

async function scraped(at = port): Promise<Exposition> {
  const response = await fetch(`http://127.0.0.1:${at}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  return parseExposition(await response.text());
}

describe('the metrics of a worker', () => {
  test('are on one endpoint, well formed, and equal the run’s own counts', { timeout: 240_000 }, async () => {
    const data = join(ROOT, 'examples/arithmetic.jsonl');
    const args = ['run', data, '--limit', '12', '--num-turns', '2', '--name', 'met', '--max-new-tokens', '64'];
    await everturn.mustCall(...args);
    const { counts } = JSON.parse(
      readFileSync(join(everturn.folder, 'runs/met/result.json'), 'utf8'),
    ) as CollectionResult;
    const found = await scraped();
    expect(total(found, 'everturn_turns_total')).toBe(counts.turns);
    expect(total(found, 'everturn_turns_total', { verdict: 'right' })).toBe(counts.rightAt.reduce((a, b) => a + b, 0));
    expect(total(found, 'everturn_output_tokens_total')).toBe(counts.tokens);
    expect(total(found, 'everturn_rollouts_total', { outcome: 'complete' })).toBe(12);
    expect(total(found, 'everturn_generate_duration_seconds_count')).toBe(counts.turns);
    expect(total(found, 'everturn_slots')).toBe(64);
    // The SDK's own, by the names that public dashboards expect.
    expect(total(found, 'temporal_activity_task_received', { activity_type: 'generate' })).toBeGreaterThan(0);
    expect(found.types.get('temporal_workflow_completed')).toBe('counter');
    expect(brokenHistograms(found)).toEqual([]);
    for (const name of found.types.keys()) if (name.startsWith('everturn_')) expect(found.help).toContain(name);
    const labels = found.samples.flatMap((sample) => Object.values(sample.labels));
    expect(labels.filter((label) => label.length > 100 || label.includes('arith-'))).toEqual([]);
    const buckets = found.samples.filter(({ name }) => name === 'everturn_generate_duration_seconds_bucket');
    expect(buckets.some(({ labels: { le } }) => le === '1800')).toBe(true);
  });

  test(
    'are on the health port, also of a worker whose metrics have no port, with no text that a client chose unescaped',
    { timeout: 240_000 },
    async () => {
      const { address } = everturn.service()!;
      const health = await freePort([], [port]);
      const other = openEverturn({ TEMPORAL_ADDRESS: address });
      const connection = await Connection.connect({ address });
      try {
        const worker = other.start('worker', '--health-port', `127.0.0.1:${health}`);
        await until('a ready worker', () => says(health, '/ready', 200), 100_000);
        expect(worker.output()).not.toMatch(/No metrics|Metrics at/);
        expect(total(await scraped(health), 'everturn_slots')).toBe(64);
        const hostile = 'x"} 1\n# HELP hostile \u001b[31m\neverturn_slots{a="\\';
        const client = new Client({ connection });
        await client.workflow.start(hostile, { taskQueue: 'everturn', workflowId: 'hostile' });
        const label = (found: Exposition) =>
          found.samples.flatMap(({ labels }) => labels['workflow_type'] ?? []).find((type) => type.startsWith('x'));
        const found = await until(
          'a task of the hostile one',
          async () => {
            const one = await scraped(health);
            return label(one) === undefined ? undefined : one;
          },
          100_000,
        );
        expect(label(found)).toBe('x\\"} 1\\n# HELP hostile \ufffd[31m\\neverturn_slots{a=\\"\\\\');
        expect(found.help.has('hostile')).toBe(false);
        expect(found.samples.filter(({ name }) => name === 'everturn_slots')).toHaveLength(1);
        await client.workflow.getHandle('hostile').terminate();
        worker.child.kill('SIGTERM');
        expect(await worker.ended).toMatchObject({ code: 0 });
      } finally {
        await connection.close();
        await other.close();
      }
    },
  );

  test('say in one line that a port is taken, and the worker works without them', { timeout: 120_000 }, async () => {
    const worker = everturn.start('worker', '--metrics-port', String(port));
    await until('the worker runs', () => worker.output().includes('RUNNING'), 100_000);
    worker.child.kill('SIGINT');
    const { stderr } = await worker.ended;
    expect(stderr.split('\n').filter((line) => line.includes('No metrics:'))).toHaveLength(1);
  });

  test('go to a collector instead, over OTLP', { timeout: 120_000 }, async () => {
    const url = `${collector.url}/v1/metrics`;
    const { address } = everturn.service()!;
    const other = openEverturn({ EVERTURN_OTLP: url, TEMPORAL_ADDRESS: address });
    try {
      const worker = other.start('worker');
      await until('metrics were sent', () => collected.some(({ body }) => body.includes('everturn_slots')), 100_000);
      worker.child.kill('SIGINT');
      await worker.ended;
      expect(collected[0]).toMatchObject({ path: '/v1/metrics', type: 'application/x-protobuf' });
    } finally {
      await other.close();
    }
  });
});
