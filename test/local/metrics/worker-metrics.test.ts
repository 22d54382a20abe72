// Metrics of a worker: a record counts when it is stored, once; no label holds a text that others chose.

import { beforeEach, describe, expect, test } from 'vitest';
import { metricsTarget } from '../../../local/metrics/runtime.ts';
import { BUCKETS, type Meter, type MetricTags } from '../../../local/metrics/meter.ts';
import { openWorkerMetrics } from '../../../local/metrics/worker-metrics.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { aQuery, play, RUN } from '../../records/play.ts';
import { testFolder } from '../../support/scratch-folder.ts';

let out: string;
beforeEach(() => void (out = testFolder()));

interface Seen {
  readonly name: string;
  readonly value: number;
  readonly tags: MetricTags;
}

function scriptedMeter() {
  const seen: Seen[] = [];
  const made: { name: string; unit: string | undefined }[] = [];
  const at = (name: string, unit?: string) => {
    made.push({ name, unit });
    return (value: number, tags: MetricTags = {}) => void seen.push({ name, value, tags });
  };
  const meter: Meter = {
    createCounter: (name, unit) => ({ add: at(name, unit) }),
    createHistogram: (name, _, unit) => ({ record: at(name, unit) }),
    createGauge: (name, _, unit) => ({ set: at(name, unit) }),
  };
  const sum = (name: string, tags: MetricTags = {}) =>
    seen
      .filter((one) => one.name === name && Object.entries(tags).every(([key, text]) => one.tags[key] === text))
      .reduce((total, { value }) => total + value, 0);
  return { meter, seen, made, sum };
}

describe('the metrics of a worker', () => {
  test('count turns, tokens, verdicts and ends as they are stored, and a repeated put not again', async () => {
    const { meter, sum } = scriptedMeter();
    const store = openWorkerMetrics(meter, 8).store(openFileStore(out, RUN));
    const script = { query: aQuery('a'), verdicts: ['wrong', 'right', 'right'] } as const;
    await play(store, script);
    await play(store, script);
    expect(sum('everturn_turns_total')).toBe(3);
    expect(sum('everturn_turns_total', { verdict: 'right' })).toBe(2);
    expect(sum('everturn_output_tokens_total', { server: 'embedded' })).toBe(9);
    expect(sum('everturn_rollouts_total', { outcome: 'complete' })).toBe(1);
    expect(sum('everturn_slots')).toBe(8);
  });

  test('have buckets for every histogram, and no unit that the SDK would append or refuse', () => {
    const { meter, made } = scriptedMeter();
    openWorkerMetrics(meter, 8);
    const histograms = made.filter(({ name }) => /_seconds$|_tokens$/.test(name)).map(({ name }) => name);
    expect(histograms.toSorted()).toEqual(
      Object.keys(BUCKETS)
        .filter((n) => n.startsWith('everturn_'))
        .toSorted(),
    );
    expect(made.filter(({ unit }) => unit !== undefined)).toEqual([]);
    for (const { name } of made) expect(name).toMatch(/^everturn_[a-z_]+$/);
  });

  test('name servers without credentials, at most 200 of them', async () => {
    const { meter, seen } = scriptedMeter();
    const store = openWorkerMetrics(meter, 8).store(openFileStore(out, RUN));
    for (let i = 0; i < 205; i += 5) {
      const server = (turn: number) => ({ server: `http://user:secret@host${i + turn}:30000/v1?key=secret` });
      await play(store, { query: aQuery(`q${i}`), verdicts: Array<'wrong'>(5).fill('wrong'), turn: server });
    }
    const labels = new Set(seen.flatMap(({ tags }) => Object.values(tags)));
    expect([...labels].join()).not.toContain('secret');
    expect(labels.has('http://host1:30000/v1')).toBe(true);
    expect([...labels].filter((label) => label.startsWith('http'))).toHaveLength(200);
    expect(labels.has('other')).toBe(true);
  });

  test('count failures by our own reasons alone, and generations in flight', async () => {
    const { meter, sum, seen } = scriptedMeter();
    const failing = async (error: object): Promise<never> => {
      throw Object.assign(new Error('text of a server'), error);
    };
    const generate = openWorkerMetrics(meter, 8).generate(failing);
    for (const error of [{ reason: 'server-busy' }, { reason: 'text of a server' }, {}, { name: 'CancelledFailure' }])
      await expect(generate(error)).rejects.toThrow('text of a server');
    const reasons = seen
      .filter(({ name }) => name === 'everturn_generate_failures_total')
      .map(({ tags }) => tags['reason']);
    expect(reasons).toEqual(['server-busy', 'other', 'other', 'cancelled']);
    expect(seen.filter(({ name }) => name === 'everturn_generations_in_flight').map(({ value }) => value)).toEqual([
      0, 1, 0, 1, 0, 1, 0, 1, 0,
    ]);
    expect(sum('everturn_generate_failures_total')).toBe(4);
  });
});

describe('the address of the metrics', () => {
  test('is on this machine unless a host is named; the flag has precedence', () => {
    expect(metricsTarget({}, undefined)).toBeNull();
    expect(metricsTarget({ EVERTURN_METRICS: '9999' }, '9464')).toEqual({
      kind: 'prometheus',
      host: '127.0.0.1',
      port: 9464,
    });
    expect(metricsTarget({ EVERTURN_METRICS: '0.0.0.0:9464' }, undefined)).toMatchObject({
      host: '0.0.0.0',
      port: 9464,
    });
    expect(metricsTarget({ EVERTURN_OTLP: 'http://collector:4318' }, undefined)).toMatchObject({ kind: 'otlp' });
  });
  test.each([
    [{}, 'x'],
    [{}, '0'],
    [{}, '70000'],
    [{ EVERTURN_METRICS: 'host' }, undefined],
    [{ EVERTURN_METRICS: 'host:99999' }, undefined],
    [{ EVERTURN_OTLP: 'collector' }, undefined],
    [{ EVERTURN_OTLP: 'file:///etc/passwd' }, undefined],
  ])('refuses %j with the flag %s', (env, flag) => {
    expect(() => metricsTarget(env, flag)).toThrow();
  });
});
