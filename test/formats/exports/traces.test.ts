// Traces read back by their documented formats: OTLP/JSON by the fields of opentelemetry-proto, also through the binary
// form of its messages; Chrome's trace events by their document. The times and counts are those of the records.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { main } from '../../../cli/main.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import { openLoose } from '../../records/ended-rig.ts';
import type { Store } from '../../../records/store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { scriptedIo } from '../../cli/scripted-io.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../../records/play.ts';

let out: string;
let store: Store;
beforeEach(async () => {
  out = mkdtempSync(join(tmpdir(), 'everturn-'));
  store = openLoose(out);
  const queries = ['a', 'b "\ud800"', 'c', 'd'].map((id) => aQuery(id));
  const settings = someSettings({ model: 'sglang:http://user:secret@10.0.0.1:30000' });
  await putRun(store, queries, { settings });
  const at = (server: string, from: number) => (turn: number) => ({
    server,
    startedAt: 1_700_000_000_000 + from + 100 * turn,
    finishedAt: 1_700_000_000_000 + from + 100 * turn + 70,
  });
  const server = 'http://user:secret@10.0.0.1:30000/v1?key=secret';
  await play(store, { query: queries[0]!, settings, verdicts: ['wrong', 'right', 'right'], turn: at(server, 0) });
  await play(store, {
    query: queries[1]!,
    settings,
    index: 1,
    verdicts: ['right'],
    stop: 'failed',
    turn: at(server, 20),
  });
  await play(store, {
    query: queries[1]!,
    settings,
    index: 1,
    attempt: 2,
    verdicts: ['wrong', 'undecided'],
    stop: 'undecided',
  });
  await play(store, {
    query: queries[2]!,
    settings,
    index: 2,
    verdicts: ['wrong'],
    unjudged: 1,
    stop: null,
    turn: at('https://b', 40),
  });
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

async function exported(format: string, ...args: string[]) {
  const io = scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(out, '.home') } });
  const file = join(out, `traces.${format}`);
  const code = await main(io, ['export', RUN, '--out', out, '--format', format, '--to', file, ...args]);
  return { code, err: io.text.err, text: code === 0 ? readFileSync(file, 'utf8') : '' };
}

async function recorded(): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const one of readTrajectories(store, { attempts: 'all' })) all.push(one);
  return all;
}

const NANOS = z.string().regex(/^\d{19}$/);
const VALUE = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }) }),
]);
const ATTRIBUTES = z.array(z.strictObject({ key: z.string().min(1), value: VALUE }));
const SPAN = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.union([z.literal(1), z.literal(3)]),
  startTimeUnixNano: NANOS,
  endTimeUnixNano: NANOS,
  attributes: ATTRIBUTES,
  events: z.array(z.strictObject({ timeUnixNano: NANOS, name: z.string(), attributes: ATTRIBUTES })).optional(),
  links: z.array(z.strictObject({ traceId: z.string(), spanId: z.string() })).optional(),
  status: z.strictObject({ code: z.literal(2), message: z.string() }).optional(),
});
const REQUEST = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: ATTRIBUTES }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string(), version: z.string() }), spans: z.array(SPAN) }),
      ),
    }),
  ),
});

/** The part of opentelemetry/proto/trace/v1/trace.proto and common.proto that is written, with its field numbers. */
const PROTO = `syntax = "proto3";
message Any { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; Array array_value = 5; } }
message Array { repeated Any values = 1; }
message KeyValue { string key = 1; Any value = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; repeated Event events = 11;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }`;

const spansOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => REQUEST.parse(JSON.parse(line)).resourceSpans[0]!.scopeSpans[0]!.spans);

type Span = z.infer<typeof SPAN>;
const attribute = ({ attributes }: Pick<Span, 'attributes'>, key: string): unknown => {
  const value = attributes.find((one) => one.key === key)?.value;
  return value && Object.values(value)[0];
};

describe('an export of OpenTelemetry spans', () => {
  test('has a line for each rollout, and of each turn its generation and evaluation with the times of the records', async () => {
    const { code, text } = await exported('otlp');
    expect(code).toBe(0);
    const traces = spansOf(text);
    const all = await recorded();
    expect(traces).toHaveLength(all.length);
    for (const [i, { rollout, turns, end }] of all.entries()) {
      const spans = traces[i]!;
      const [root, ...others] = spans as [Span, ...Span[]];
      const begun = Math.min(rollout.birthTime, ...turns.map(({ record }) => record.startedAt));
      expect(root).toMatchObject({ name: 'rollout', startTimeUnixNano: `${begun}000000` });
      expect(attribute(root, 'everturn.outcome')).toBe(end?.outcome ?? 'open');
      expect(root.status?.message).toBe(end?.failure?.reason);
      const judged = turns.filter(({ verdict }) => verdict);
      const generations = others.filter(({ name }) => name === 'text_completion tiny');
      expect([generations.length, others.filter(({ name }) => name === 'evaluate').length]).toEqual([
        turns.length,
        judged.length,
      ]);
      for (const [t, span] of generations.entries()) {
        const { record } = turns[t]!;
        expect(span).toMatchObject({
          startTimeUnixNano: `${record.startedAt}000000`,
          endTimeUnixNano: `${record.finishedAt}000000`,
        });
        expect(attribute(span, 'gen_ai.usage.output_tokens')).toBe(String(record.outputIds.length));
        expect(attribute(span, 'gen_ai.usage.input_tokens')).toBe(String(record.contextLength));
        expect(attribute(span, 'gen_ai.provider.name')).toBe('sglang');
      }
      const labels = others.flatMap(({ events = [] }) =>
        events.map((e) => attribute(e, 'gen_ai.evaluation.score.label')),
      );
      expect(labels).toEqual(judged.map(({ verdict }) => verdict!.verdict));
      const known = new Map(spans.map((span) => [span.spanId, span]));
      expect(known.size).toBe(spans.length);
      for (const span of others) {
        const parent = known.get(span.parentSpanId!)!;
        expect([span.traceId, parent.traceId]).toEqual([root.traceId, root.traceId]);
        expect(BigInt(span.startTimeUnixNano) >= BigInt(parent.startTimeUnixNano)).toBe(true);
        expect(BigInt(span.endTimeUnixNano) <= BigInt(parent.endTimeUnixNano)).toBe(true);
      }
    }
    expect(new Set(traces.map((spans) => spans[0]!.traceId)).size).toBe(all.length);
  });

  test('is the same bytes again, survives the binary form, and holds no text of a model and no credentials', async () => {
    const { text } = await exported('otlp');
    expect((await exported('otlp', '--overwrite')).text).toBe(text);
    expect(text).not.toMatch(/secret|it is 1|What is|\\ud800/);
    const type = protobuf.parse(PROTO, { keepCase: false }).root.lookupType('Span');
    const bytes = (hex: string | undefined) => (hex === undefined ? undefined : Buffer.from(hex, 'hex'));
    for (const { links: _, status: _s, ...span } of spansOf(text).flat()) {
      const binary = {
        ...span,
        traceId: bytes(span.traceId),
        spanId: bytes(span.spanId),
        parentSpanId: bytes(span.parentSpanId),
      };
      const back = type.toObject(type.decode(type.encode(type.fromObject(binary)).finish()), { longs: String });
      expect(back).toMatchObject({
        name: span.name,
        startTimeUnixNano: span.startTimeUnixNano,
        attributes: span.attributes,
      });
    }
  });

  test('a flag that selects rollouts is refused: all of them are in it', async () => {
    for (const flag of [
      '--drop-zero-variance',
      '--undecided=finished-turns',
      '--verdicts=human',
      '--advantages=mean',
    ]) {
      const { code, err } = await exported('otlp', flag);
      expect([code, err]).toEqual([2, expect.stringContaining('means nothing to --format otlp')]);
    }
  });
});

const EVENT = z.discriminatedUnion('ph', [
  z.strictObject({
    ph: z.literal('M'),
    pid: z.number(),
    name: z.enum(['process_name', 'process_sort_index']),
    args: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    ph: z.literal('X'),
    pid: z.number(),
    tid: z.number(),
    ts: z.number().int(),
    dur: z.number().int().min(0),
    name: z.string(),
    args: z.record(z.string(), z.union([z.string(), z.number()])),
  }),
  z.strictObject({
    ph: z.literal('i'),
    pid: z.number(),
    tid: z.number(),
    ts: z.number().int(),
    s: z.literal('t'),
    name: z.string(),
  }),
  z.strictObject({
    ph: z.literal('C'),
    pid: z.number(),
    ts: z.number().int(),
    name: z.string(),
    args: z.strictObject({ answers: z.number().int().min(0) }),
  }),
]);
const TRACE = z.strictObject({
  displayTimeUnit: z.literal('ms'),
  otherData: z.record(z.string(), z.string()),
  traceEvents: z.array(EVENT),
});

describe('an export of a timeline', () => {
  test('draws each answer on its server, in lanes that do not overlap, and counts those in flight', async () => {
    const { code, text } = await exported('perfetto');
    expect(code).toBe(0);
    const { traceEvents } = TRACE.parse(JSON.parse(text));
    const names = new Map(
      traceEvents.flatMap((e) =>
        e.ph === 'M' && e.name === 'process_name' ? [[e.pid, String(e.args['name'])] as const] : [],
      ),
    );
    const turns = (await recorded()).flatMap((one) => one.turns);
    const slices = traceEvents.flatMap((e) => (e.ph === 'X' ? [e] : []));
    const ofServers = slices.filter(({ pid }) => pid > 1);
    expect(ofServers.map(({ ts, dur }) => [ts, dur]).sort()).toEqual(
      turns.map(({ record }) => [record.startedAt * 1000, (record.finishedAt - record.startedAt) * 1000]).sort(),
    );
    expect([...names.values()].sort()).toEqual(['embedded model', 'http://10.0.0.1:30000', 'https://b', 'rollouts']);
    for (const one of ofServers)
      for (const other of ofServers)
        if (one !== other && one.pid === other.pid && one.tid === other.tid)
          expect(one.ts + one.dur <= other.ts || other.ts + other.dur <= one.ts).toBe(true);
    for (const e of traceEvents) {
      if (e.ph !== 'C') continue;
      const last = traceEvents.findLast((o) => o.ph === 'C' && o.pid === e.pid && o.ts === e.ts) as typeof e;
      const inFlight = ofServers.filter(({ pid, ts, dur }) => pid === e.pid && ts <= e.ts && e.ts < ts + dur).length;
      expect(last.args.answers).toBe(inFlight);
    }
    expect(traceEvents.filter(({ ph }) => ph === 'i').map(({ name }) => name)).toEqual(['failed: scripted']);
    expect(text).not.toMatch(/secret|it is 1|What is/);
  });
});
