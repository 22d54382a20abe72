// One server of a run's model as a worker sees it: reported by the fleet, kept in the run's folder, shown to people.

export interface ServerStatus {
  readonly url: string;
  /** `trying`: it was down and is being probed. */
  readonly state: 'up' | 'trying' | 'down';
  readonly requests: number;
  readonly failures: number;
  /** The same by reason (ModelError.reason). */
  readonly failuresBy: Readonly<Record<string, number>>;
  readonly inFlight: number;
  /** Median over the latest answers; null before the first. */
  readonly latencyP50Ms: number | null;
  readonly version: number | null;
  readonly versionLabel: string | null;
  /** The later version that it had before; null unless it went back. */
  readonly fellFrom: string | null;
  /** One line; null if no request failed. */
  readonly lastFailure: string | null;
  /** Answers whose logprobs were asked for again, and what that cost. */
  readonly rechecks: Rechecks;
}

export interface Rechecks {
  readonly answers: number;
  readonly tokens: number;
  /** The waits of these answers in sum: they wait beside each other. */
  readonly waitedMs: number;
  readonly differed: number;
}

export const NO_RECHECKS: Rechecks = { answers: 0, tokens: 0, waitedMs: 0, differed: 0 };
