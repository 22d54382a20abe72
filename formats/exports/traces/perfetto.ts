// Chrome's trace event format, which ui.perfetto.dev and chrome://tracing open: each server with the answers that it gave at
// once, one below the other, and how many; each rollout in flight with its turns; failures as marks. Holds no question and no
// answer. Memory: some hundred bytes a turn, because lanes need the order of all beginnings.

import { rolloutWorkflowId } from '../../../domain/run/ids.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import { contextTokens, outputTokens, type TurnRecord } from '../../../domain/rollout/turn.ts';
import {
  JUDGED_FROM,
  spanOf,
  type TraceEncoder,
  type TracedRun,
  type TraceFormat,
  wellFormed,
} from './trace-format.ts';

export const perfetto: TraceFormat = {
  name: 'perfetto',
  description: 'a timeline of servers and rollouts, for ui.perfetto.dev and chrome://tracing',
  note: `open it at ui.perfetto.dev, which reads it in the browser; ${JUDGED_FROM}.`,
  open,
};

interface Slice {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly args: Readonly<Record<string, string | number | null>>;
}

/** Slices of one lane: the first holds the others. */
interface Bar extends Slice {
  readonly within: readonly Slice[];
  /** A mark at its end. */
  readonly failure: string | null;
}

function open({ run, everturn }: TracedRun): TraceEncoder {
  const rollouts: Bar[] = [];
  const servers = new Map<string, Bar[]>();
  return {
    add(trajectory) {
      const { bar, answers } = drawn(trajectory);
      rollouts.push(bar);
      for (const { server, slice } of answers) {
        const known = servers.get(server);
        if (known) known.push(slice);
        else servers.set(server, [slice]);
      }
      return [];
    },
    end() {
      const named = [...servers].sort(([a], [b]) => (a < b ? -1 : 1));
      const events = [
        ...processOf(1, 'rollouts', rollouts),
        ...named.flatMap(([server, answers], i) => [...processOf(i + 2, server, answers), ...countOf(i + 2, answers)]),
      ];
      const head = JSON.stringify({ displayTimeUnit: 'ms', otherData: { run, everturn } }).slice(0, -1);
      return document(head, events);
    },
  };
}

function drawn(trajectory: Trajectory) {
  const { rollout, turns, end } = trajectory;
  const [from, to] = spanOf(trajectory);
  const { run, query, sample, attempt } = rollout;
  const name = rolloutWorkflowId({ run, query: query.queryId, sample, attempt });
  const within: Slice[] = [];
  const answers: { server: string; slice: Bar }[] = [];
  for (const { record, verdict } of turns) {
    if (record.carried) continue;
    const judged = record.finishedAt + (verdict?.tookMs ?? 0);
    const args = { ...factsOf(record), verdict: verdict?.verdict ?? null, reason: verdict?.reason ?? null };
    const slice = { name: `turn ${record.turn}`, from: record.startedAt, to: record.finishedAt, args };
    within.push(slice);
    if (verdict)
      within.push({ name: 'judge', from: record.finishedAt, to: judged, args: { verdict: verdict.verdict } });
    answers.push({
      server: record.server === null ? 'embedded model' : originOf(record.server),
      slice: { ...slice, name: `${name} turn ${record.turn}`, within: [], failure: null },
    });
  }
  const outcome = { outcome: end?.outcome ?? 'open', stop: end?.stopReason ?? null, return: end?.returns[0] ?? null };
  return { bar: { name, from, to, args: outcome, within, failure: end?.failure?.reason ?? null }, answers };
}

function factsOf(record: TurnRecord): Slice['args'] {
  return {
    turn: record.turn,
    'context tokens': contextTokens(record),
    'output tokens': outputTokens(record),
    finish: record.finish,
    tries: record.attempt,
    version: record.versionEnd,
  };
}

/** Never more of an address than this: the rest may be a secret. */
function originOf(server: string): string {
  return URL.canParse(server) ? new URL(server).origin : server;
}

/** A process with as many lanes as it has bars at once. */
function* processOf(pid: number, name: string, bars: readonly Bar[]): Generator<object> {
  yield { ph: 'M', pid, name: 'process_name', args: { name: wellFormed(name) } };
  yield { ph: 'M', pid, name: 'process_sort_index', args: { sort_index: pid } };
  const free: number[] = [];
  for (const bar of bars.toSorted((a, b) => a.from - b.from)) {
    let tid = free.findIndex((until) => until <= bar.from);
    if (tid < 0) tid = free.length;
    const until = Math.max(bar.to, ...bar.within.map(({ to }) => to));
    free[tid] = until;
    yield complete(pid, tid, { ...bar, to: until });
    for (const slice of bar.within) yield complete(pid, tid, slice);
    if (bar.failure !== null)
      yield { ph: 'i', pid, tid, ts: until * MICROS, s: 't', name: `failed: ${wellFormed(bar.failure)}` };
  }
}

const MICROS = 1_000;

function complete(pid: number, tid: number, { name, from, to, args }: Slice): object {
  const known = Object.entries(args).filter(([, value]) => value !== null);
  const texts = known.map(([key, value]) => [key, typeof value === 'string' ? wellFormed(value) : value] as const);
  const dur = Math.max(0, to - from) * MICROS;
  return { ph: 'X', pid, tid, ts: from * MICROS, dur, name: wellFormed(name), args: Object.fromEntries(texts) };
}

/** The number of answers in flight, as it changes. */
function* countOf(pid: number, bars: readonly Bar[]): Generator<object> {
  const steps = bars.flatMap(({ from, to }) => [[from, 1] as const, [Math.max(from, to), -1] as const]);
  let answers = 0;
  for (const [at, by] of steps.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    answers += by;
    yield { ph: 'C', pid, ts: at * MICROS, name: 'answers in flight', args: { answers } };
  }
}

function* document(head: string, events: readonly object[]): Generator<string> {
  yield `${head},"traceEvents":[\n`;
  for (const [i, event] of events.entries()) yield `${i === 0 ? '' : ',\n'}${JSON.stringify(event)}`;
  yield '\n]}\n';
}
