// Sessions that a process of this worker holds for a rollout, and that nothing can rebuild: a browser, a container. Each
// has a lease: it is released after its idle time without a call. A session that is gone is environment-lost, and never
// a fresh one in its place. A worker that does not hold it waits for the one that does, for the same time.

import { randomUUID } from 'node:crypto';
import type { Reply } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { Json } from '../../domain/text/json.ts';

/** Identifies this process of a worker: each beginning is recorded with it. */
export const HOLDER = randomUUID();
/** Between two tries of a worker that does not hold the session. */
const ELSEWHERE_MS = 500;
const MOST_SEEN = 10_000;

interface Session {
  turn: number;
  /** The last reply, if its call comes again. */
  reply: Reply | null;
  lease: NodeJS.Timeout;
}

export interface Sessions {
  /** The recorded beginning of a session here. */
  begun(key: string): Json;
  /**
   * The reply that was given to this turn; undefined if the turn is to be played, behind the turn `last`. Throws if the
   * session is not here.
   */
  before(key: string, begun: Json | undefined, turn: number, last: number): Reply | undefined;
  /** No call may find it until `played`: if this one fails, it is lost. */
  taken(key: string): void;
  played(key: string, turn: number, reply: Reply | null): void;
  ended(key: string): void;
  close(): void;
}

export interface SessionsOptions {
  readonly name: string;
  readonly idleSeconds: number;
  /** Its lease ran out. */
  readonly giveBack: (key: string) => void;
  readonly now?: () => number;
}

export function openSessions({ name, idleSeconds, giveBack, now = Date.now }: SessionsOptions): Sessions {
  const sessions = new Map<string, Session>();
  /** Calls for sessions elsewhere: when each was first seen here. */
  const seen = new Map<string, number>();
  const idleMs = idleSeconds * 1000;

  function lose(key: string): void {
    clearTimeout(sessions.get(key)?.lease);
    sessions.delete(key);
  }

  function isElsewhere(key: string, begun: Json | undefined): boolean {
    const holder = typeof begun === 'object' && begun !== null && 'holder' in begun ? begun.holder : undefined;
    if (holder === undefined || holder === HOLDER) return false;
    const first = seen.get(key) ?? now();
    if (seen.size >= MOST_SEEN) seen.clear();
    seen.set(key, first);
    return now() - first < idleMs;
  }

  return {
    begun: () => ({ holder: HOLDER }),
    before(key, begun, turn, last) {
      const session = sessions.get(key);
      if (session?.turn === last) return undefined;
      if (session?.turn === turn && session.reply) return session.reply;
      if (isElsewhere(key, begun)) {
        throw new EnvironmentError(`Another worker holds the session of the environment ${name}.`, {
          reason: 'environment-not-served',
          retryable: true,
          retryAfterMs: ELSEWHERE_MS,
        });
      }
      throw lost(name);
    },
    taken: lose,
    played(key, turn, reply) {
      lose(key);
      const over = () => {
        sessions.delete(key);
        giveBack(key);
      };
      sessions.set(key, { turn, reply, lease: setTimeout(over, idleMs).unref() });
    },
    ended: lose,
    close() {
      for (const key of sessions.keys()) lose(key);
    },
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

/** `why`: as the environment says. */
export function lost(name: string, why?: string): EnvironmentError {
  const said = why === undefined || why === '' ? '.' : `: ${why}`;
  return new EnvironmentError(`The session that the environment ${name} held for this rollout is gone${said}`, {
    reason: 'environment-lost',
    fix: 'Its process ended, or no call came within its `idleSeconds`. `everturn retry` plays the rollout again.',
  });
}
