// The form of what people did to a rollout: the fields of each act and the test of each field.

import { type ActOf, HUMAN_VERDICTS, type NoteAct, type RetryAct, type VerdictAct } from '../domain/steering.ts';
import { COUNT, type Fields, HASH, NAME, oneOf, only, orNull, PLACE, TEXT, type Test } from './field-tests.ts';

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

/** By what a person did. */
export const ACTS: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  verdict: VERDICT_ACT,
  note: NOTE_ACT,
  retry: RETRY_ACT,
};
