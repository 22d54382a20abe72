// A person's message to the model: it stands behind the judge's feedback in the same user message, before one turn. Stored
// before that turn is generated; its tokens are context and carry no loss.

import type { Carried } from './lineage.ts';

export interface SayRecord {
  /** The turn that answers it: 2 or later. */
  readonly turn: number;
  readonly text: string;
  readonly by: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Hash of the turn record before it. */
  readonly of: string;
  /** Present if it was carried over from another run. */
  readonly carried?: Carried;
}

/** In the record of the turn that answered it. */
export interface Said {
  readonly text: string;
  /** SHA-256 of the message's record. */
  readonly hash: string;
}
