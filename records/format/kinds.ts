// The kinds of records: the format that a text of each begins with, and the table from which its type, its form and the order
// of its text follow.

import { ASKED } from '../../domain/agent/call-record.ts';
import { AGENT_ENTRY } from '../../domain/agent/program.ts';
import { FEED_ENTRY } from '../../domain/feed/entry.ts';
import { RESULT } from '../../domain/run/messages.ts';
import { ACT_FIELDS } from '../../domain/run/steering.ts';
import { END, ROLLOUT, VERDICT } from '../../domain/rollout/trajectory.ts';
import { CHUNK, TURN } from '../../domain/rollout/turn.ts';
import type { FieldTable } from '../../domain/schema/fields.ts';
import { SAY } from '../../domain/rollout/lineage.ts';
import { CALL, INTENT } from '../../domain/tools/tool.ts';
import { WEIGHTS_ENTRY } from '../../domain/weights/weights.ts';
import { RUN } from './run-record.ts';

export const FORMATS = {
  run: 'everturn-run/1',
  result: 'everturn-result/1',
  rollout: 'everturn-rollout/1',
  turn: 'everturn-turn/1',
  chunk: 'everturn-chunk/1',
  verdict: 'everturn-verdict/1',
  end: 'everturn-end/1',
  feed: 'everturn-feed/1',
  weights: 'everturn-weights/1',
  ended: 'everturn-ended/1',
  steering: 'everturn-steering/1',
  say: 'everturn-say/1',
  intent: 'everturn-intent/1',
  call: 'everturn-call/1',
  asked: 'everturn-asked/1',
  agent: 'everturn-agent/1',
} as const;
export type RecordKind = keyof typeof FORMATS;
const KINDS: ReadonlyMap<unknown, RecordKind> = new Map(
  Object.entries(FORMATS).map(([kind, format]) => [format, kind as RecordKind]),
);

export const kindOf = (format: unknown): RecordKind | undefined => KINDS.get(format);

const TABLES: Readonly<Partial<Record<RecordKind, FieldTable>>> = {
  run: RUN,
  result: RESULT,
  rollout: ROLLOUT,
  turn: TURN,
  chunk: CHUNK,
  verdict: VERDICT,
  end: END,
  weights: WEIGHTS_ENTRY,
  say: SAY,
  intent: INTENT,
  call: CALL,
  asked: ASKED,
  agent: AGENT_ENTRY,
};

export function tableOf(kind: RecordKind, record: object): FieldTable | undefined {
  const { act, kind: entry } = record as { readonly act?: unknown; readonly kind?: unknown };
  if (kind === 'steering') return own(ACT_FIELDS, act);
  return kind === 'feed' ? own(FEED_ENTRY, entry) : TABLES[kind];
}

const own = (tables: Readonly<Record<string, FieldTable>>, name: unknown): FieldTable | undefined =>
  typeof name === 'string' && Object.hasOwn(tables, name) ? tables[name] : undefined;
