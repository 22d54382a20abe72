// OpenTelemetry: spans of a rollout, its turns, generations and evaluations as OTLP/JSON, one rollout a line. A line is a
// whole ExportTraceServiceRequest, as the collector's OTLP file receiver reads it and `/v1/traces` takes it. Ids follow from
// the rollout's name: exported again, the spans are the same ones. Holds no question, context or answer. Attributes of
// models are those of the GenAI conventions (in development); Everturn's own begin with `everturn.`.

import { rolloutWorkflowId } from '../../../domain/run/ids.ts';
import { sha256Hex } from '../../../domain/text/sha256.ts';
import type { PlayedTurn, RolloutRecord, Trajectory } from '../../../domain/rollout/trajectory.ts';
import { contextTokens, outputTokens, type TurnRecord } from '../../../domain/rollout/turn.ts';
import { JUDGED_FROM, spanOf, type TracedRun, type TraceFormat, wellFormed } from './trace-format.ts';

export const otlp: TraceFormat = {
  name: 'otlp',
  description: 'OpenTelemetry spans (OTLP/JSON): rollouts, turns, generations, evaluations',
  note: `each line is a request for a collector's /v1/traces; ${JUDGED_FROM}.`,
  open: (run) => ({ add: (trajectory) => [`${lineOf(trajectory, run)}\n`], end: () => [] }),
};

type Value = string | number | boolean | readonly string[] | null | undefined;
/** Numbers that are whole are integers; `double` marks those that may be either. */
type Attributes = Readonly<Record<string, Value | { readonly double: number }>>;

const INTERNAL = 1;
const CLIENT = 3;
const ERROR = 2;

interface Span {
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind: number;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly error?: string;
  readonly event?: { readonly name: string; readonly attributes: Attributes };
  readonly link?: { readonly traceId: string; readonly spanId: string };
}

function lineOf(trajectory: Trajectory, { run, everturn }: TracedRun): string {
  const traceId = traceIdOf(trajectory.rollout);
  return JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: attributes({ 'service.name': 'everturn', 'service.version': everturn, 'everturn.run': run }),
        },
        scopeSpans: [
          {
            scope: { name: 'everturn', version: everturn },
            spans: spansOf(trajectory).map((one) => encoded(traceId, one)),
          },
        ],
      },
    ],
  });
}

function spansOf(trajectory: Trajectory): Span[] {
  const { rollout, turns, end } = trajectory;
  const [from, to] = spanOf(trajectory);
  const { query, sample, attempt, parent } = rollout;
  const root: Span = {
    id: spanId(rollout, 'rollout'),
    name: 'rollout',
    kind: INTERNAL,
    from,
    to,
    attributes: {
      'gen_ai.conversation.id': nameOf(rollout),
      'everturn.query': query.queryId,
      'everturn.sample': sample,
      'everturn.attempt': attempt,
      'everturn.task': query.environment ?? query.task,
      'everturn.turns': turns.length,
      'everturn.outcome': end?.outcome ?? 'open',
      'everturn.stop_reason': end?.stopReason,
      'everturn.return': end?.returns[0] === undefined ? null : { double: end.returns[0] },
      'everturn.steered': end?.said ? true : null,
      'error.type': end?.failure?.reason,
    },
    ...(end?.failure && { error: end.failure.reason }),
    ...(parent && { link: { traceId: traceIdOf(ofParent(parent)), spanId: spanId(ofParent(parent), 'rollout') } }),
  };
  // Turns that a fork carried over were played elsewhere: the link leads there.
  const own = turns.filter(({ record }) => record.carried === undefined);
  return [root, ...own.flatMap((turn) => turnSpans(rollout, root, turn))];
}

function turnSpans(rollout: RolloutRecord, root: Span, { record, verdict }: PlayedTurn): Span[] {
  const { turn, startedAt, finishedAt } = record;
  const judgedAt = finishedAt + (verdict?.tookMs ?? 0);
  const whole: Span = {
    id: spanId(rollout, `turn ${turn}`),
    parent: root.id,
    name: 'turn',
    kind: INTERNAL,
    from: startedAt,
    to: judgedAt,
    attributes: {
      'everturn.turn': turn,
      'everturn.verdict': verdict?.verdict,
      'everturn.reason': verdict?.reason,
      'everturn.said': record.said ? true : null,
    },
  };
  const spans = [whole, generation(rollout, whole, record)];
  if (verdict) {
    const score = verdict.reward ?? (verdict.verdict === 'right' ? 1 : verdict.verdict === 'wrong' ? 0 : undefined);
    spans.push({
      id: spanId(rollout, `evaluate ${turn}`),
      parent: whole.id,
      name: 'evaluate',
      kind: INTERNAL,
      from: finishedAt,
      to: judgedAt,
      attributes: { 'everturn.turn': turn },
      event: {
        name: 'gen_ai.evaluation.result',
        attributes: {
          'gen_ai.evaluation.name': rollout.query.environment ?? rollout.query.task,
          'gen_ai.evaluation.score.value': score === undefined ? null : { double: score },
          'gen_ai.evaluation.score.label': verdict.verdict,
          'gen_ai.evaluation.explanation': verdict.reason,
        },
      },
    });
  }
  return spans;
}

function generation(rollout: RolloutRecord, turn: Span, record: TurnRecord): Span {
  const { settings } = rollout;
  const operation = record.trainable === false ? 'chat' : 'text_completion';
  return {
    id: spanId(rollout, `generate ${record.turn}`),
    parent: turn.id,
    name: `${operation} ${record.model}`,
    kind: record.server === null ? INTERNAL : CLIENT,
    from: record.startedAt,
    to: record.finishedAt,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': /^([a-z][a-z0-9-]*):/.exec(settings.model)?.[1] ?? 'everturn',
      'gen_ai.conversation.id': nameOf(rollout),
      'gen_ai.request.model': record.model,
      'gen_ai.request.temperature': { double: settings.temperature },
      'gen_ai.request.top_p': { double: settings.topP },
      'gen_ai.request.top_k': settings.topK,
      'gen_ai.request.max_tokens': record.maxNewTokens,
      'gen_ai.request.seed': record.seed,
      'gen_ai.response.finish_reasons': [record.finish],
      'gen_ai.usage.input_tokens': contextTokens(record),
      'gen_ai.usage.output_tokens': outputTokens(record),
      ...serverOf(record.server),
      'everturn.turn': record.turn,
      'everturn.tries': record.attempt,
      'everturn.version.start': record.versionStart,
      'everturn.version.end': record.versionEnd,
    },
  };
}

/** Never more of an address than host and port: the rest may be a secret. */
function serverOf(server: string | null): Attributes {
  if (server === null) return {};
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url) return { 'server.address': server };
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { 'server.address': url.hostname, 'server.port': port };
}

type Named = Pick<RolloutRecord, 'run' | 'sample' | 'attempt'> & { readonly query: { readonly queryId: string } };

const nameOf = ({ run, query, sample, attempt }: Named): string =>
  rolloutWorkflowId({ run, query: query.queryId, sample, attempt });
const traceIdOf = (rollout: Named): string => sha256Hex(nameOf(rollout)).slice(0, 32);
const spanId = (rollout: Named, what: string): string => sha256Hex(`${nameOf(rollout)} ${what}`).slice(0, 16);
const ofParent = ({ query, ...parent }: NonNullable<RolloutRecord['parent']>): Named => ({
  ...parent,
  query: { queryId: query },
});

function encoded(traceId: string, { id, parent, name, kind, from, to, error, event, link, ...span }: Span) {
  return {
    traceId,
    spanId: id,
    ...(parent !== undefined && { parentSpanId: parent }),
    name: wellFormed(name),
    kind,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(Math.max(from, to)),
    attributes: attributes(span.attributes),
    ...(event && {
      events: [{ timeUnixNano: nanos(Math.max(from, to)), name: event.name, attributes: attributes(event.attributes) }],
    }),
    ...(link && { links: [link] }),
    ...(error !== undefined && { status: { code: ERROR, message: wellFormed(error) } }),
  };
}

/** 64-bit integers are texts in the JSON of protocol buffers. */
const nanos = (ms: number): string => String(BigInt(Math.round(ms)) * 1_000_000n);

function attributes(values: Attributes) {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: NonNullable<Attributes[string]>): object {
  if (typeof value === 'string') return { stringValue: wellFormed(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if ('double' in value) return { doubleValue: value.double };
  return { arrayValue: { values: value.map((one) => ({ stringValue: wellFormed(one) })) } };
}
