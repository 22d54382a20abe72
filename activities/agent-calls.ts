// The calls of an agent that have a turn, in the order of their numbers: those of all attempts.

import { type AskedRecord, wholeRequest } from '../domain/agent/index.ts';
import { type PlayedCall, playedCall, replyOf } from '../domain/context/call-context.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RecordedReply } from '../endpoint/index.ts';
import type { Store, Stored } from '../records/store.ts';
import type { DueCall, Play } from './agent-turns.ts';

export interface AgentCalls {
  readonly played: readonly PlayedCall[];
  turnOf(call: string): Stored<TurnRecord>;
  has(call: string): boolean;
  add(turn: Stored<TurnRecord>): void;
  /** A call that was written down, with what its turn needs. */
  due(asked: Stored<AskedRecord>): DueCall;
  /** Calls that extend no other. */
  roots(): number;
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
  const byTurn = new Map<number, { readonly call: PlayedCall; readonly turn: Stored<TurnRecord> }>();
  const played: PlayedCall[] = [];
  let count = 0;
  let roots = 0;

  function add(turn: Stored<TurnRecord>): void {
    const call = playedCall(turn.record, (number) => byTurn.get(number)?.call);
    if (turns.has(call.id)) return;
    turns.set(call.id, turn);
    byTurn.set(turn.record.turn, { call, turn });
    played.push(call);
    if (call.parent === null) roots++;
  }

  function due(asked: Stored<AskedRecord>): DueCall {
    const before: Stored<TurnRecord>[] = [];
    const { parent } = asked.record.asked;
    for (let at = parent; at !== null; at = before.at(-1)!.record.asked!.parent) before.push(byTurn.get(at)!.turn);
    const behind = parent === null ? undefined : byTurn.get(parent)!.call.request;
    return { asked, before: before.toReversed(), request: wholeRequest(asked.record.asked, behind) };
  }

  return {
    played,
    turnOf: (call) => turns.get(call)!,
    has: (call) => turns.has(call),
    add,
    due,
    roots: () => roots,
    nextTurn: () => ++count,
    recorded: () =>
      [...byTurn.values()].map(({ call: { request }, turn: { record } }) => ({
        hash: record.asked!.hash,
        occurrence: record.asked!.occurrence,
        request,
        dialect: record.asked!.dialect,
        reply: replyOf(record),
      })),
    async readOn() {
      const left: Stored<AskedRecord>[] = [];
      for (let turn = count + 1; ; turn++) {
        const there = await store.get('turn', id, turn);
        const asked = there ? undefined : await store.get('asked', id, turn);
        if (!there && !asked) break;
        count = turn;
        // A call goes on from one that has its reply: no turn is read before the one that it needs.
        if (there) add(there);
        else left.push(asked!);
      }
      for (const turn of await Promise.all(left.map((asked) => play(due(asked))))) add(turn);
    },
  };
}
