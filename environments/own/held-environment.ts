// An environment with state `held` in its processes or connections: every call of a rollout goes to the process that began it. A call that
// fails leaves its session lost, since nobody knows what it did.

import type { Begun, EnvironmentRecord, Reply } from '../../domain/rollout/environment.ts';
import type { EarlierTurn } from '../../domain/rollout/new-context.ts';
import type { Environment, Move, Played } from '../environment.ts';
import { lost, openSessions } from './held.ts';
import { type Holders, letGo, type Live } from './process-pool.ts';
import { episodeOf, lastAnswered } from './wire.ts';

/** The calls of one process or connection. */
export interface Steps<S extends Live> {
  begin(seat: S, rollout: Played, signal: AbortSignal): Promise<Begun>;
  respond(seat: S, move: Move, before: readonly EarlierTurn[], signal: AbortSignal): Promise<Reply>;
  end(seat: S, rollout: Played, turns: readonly EarlierTurn[], signal?: AbortSignal): Promise<void>;
}

export function heldEnvironment<S extends Live>(
  { name, idleSeconds = 0 }: EnvironmentRecord,
  pool: Holders<S>,
  { begin, respond, end }: Steps<S>,
): Environment {
  const rollouts = new Map<string, Played>();
  const giveBack = (key: string): void => {
    const rollout = rollouts.get(key);
    rollouts.delete(key);
    // Nobody waits for it; a process that cannot end a session ends with it.
    if (rollout) void letGo(pool, key, undefined, (seat) => end(seat, rollout, [])).catch(() => undefined);
  };
  const sessions = openSessions({ name, idleSeconds, giveBack });

  return {
    begin: async (rollout, { signal }) => {
      const { key } = episodeOf(rollout);
      // The call came before, and nobody got its result: that session is given back first.
      await letGo(pool, key, signal, (seat) => end(seat, rollout, [], signal));
      return pool.use(key, signal, async (seat) => {
        const begun = await begin(seat, rollout, signal);
        rollouts.set(key, rollout);
        sessions.played(key, 0, null);
        return { ...begun, state: sessions.begun(key) };
      });
    },

    async respond(move, { signal }) {
      const before = await move.before();
      const { key } = episodeOf(move.rollout);
      const known = sessions.before(key, move.rollout.begun?.state, move.turn, lastAnswered(before));
      if (known) return known;
      sessions.taken(key);
      const reply = await pool.useHolder(key, signal, async (seat) => {
        const said = await respond(seat, move, before, signal);
        sessions.played(key, move.turn, said);
        return said;
      });
      if (reply) return reply;
      throw lost(name);
    },

    async end({ rollout, before }, { signal }) {
      const turns = await before();
      const { key } = episodeOf(rollout);
      sessions.ended(key);
      rollouts.delete(key);
      await letGo(pool, key, signal, (seat) => end(seat, rollout, turns, signal));
    },
  };
}
