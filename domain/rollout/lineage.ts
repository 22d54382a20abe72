// A fork: a run that goes on from a turn of another one. The turns before it are carried over as copies, each with the hash of
// its original, so that they are proved also where the other run is gone.

import * as f from '../schema/fields.ts';

/** The place where a rollout goes on from another one. */
const PLACE_OF_PARENT = {
  run: f.NAME,
  query: f.NAME,
  sample: f.COUNT,
  attempt: f.PLACE,
  /** The first own turn, 1-based: those before it are carried over. */
  turn: f.PLACE,
  /** SHA-256 of the parent's run.json and rollout.json. */
  runHash: f.HASH,
  rolloutHash: f.HASH,
  /** SHA-256 of the parent's last turn that is carried over; its rollout.json's where none is. */
  hash: f.HASH,
};
export type Parent = f.ObjectOf<typeof PLACE_OF_PARENT>;
export const PARENT = f.objectOf(PLACE_OF_PARENT);

/** The parent of all rollouts of a run, in run.json. */
export const FORKED_FROM = f.objectOf({
  ...PLACE_OF_PARENT,
  how: f.oneOf('fork', 'extend'),
  /** A person's message behind the feedback before the first own turn; null if there is none. */
  said: f.orNull(f.NAME),
  by: f.NAME,
  reason: f.orNull(f.NAME),
  /** Epoch milliseconds. */
  at: f.COUNT,
});
export type ForkedFrom = f.TypeOf<typeof FORKED_FROM>;

/** The mark of a copy: what is needed to write its original again. */
export interface Carried {
  /** The hash of the original. */
  readonly sha256: string;
  /** The hash of the record before the original, if that is a turn. */
  readonly previous?: string;
  /** If the original was carried over itself. */
  readonly carried?: Carried;
}

export const CARRIED: f.Test<Carried> = [(value) => MARK[0](value), 'the mark of a copy'];
// A fork of a fork: as deep as forks go.
const MARK = f.objectOf({ sha256: f.HASH, previous: f.maybe(f.HASH), carried: f.maybe(CARRIED) });

export function parentOf({ run, query, sample, attempt, turn, runHash, rolloutHash, hash }: Parent): Parent {
  return { run, query, sample, attempt, turn, runHash, rolloutHash, hash };
}

export const SAY = {
  /** The turn that answers it: 2 or later. */
  turn: f.PLACE,
  text: f.NAME,
  by: f.NAME,
  /** Epoch milliseconds. */
  at: f.COUNT,
  /** Hash of the turn record before it. */
  of: f.HASH,
  /** Present if it was carried over from another run. */
  carried: f.maybe(CARRIED),
};
export type SayRecord = f.ObjectOf<typeof SAY>;

/** The message in the record of the turn that answered it. */
export const SAID = f.objectOf({ text: f.NAME, hash: f.HASH });
