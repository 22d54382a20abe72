// Sessions that a process of this worker holds for a rollout, and that nothing can rebuild: a browser, a container. One that
// is gone is environment-lost, and never a fresh one takes its place. A worker that does not hold it waits for the one that
// does, for as long as its lease.

import { randomUUID } from 'node:crypto';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { lostSessionError } from '../processes/envelope.ts';
import type { Json } from '../../domain/text/json.ts';

/** Identifies this process of a worker: each beginning is recorded with it. */
export const HOLDER = randomUUID();
/** Between two tries of a worker that does not hold the session. */
const ELSEWHERE_MS = 500;
const MOST_SEEN = 10_000;

/** The error for a session that is not held here. `begun`: the state that its beginning recorded. */
export type Absent = (key: string, begun: Json | undefined) => EnvironmentError;

export function absentSessionError(name: string, idleSeconds: number, now = Date.now): Absent {
  /** Calls for sessions elsewhere: when each was first seen here. */
  const seen = new Map<string, number>();
  return (key, begun) => {
    const holder = typeof begun === 'object' && begun !== null && 'holder' in begun ? begun.holder : undefined;
    if (holder === undefined || holder === HOLDER) return lostSessionError(name);
    const first = seen.get(key) ?? now();
    if (seen.size >= MOST_SEEN) seen.clear();
    seen.set(key, first);
    if (now() - first >= idleSeconds * 1000) return lostSessionError(name);
    return new EnvironmentError(`Another worker holds the session of the environment ${name}.`, {
      reason: 'environment-not-served',
      retryable: true,
      retryAfterMs: ELSEWHERE_MS,
    });
  };
}
/** A move that may have been made must not be made twice. */
export function lostByRepeat(name: string): EnvironmentError {
  return new EnvironmentError(
    `A call to the environment ${name} was begun, and its outcome is not known: a second one could play the turn twice.`,
    {
      reason: 'environment-lost',
      fix: 'A server that gives a repeated `Idempotency-Key` its first reply says `idempotent` in its hello. `everturn retry` plays the rollout again.',
    },
  );
}
