// The calls of an agent that have a turn, in the order of their numbers: those of all attempts.

import { type PlayedCall, playedCall, replyOf } from '../domain/context/call-context.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RecordedReply } from '../endpoint/agents.ts';
import type { Store, Stored } from '../records/store.ts';

/** Has the turn of a call played, and returns its record. */
export type Play = (turn: number, call: string) => Promise<Stored<TurnRecord>>;

export interface AgentCalls {
  readonly played: readonly PlayedCall[];
  turnOf(call: string): Stored<TurnRecord>;
  has(call: string): boolean;
  add(turn: Stored<TurnRecord>): void;
  /** A number that no call has, as far as this attempt knows. */
  nextTurn(): number;
  recorded(): readonly RecordedReply[];
  /**
   * Adds the calls behind the last number. Those that were asked for and have no turn yet, since their attempt ended, get
   * theirs first.
   */
  readOn(): Promise<void>;
}

export function openAgentCalls(store: Store, id: TrajectoryReference, play: Play): AgentCalls {
  const turns = new Map<string, Stored<TurnRecord>>();
  const byTurn = new Map<number, PlayedCall>();
  const played: PlayedCall[] = [];
  let count = 0;

  function add(turn: Stored<TurnRecord>): void {
    const call = playedCall(turn.record, (number) => byTurn.get(number));
    if (turns.has(call.id)) return;
    turns.set(call.id, turn);
    byTurn.set(turn.record.turn, call);
    played.push(call);
  }

  return {
    played,
    turnOf: (call) => turns.get(call)!,
    has: (call) => turns.has(call),
    add,
    nextTurn: () => ++count,
    recorded: () =>
      [...turns.values()].map(({ record }) => ({
        hash: record.asked!.hash,
        occurrence: record.asked!.occurrence,
        request: byTurn.get(record.turn)!.request,
        dialect: record.asked!.dialect,
        reply: replyOf(record),
      })),
    async readOn() {
      const found: Promise<Stored<TurnRecord>>[] = [];
      for (let turn = count + 1; ; turn++) {
        const there = await store.get('turn', id, turn);
        const asked = there ? undefined : await store.get('asked', id, turn);
        if (!there && !asked) break;
        count = turn;
        const due = there ? Promise.resolve(there) : play(turn, asked!.record.asked.call);
        due.catch(() => undefined);
        found.push(due);
      }
      for (const turn of await Promise.all(found)) add(turn);
    },
  };
}
