// One server of a run's model as a worker sees it: reported by the fleet, kept in the run's folder, shown to people.

import { COUNT, isObject, mapOf, NUMBER, objectOf, type ObjectOf, oneOf, orNull, TEXT } from '../schema/fields.ts';

const RECHECKS = {
  answers: COUNT,
  tokens: COUNT,
  /** The waits of these answers in sum: they wait beside each other. */
  waitedMs: NUMBER,
  differed: COUNT,
};

const SERVER_STATUS = {
  url: TEXT,
  /** `trying`: it was down and is being probed. */
  state: oneOf('up', 'trying', 'down'),
  requests: COUNT,
  failures: COUNT,
  /** The same by reason (ModelError.reason). */
  failuresBy: mapOf(COUNT),
  inFlight: COUNT,
  /** Median over the latest answers; null before the first. */
  latencyP50Ms: orNull(NUMBER),
  version: orNull(COUNT),
  versionLabel: orNull(TEXT),
  /** The later version that it had before; null unless it went back. */
  fellFrom: orNull(TEXT),
  /** One line; null if no request failed. */
  lastFailure: orNull(TEXT),
  /** Answers whose logprobs were asked for again, and what that cost. */
  rechecks: objectOf(RECHECKS),
};

export type ServerStatus = ObjectOf<typeof SERVER_STATUS>;
/** True for a status in a file that anybody may have written; fields of a later version may stand beside these. */
export const isServerStatus = (value: unknown): value is ServerStatus =>
  isObject(value) && Object.entries(SERVER_STATUS).every(([field, [test]]) => test(value[field]));

export type Rechecks = ObjectOf<typeof RECHECKS>;

export const NO_RECHECKS: Rechecks = { answers: 0, tokens: 0, waitedMs: 0, differed: 0 };
