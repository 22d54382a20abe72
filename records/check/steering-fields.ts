// The fields of what people add to a run: their acts, their messages, and the lineage of forks. As shape.ts.

import { CARRIED, type ForkedFrom, type Parent } from '../../domain/rollout/lineage.ts';
import type { SayRecord } from '../../domain/text/say.ts';
import { type ActOf, HUMAN_VERDICTS, type NoteAct, type RetryAct, type VerdictAct } from '../../domain/run/steering.ts';
import {
  COUNT,
  type Fields,
  HASH,
  maybe,
  NAME,
  oneOf,
  only,
  orNull,
  PLACE,
  type Table,
  TEXT,
} from '../../domain/schema/fields.ts';

const ACT = {
  format: TEXT,
  of: only<ActOf>({ query: NAME, sample: COUNT, attempt: PLACE, turn: orNull(PLACE), hash: HASH }),
  by: NAME,
  via: NAME,
  at: COUNT,
};
const VERDICT_ACT: Fields<VerdictAct & { readonly format: string }> = {
  ...ACT,
  act: oneOf('verdict'),
  verdict: oneOf(...HUMAN_VERDICTS),
  reason: orNull(NAME),
  after: orNull(NAME),
};
const NOTE_ACT: Fields<NoteAct & { readonly format: string }> = { ...ACT, act: oneOf('note'), text: NAME };
const RETRY_ACT: Fields<RetryAct & { readonly format: string }> = {
  ...ACT,
  act: oneOf('retry'),
  reason: orNull(NAME),
};

/** By the kind of act. */
export const STEERING: Readonly<Record<string, Table>> = {
  verdict: VERDICT_ACT,
  note: NOTE_ACT,
  retry: RETRY_ACT,
};

const PARENT_FIELDS: Fields<Parent> = {
  run: NAME,
  query: NAME,
  sample: COUNT,
  attempt: PLACE,
  turn: PLACE,
  runHash: HASH,
  rolloutHash: HASH,
  hash: HASH,
};
export const PARENT = only<Parent>(PARENT_FIELDS);
export const FORKED_FROM = only<ForkedFrom>({
  ...PARENT_FIELDS,
  how: oneOf('fork', 'extend'),
  said: orNull(NAME),
  by: NAME,
  reason: orNull(NAME),
  at: COUNT,
});

export const SAY: Fields<SayRecord> = {
  turn: PLACE,
  text: NAME,
  by: NAME,
  at: COUNT,
  of: HASH,
  carried: maybe(CARRIED),
};
