// An environment that lives in processes: a command, or the host of a module. State `none` and `value` need no particular
// process. State `replay` lives in one: where it was lost, the recorded answers are played again in another, and each
// reply must be the recorded one; every process that holds a copy of a rollout gets its end, or ends the copy when no call
// came for its lease. State `held` lives in one, and is lost with it (held.ts).

import { DEFAULT_COPY_SECONDS, type EnvironmentRecord, type StateKind } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { EarlierTurn } from '../../domain/rollout/new-context.ts';
import type { Environment, Move, Played } from '../environment.ts';
import { heldEnvironment } from './held-environment.ts';
import { broken, parseBegun, parseReply } from './reply.ts';
import { letGo, type ProcessPool, type Seat } from './process-pool.ts';
import {
  answeredIn,
  beginParams,
  earlierMove,
  endParams,
  episodeOf,
  isBegun,
  isRecorded,
  lastAnswered,
  respondParams,
  stateAfter,
} from './wire.ts';

export function processEnvironment(record: EnvironmentRecord, pool: ProcessPool): Environment {
  const { name, state: kind, begins, ends, timeoutSeconds, idleSeconds } = record;
  const timeoutMs = timeoutSeconds * 1000;

  async function begin({ process, live }: Seat, rollout: Played, signal: AbortSignal) {
    const { key } = episodeOf(rollout);
    live.delete(key);
    const begun = parseBegun(name, kind, await process.call('begin', beginParams(rollout), { signal, timeoutMs }));
    if (kind === 'held' && begun.state !== undefined)
      throw broken(name, 'begin', 'a state came back, and its state is held by its process');
    if (kind !== 'none' && kind !== 'value') live.set(key, 0);
    return begun;
  }

  async function respond(
    { process, live }: Seat,
    move: Pick<Move, 'rollout' | 'turn' | 'answer' | 'cut'>,
    before: readonly EarlierTurn[],
    signal: AbortSignal,
  ) {
    const { key } = episodeOf(move.rollout);
    live.delete(key);
    const result = await process.call('respond', respondParams(move, before, kind), { signal, timeoutMs });
    const reply = parseReply(name, kind, result, kind === 'value' ? stateAfter(move.rollout, before) : undefined);
    if (kind !== 'none' && kind !== 'value') live.set(key, move.turn);
    return reply;
  }

  async function end({ process, live }: Seat, rollout: Played, turns: readonly EarlierTurn[], signal?: AbortSignal) {
    await process.call('end', endParams(rollout, turns, kind), { timeoutMs, ...(signal && { signal }) });
    live.delete(episodeOf(rollout).key);
  }

  /** Brings a process to the state after these turns. */
  async function rebuild(seat: Seat, rollout: Played, before: readonly EarlierTurn[], signal: AbortSignal) {
    if (begins && !isBegun(await begin(seat, rollout, signal), rollout)) throw differs(name, kind, 'its beginning');
    for (const earlier of answeredIn(before)) {
      const earlierStill = before.slice(0, before.indexOf(earlier));
      const reply = await respond(seat, earlierMove(rollout, earlier), earlierStill, signal);
      if (!isRecorded(reply, earlier)) throw differs(name, kind, `its reply to turn ${earlier.turn.turn}`);
    }
  }

  if (kind === 'held') return heldEnvironment(record, pool, { begin, respond, end });

  const leases = new Map<string, NodeJS.Timeout>();

  /** Ends the rollout in every process here that holds it. False if none does. */
  async function endHere(rollout: Played, turns: readonly EarlierTurn[], signal?: AbortSignal): Promise<boolean> {
    const { key } = episodeOf(rollout);
    clearTimeout(leases.get(key));
    leases.delete(key);
    return letGo(pool, key, signal, (seat) => end(seat, rollout, turns, signal));
  }

  /** Other workers may go on with the rollout: its copies here are given back when no further call comes. */
  function leased(rollout: Played): void {
    if (kind !== 'replay') return;
    const { key } = episodeOf(rollout);
    clearTimeout(leases.get(key));
    const over = () => void endHere(rollout, []).catch(() => undefined);
    leases.set(key, setTimeout(over, (idleSeconds ?? DEFAULT_COPY_SECONDS) * 1000).unref());
  }

  return {
    ...(begins && {
      begin: async (rollout, { signal }) => {
        leased(rollout);
        return pool.use(episodeOf(rollout).key, signal, (seat) => begin(seat, rollout, signal));
      },
    }),

    async respond(move, { signal }) {
      const before = await move.before();
      const { key } = episodeOf(move.rollout);
      leased(move.rollout);
      return pool.use(key, signal, async (seat) => {
        const isThere = kind !== 'replay' || seat.live.get(key) === lastAnswered(before);
        if (!isThere) await rebuild(seat, move.rollout, before, signal);
        return respond(seat, move, before, signal);
      });
    },

    ...(ends && {
      async end({ rollout, before }, { signal }) {
        const turns = await before();
        if (await endHere(rollout, turns, signal)) return;
        await pool.use(episodeOf(rollout).key, signal, (seat) => end(seat, rollout, turns, signal));
      },
    }),
  };
}

function differs(name: string, kind: StateKind, what: string): EnvironmentError {
  return new EnvironmentError(
    `The environment ${name} says that its state is "${kind}", and ${what} is another one when it is played again.`,
    {
      reason: 'environment-not-deterministic',
      fix: 'Take every random number from `episode.seed`, and nothing from the clock; or keep the state as a value.',
    },
  );
}
