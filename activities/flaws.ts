// Counts the unreadable answers of a turn by what was wrong with them. The third of one kind fails the turn, which
// would be retried for ever. The count is in the heartbeats, so it outlives the worker.

import { ModelError } from '../domain/errors/errors.ts';

const ALIKE = 3;
/** Unreadable answers of all kinds: a server that is wrong in another way each time fails the turn, too. */
const IN_ALL = 12;
/** An update of the weights explains these, and several updates several of them. */
const OF_UPDATES: ReadonlySet<string> = new Set(['version-moved', 'server-aborted']);

export interface Flaws {
  readonly counts: Readonly<Record<string, number>>;
  /** Servers that gave such answers. */
  readonly servers: readonly string[];
}

const NO_FLAWS: Flaws = { counts: {}, servers: [] };

/** The flaws in an earlier attempt's heartbeat details, of whatever shape these are. */
export function readFlaws(details: unknown): Flaws {
  const { flaws } = (typeof details === 'object' && details !== null ? details : {}) as { flaws?: Flaws };
  return flaws ?? NO_FLAWS;
}

/** Undefined where `error` is of another kind. */
export function withFlaw(flaws: Flaws, error: unknown): Flaws | undefined {
  if (!(error instanceof ModelError) || error.flaw === undefined) return undefined;
  const counts = { ...flaws.counts, [error.flaw]: (flaws.counts[error.flaw] ?? 0) + 1 };
  const { server } = error;
  return { counts, servers: server === undefined ? flaws.servers : [...new Set([...flaws.servers, server])] };
}

/** The error to throw: not retryable if it was the third of its kind. */
export function failIfRepeated(error: ModelError, { counts }: Flaws): ModelError {
  const times = counts[error.flaw!]!;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const most = OF_UPDATES.has(error.reason) ? IN_ALL : ALIKE;
  if (times < most && all < IN_ALL) return error;
  const tries = times >= most ? `${times} times for this turn` : `the last of ${all} that could not be read`;
  const { reason, flaw, message } = error;
  return new ModelError(`${reason}: ${flaw!} (${tries}): ${message}`, {
    reason,
    flaw: flaw!,
    fix: 'Look at what answers at that address; then start the rollouts that failed again.',
    cause: error,
  });
}
