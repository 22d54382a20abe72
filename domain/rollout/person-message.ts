// A person's message to the model, in a fork: it stands behind the judge's feedback in the same user message, before one
// turn. Stored before that turn is generated; its tokens are context and carry no loss.

import { CARRIED } from './lineage.ts';
import { COUNT, HASH, maybe, NAME, type ObjectOf, objectOf, PLACE } from '../schema/fields.ts';

export const SAY = {
  /** The turn that answers it: 2 or later. */
  turn: PLACE,
  text: NAME,
  by: NAME,
  /** Epoch milliseconds. */
  at: COUNT,
  /** Hash of the turn record before it. */
  of: HASH,
  /** Present if it was carried over from another run. */
  carried: maybe(CARRIED),
};
export type SayRecord = ObjectOf<typeof SAY>;

/** The message in the record of the turn that answered it. */
export const SAID = objectOf({ text: NAME, hash: HASH });
