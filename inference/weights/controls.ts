// How one server is given other weights: the few words of each kind of server that the saga of new weights (domain/weights-saga.ts) needs.
// Each throws a ModelError where the server did not do it.

import type { Http } from '../http/http.ts';

export interface WeightControls {
  readonly http: Http;
  /** The server's own word for the weights it has; null where it tells none. */
  version(): Promise<string | null>;
  /** From here on no token is made. Answers in flight go on after `resume`, their contexts computed anew. */
  pause(): Promise<void>;
  /** Only while paused. The word is the last thing that changes: who says it has all the rest. */
  load(from: string, version: string): Promise<void>;
  resume(): Promise<void>;
  /** Changes what the server calls the weights that it has. */
  name(version: string): Promise<void>;
  /** After a failed `load`: are the weights surely those of before? Else nobody knows which they are. */
  keptItsWeights(error: unknown): boolean;
}

/** For what a server does at once, as soon as it has the time. */
export const CONTROL_TIMEOUTS = { firstByteMs: 120_000, totalMs: 120_000 };
