// An environment that lives in processes: a command, or the host of a module. State `none` and `value` need no particular
// process. State `replay` lives in one: where it was lost, the recorded answers are played again in another, and each
// reply must be the recorded one. State `held` lives in one, and is lost with it. Every process that holds a session gets
// its end, or ends it when no call came for its lease.

import {
  DEFAULT_COPY_SECONDS,
  type EnvironmentRecord,
  type EnvironmentReply,
  type StateKind,
} from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import type { EarlierTurn } from '../../domain/context/new-context.ts';
import type { Environment, EnvironmentCall, Move, Played } from '../environment.ts';
import { type EnvironmentCalls, environmentCalls, statelessEnvironment } from './calls.ts';
import { absentSessionError, HOLDER } from './held.ts';
import { brokenError, lostSessionError } from '../processes/envelope.ts';
import { letGo, type ProcessPool, type Seat } from '../processes/process-pool.ts';
import { type Answer, answeredIn, earlierMove, episodeOf, isBegun, isRecorded, lastAnswered } from '../wire.ts';

export function processEnvironment(record: EnvironmentRecord, pool: ProcessPool): Environment {
  if (record.state !== 'none' && record.state !== 'value') return sessionEnvironment(record, pool);
  const limits = { timeoutMs: record.timeoutSeconds * 1000 };
  return statelessEnvironment(record, (method, params, { key, signal }) =>
    pool.use(key, signal, ({ process }) => process.call(method, params, { ...limits, signal })),
  );
}

function sessionEnvironment(record: EnvironmentRecord, pool: ProcessPool): Environment {
  const { name, state, timeoutSeconds } = record;
  const limits = { timeoutMs: timeoutSeconds * 1000 };
  const inSeat = ({ process }: Seat): EnvironmentCalls =>
    environmentCalls(record, (method, params, { signal }) => process.call(method, params, { ...limits, signal }));
  const idleSeconds = record.idleSeconds ?? DEFAULT_COPY_SECONDS;
  const absent = absentSessionError(name, idleSeconds);
  /** Ends the rollout in every process here that holds it. False if none does. */
  async function endHere(rollout: Played, turns: readonly EarlierTurn[], call: EnvironmentCall): Promise<boolean> {
    const { key } = episodeOf(rollout);
    leases.end(key);
    return letGo(pool, key, call.signal, (seat) => inSeat(seat).end(rollout, turns, call));
  }
  /** Its session is given back when no further call comes: the rollout may go on in another worker. */
  const leases = openLeases(idleSeconds);
  const leased = <T>(rollout: Played, work: () => Promise<T>): Promise<T> =>
    leases.renew(episodeOf(rollout).key, work, () => endHere(rollout, [], { signal: NEVER }));

  async function begin(seat: Seat, rollout: Played, call: EnvironmentCall) {
    const { key } = episodeOf(rollout);
    seat.live.delete(key);
    const begun = await inSeat(seat).begin(rollout, call);
    if (state === 'held' && begun.state !== undefined)
      throw brokenError(name, 'begin', 'a state came back, and its state is held by its process');
    seat.live.set(key, { turn: 0 });
    return state === 'held' ? { ...begun, state: { holder: HOLDER } } : begun;
  }

  async function respond(seat: Seat, move: Answer, before: readonly EarlierTurn[], call: EnvironmentCall) {
    const { key } = episodeOf(move.rollout);
    // If the call fails, nobody knows what it did to the session.
    seat.live.delete(key);
    const reply = await inSeat(seat).respond(move, before, call);
    seat.live.set(key, { turn: move.turn, reply });
    return reply;
  }

  /** Brings a process to the state after these turns. */
  async function rebuild(seat: Seat, rollout: Played, before: readonly EarlierTurn[], call: EnvironmentCall) {
    if (record.begins && !isBegun(await begin(seat, rollout, call), rollout))
      throw differs(name, state, 'its beginning');
    for (const earlier of answeredIn(before)) {
      const earlierStill = before.slice(0, before.indexOf(earlier));
      const reply = await respond(seat, earlierMove(rollout, earlier), earlierStill, call);
      if (!isRecorded(reply, earlier)) throw differs(name, state, `its reply to turn ${earlier.turn.turn}`);
    }
  }

  async function respondHeld(
    move: Move,
    before: readonly EarlierTurn[],
    call: EnvironmentCall,
  ): Promise<EnvironmentReply> {
    const { key } = episodeOf(move.rollout);
    const reply = await pool.useHolder(key, call.signal, async (seat) => {
      const at = seat.live.get(key);
      // The call comes again.
      if (at?.reply && at.turn === move.turn) return at.reply;
      if (at?.turn !== lastAnswered(before)) throw lostSessionError(name);
      return respond(seat, move, before, call);
    });
    if (reply) return reply;
    throw absent(key, move.rollout.begun?.state);
  }

  return {
    ...(record.begins && {
      begin: (rollout, call) =>
        leased(rollout, async () => {
          // The call may have come before, and nobody got its result: that session is ended first.
          await endHere(rollout, [], call);
          return pool.use(episodeOf(rollout).key, call.signal, (seat) => begin(seat, rollout, call));
        }),
    }),

    respond: (move, call) =>
      leased(move.rollout, async () => {
        const before = await move.before();
        if (state === 'held') return respondHeld(move, before, call);
        const { key } = episodeOf(move.rollout);
        return pool.use(key, call.signal, async (seat) => {
          if (seat.live.get(key)?.turn !== lastAnswered(before)) await rebuild(seat, move.rollout, before, call);
          return respond(seat, move, before, call);
        });
      }),

    async end({ rollout, before }, call) {
      const turns = await before();
      if ((await endHere(rollout, turns, call)) || state === 'held') return;
      await pool.use(episodeOf(rollout).key, call.signal, (seat) => inSeat(seat).end(rollout, turns, call));
    },
  };
}

const { signal: NEVER } = new AbortController();

/** Leases of sessions, by key: one that no call renews for so long is over. */
function openLeases(idleSeconds: number) {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    async renew<T>(key: string, work: () => Promise<T>, onOver: () => Promise<unknown>): Promise<T> {
      const over = () => void onOver().catch(() => undefined);
      clearTimeout(timers.get(key));
      try {
        return await work();
      } finally {
        clearTimeout(timers.get(key));
        timers.set(key, setTimeout(over, idleSeconds * 1000).unref());
      }
    },
    end(key: string): void {
      clearTimeout(timers.get(key));
      timers.delete(key);
    },
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
