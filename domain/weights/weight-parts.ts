// The parts of an update of weights: one server, and the updates that the run's folder holds. Types only.

import type { DeclaredWeights, Known, WeightsProgress } from './weights.ts';

/** One server while it gets other weights: the few calls that weights-saga.ts needs. A ModelError if it did not do one. */
export interface WeightServer {
  readonly url: string;
  /** The server's label of its weights; null if it reports none. */
  version(): Promise<string | null>;
  /** Stops generation. Answers in flight continue after `resume`, with their contexts recomputed. */
  pause(): Promise<void>;
  /** Only while paused. The label changes last: a server that reports it has completed all other steps. */
  load(folder: string, label: string): Promise<void>;
  resume(): Promise<void>;
  /** Changes only the label of the weights. */
  name(label: string): Promise<void>;
  /** After a failed `load`: true if the old weights are certainly intact; otherwise they are unknown. */
  keptItsWeights(error: unknown): boolean;
  close(): Promise<void>;
}

/** The updates of one run's weights. */
export interface WeightsLedger {
  read(): Promise<Known>;
  /** The weights of the update that is in force; cheap, for every turn asks. */
  current(): Promise<DeclaredWeights | null>;
  /** False if its number is taken. */
  declare(entry: DeclaredWeights): Promise<boolean>;
  markLoaded(number: number): Promise<void>;
  /** Replaces what was said of its servers. */
  note(number: number, progress: WeightsProgress): Promise<void>;
  progress(number: number): Promise<WeightsProgress | null>;
}
