// Replaces the weights of one server: the few calls of each kind of server that the saga of domain/weights/weights-saga.ts needs.
// Each throws a ModelError if the server did not do it.

import type { Http } from '../http/http.ts';

export interface WeightControls {
  readonly http: Http;
  /** The server's label of its weights; null if it reports none. */
  version(): Promise<string | null>;
  /** Stops generation. Answers in flight continue after `resume`, with their contexts recomputed. */
  pause(): Promise<void>;
  /** Only while paused. The label changes last: a server that reports it has completed all other steps. */
  load(from: string, version: string): Promise<void>;
  resume(): Promise<void>;
  /** Changes only the label of the weights. */
  name(version: string): Promise<void>;
  /** After a failed `load`: true if the old weights are certainly intact; otherwise they are unknown. */
  keptItsWeights(error: unknown): boolean;
}

/** For calls that a server performs at once, when it gets to them. */
export const CONTROL_TIMEOUTS = { firstByteMs: 120_000, totalMs: 120_000 };
