// A fork: a run that goes on from a turn of another one. The turns before it are carried over as copies, each with the hash of
// its original, so that they are proved also where the other run is gone. own-turns.ts and copies.ts use them.

import { type Fields, HASH, maybe, only, type Test } from '../schema/fields.ts';

/** The place where a rollout goes on from another one. */
export interface Parent {
  readonly run: string;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
  /** The first own turn, 1-based: those before it are carried over. */
  readonly turn: number;
  /** SHA-256 of the parent's run.json and rollout.json. */
  readonly runHash: string;
  readonly rolloutHash: string;
  /** SHA-256 of the parent's last turn that is carried over; its rollout.json's where none is. */
  readonly hash: string;
}

/** In run.json: all rollouts of the run have this parent. */
export interface ForkedFrom extends Parent {
  readonly how: 'fork' | 'extend';
  /** A person's message behind the feedback before the first own turn; null if there is none. */
  readonly said: string | null;
  readonly by: string;
  readonly reason: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The mark of a copy: what is needed to write its original again. */
export interface Carried {
  /** Of the original. */
  readonly sha256: string;
  /** Of the original turn: the hash of the record before it. */
  readonly previous?: string;
  /** If the original was carried over itself. */
  readonly carried?: Carried;
}

const CARRIED_FIELDS: Fields<Carried> = {
  sha256: HASH,
  previous: maybe(HASH),
  // A fork of a fork: as deep as forks go.
  carried: [(value) => value === undefined || CARRIED[0](value), 'the mark of a copy'],
};
export const CARRIED: Test<Carried> = [(value) => only<Carried>(CARRIED_FIELDS)[0](value), 'the mark of a copy'];

export function parentOf({ run, query, sample, attempt, turn, runHash, rolloutHash, hash }: Parent): Parent {
  return { run, query, sample, attempt, turn, runHash, rolloutHash, hash };
}
