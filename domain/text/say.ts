// A person's message to the model: it stands behind the judge's feedback in the same user message, before one turn. Stored
// before that turn is generated; its tokens are context and carry no loss.

import { CARRIED } from '../rollout/lineage.ts';
import { COUNT, HASH, maybe, NAME, type ObjectOf, objectOf, PLACE, type TypeOf } from '../schema/fields.ts';

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

/** The argument of the update `say`. */
export interface Message {
  readonly text: string;
  readonly by: string;
}

/** Its result: the turn that will answer the message, unless the rollout ends before it. */
export interface Awaited {
  readonly turn: number;
}

/** A message on its way to a turn. `at`: epoch milliseconds. */
export type SentMessage = Message & Pick<SayRecord, 'at'>;

export const MOST_MESSAGE_CHARS = 20_000;
export const MOST_NAME_CHARS = 200;

/** The fault of an argument from any client; undefined if there is none. */
export function messageProblem(message: unknown): string | undefined {
  const { text, by } = (message ?? {}) as Partial<Record<keyof Message, unknown>>;
  const isText = (value: unknown, most: number) =>
    typeof value === 'string' && value.trim() !== '' && value.length <= most;
  if (!isText(text, MOST_MESSAGE_CHARS)) return `\`text\` must be a text of 1 to ${MOST_MESSAGE_CHARS} characters`;
  if (!isText(by, MOST_NAME_CHARS)) return `\`by\` must be a text of 1 to ${MOST_NAME_CHARS} characters`;
  return undefined;
}

/** In the record of the turn that answered it. */
export const SAID = objectOf({ text: NAME, hash: HASH });
export type Said = TypeOf<typeof SAID>;
