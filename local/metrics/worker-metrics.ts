// Everturn's metrics of one worker: records as they are stored (the first put of a record counts, a repeated one does
// not), and generations as they begin, end and fail. They end with the process; the facts of a run are in its folder.
// No label holds a query, a text or a message: verdicts, outcomes and reasons of our own lists, and servers, at most 200.

import { BOUNDARIES, REASONS } from '../../domain/errors/reasons.ts';
import { outputTokens } from '../../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { VerdictRecord } from '../../domain/rollout/trajectory.ts';
import { safeUrl } from '../../inference/http/safe-url.ts';
import type { RecordKind, Records, Store } from '../../records/store.ts';
import type { Meter } from './meter.ts';

const KNOWN_REASONS: ReadonlySet<string> = new Set(BOUNDARIES.flatMap((boundary) => [...REASONS[boundary]]));
const MOST_SERVERS = 200;
/** Each turn of each rollout has these. */
const MEASURED: ReadonlySet<RecordKind> = new Set(['rollout', 'turn', 'chunk', 'verdict', 'end']);

export interface WorkerMetrics {
  /** The same store; each put is measured. */
  store(store: Store): Store;
  /** The same function; its calls are counted. */
  generate<A extends readonly unknown[], R>(generate: (...args: A) => Promise<R>): (...args: A) => Promise<R>;
}

/** Nothing is measured. */
export const UNMEASURED: WorkerMetrics = { store: (store) => store, generate: (generate) => generate };

export function openWorkerMetrics(
  meter: Meter,
  slots: number,
  nowMs: () => number = () => performance.now(),
): WorkerMetrics {
  const instruments = createInstruments(meter);
  instruments.slots.set(slots);
  instruments.inFlight.set(0);
  let generating = 0;
  const serverLabel = boundedLabels(MOST_SERVERS);

  function turnStored(record: TurnRecord): void {
    const server = record.server === null ? 'embedded' : serverLabel(safeUrl(record.server));
    const sampled = outputTokens(record);
    if (sampled !== null) {
      instruments.tokens.add(sampled, { server });
      instruments.turnTokens.record(sampled, { finish: record.finish });
    }
    instruments.context.add(record.contextLength, { server });
    instruments.generateSeconds.record(Math.max(0, record.finishedAt - record.startedAt) / 1000, { server });
    // Versions that are hashes of a label have no order, and a label tells more.
    instruments.version.set(record.versionEnd, { server });
  }
  function verdictStored({ verdict, tookMs }: VerdictRecord): void {
    instruments.turns.add(1, { verdict });
    instruments.judgeSeconds.record(tookMs / 1000, { verdict });
  }

  /** By the kind of a record that is stored for the first time. */
  const onNew: { readonly [K in 'turn' | 'verdict' | 'end']: (record: Records[K]) => void } = {
    turn: turnStored,
    verdict: verdictStored,
    end: ({ outcome }) => instruments.rollouts.add(1, { outcome }),
  };

  return {
    store: (store) => ({
      ...store,
      async put(kind, of, record) {
        const began = nowMs();
        const stored = await store.put(kind, of, record);
        if (!MEASURED.has(kind)) return stored;
        instruments.writeSeconds.record((nowMs() - began) / 1000, { kind });
        if (stored.created && kind in onNew) onNew[kind as 'turn'](stored.record as TurnRecord);
        return stored;
      },
    }),
    generate:
      (generate) =>
      async (...args) => {
        instruments.inFlight.set(++generating);
        try {
          return await generate(...args);
        } catch (error) {
          instruments.failures.add(1, { reason: reasonOf(error) });
          throw error;
        } finally {
          instruments.inFlight.set(--generating);
        }
      },
  };
}

function createInstruments(meter: Meter) {
  const counter = (name: string, text: string) => meter.createCounter(name, undefined, text);
  const gauge = (name: string, text: string) => meter.createGauge(name, 'int', undefined, text);
  const histogram = (name: string, type: 'int' | 'float', text: string) =>
    meter.createHistogram(name, type, undefined, text);
  return {
    turns: counter('everturn_turns_total', 'Turns judged, by verdict.'),
    rollouts: counter('everturn_rollouts_total', 'Rollouts ended, by outcome.'),
    tokens: counter('everturn_output_tokens_total', 'Output tokens of stored turns.'),
    context: counter('everturn_context_tokens_total', 'Context tokens of stored turns.'),
    failures: counter('everturn_generate_failures_total', 'Failed generations, by reason.'),
    generateSeconds: histogram(
      'everturn_generate_duration_seconds',
      'float',
      'Seconds of the generation of a stored turn.',
    ),
    turnTokens: histogram('everturn_turn_output_tokens', 'int', 'Output tokens of a stored turn, by how it ended.'),
    judgeSeconds: histogram('everturn_judge_duration_seconds', 'float', 'Seconds of judging a turn, by verdict.'),
    writeSeconds: histogram('everturn_store_write_seconds', 'float', 'Seconds of storing a record, by kind.'),
    version: gauge('everturn_weight_version', 'Version of the weights that answered last.'),
    inFlight: gauge('everturn_generations_in_flight', 'Generations in flight.'),
    slots: gauge('everturn_slots', 'Generations in flight at most.'),
  };
}

/** Anything but our own errors has no name that is bounded. */
function reasonOf(error: unknown): string {
  const { reason, name } = (error ?? {}) as { readonly reason?: unknown; readonly name?: unknown };
  if (name === 'CancelledFailure') return 'cancelled';
  return typeof reason === 'string' && KNOWN_REASONS.has(reason) ? reason : 'other';
}

/** The first so many names as they are, and `other` for the rest. */
function boundedLabels(most: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.size < most) known.add(name);
    return known.has(name) ? name : 'other';
  };
}
