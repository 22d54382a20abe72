// The records of a rollout: its query, each verdict, and its end; the trajectory assembled from them,
// and its result.

import type { ReplyFields } from './environment.ts';
import type { Json } from '../text/json.ts';
import { type Outcome, recordedResult, type RolloutResult, type StopReason } from './ending.ts';
import type { Carried, Parent } from './lineage.ts';
import type { Prompt, Query } from '../run/query.ts';
import type { Boundary } from '../errors/reasons.ts';
import type { RolloutSettings } from '../run/settings.ts';
import type { CallResult } from '../tools/tool.ts';
import { outputTokens, type TurnRecord } from './turn.ts';
import type { Verdict } from './verdict.ts';

/** Written by a rollout's first step: the query and settings it plays, independent of the source file. */
export interface RolloutRecord {
  readonly run: string;
  readonly query: Query;
  /** 0-based place in queries.jsonl; null for a rollout that a client started directly. */
  readonly index: number | null;
  /** 0-based. */
  readonly sample: number;
  /** 1-based. */
  readonly attempt: number;
  readonly settings: RolloutSettings;
  /** Epoch milliseconds when the trajectory began: the sample's birth_time. */
  readonly birthTime: number;
  /** Present in a fork: the turns before `parent.turn` are carried over. */
  readonly parent?: Parent;
  /** Of an environment that began the rollout: the prompt of `query` is then its own. */
  readonly begun?: Begun;
}

export interface Begun {
  /** The row's prompt. */
  readonly asked: Prompt;
  /** The first state. */
  readonly state?: Json;
  /** The fingerprint of the environment. */
  readonly environment: string;
}

/** With an environment of the user's, the rest of its reply. */
export interface VerdictRecord extends Verdict, ReplyFields {
  /** The fingerprint of the user's environment that replied. */
  readonly environment?: string;
  /** The environment's failure, if the answer is undecided because of it. */
  readonly note?: string;
  readonly turn: number;
  /** Hash of the turn record that was judged. */
  readonly of: string;
  /** Milliseconds the judge took. */
  readonly tookMs: number;
  /** Present if it was carried over from another run. */
  readonly carried?: Carried;
  /** Of a turn that called tools: each call of its reply, in order. */
  readonly calls?: readonly CallResult[];
}

export interface Failure {
  readonly boundary: Boundary;
  /** Stable machine name. */
  readonly reason: string;
  /** One line for users. */
  readonly message: string;
  /** The turn that failed, 1-based. */
  readonly turn: number;
}

/** Written by a rollout's last step. */
export interface EndRecord {
  readonly outcome: Outcome;
  readonly stopReason: StopReason;
  readonly failure: Failure | null;
  /** Undiscounted r_t, one per judged turn: the environment's own, or the seed's formula on the verdict. */
  readonly turnRewards: readonly number[];
  /** Discounted returns G_t, one per turn; empty unless outcome is complete. */
  readonly rewards: readonly number[];
  /** 1 right, 0 wrong, null neither; one per finished turn. */
  readonly success: readonly (0 | 1 | null)[];
  /** Hashes of the turn records, in order. */
  readonly turns: readonly string[];
  readonly finishedAt: number;
  /** Turns with a person's message in their context; absent if there is none. */
  readonly said?: readonly number[];
  /** Turns that called tools and hold no answer; absent if there is none. */
  readonly called?: readonly number[];
}

export interface PlayedTurn {
  readonly record: TurnRecord;
  readonly verdict: VerdictRecord | null;
}

export interface Trajectory {
  readonly rollout: RolloutRecord;
  readonly turns: readonly PlayedTurn[];
  /** Null until the rollout has ended. */
  readonly end: EndRecord | null;
}

/** The result of a trajectory in the folder `out`; undefined until it has ended. */
export function resultOf(out: string, { rollout, turns, end }: Trajectory): RolloutResult | undefined {
  if (!end) return undefined;
  const { run, query, sample, attempt } = rollout;
  const trajectory = { out, run, query: query.queryId, sample, attempt };
  const counted = turns.map(({ record, verdict }) => ({ tokens: outputTokens(record), verdict }));
  return recordedResult(trajectory, end, counted);
}

/** Ids of C_t: everything before turn t's answer. `turn` is 1-based. */
export function contextIds(turns: readonly TurnRecord[], turn: number): number[] {
  // No push(...ids): a context of 130,000 tokens would overflow the stack.
  const parts = turns.slice(0, turn).flatMap((t) => (t.turn < turn ? [t.contextIds, t.outputIds] : [t.contextIds]));
  return concatenated(...parts);
}

/** All parts in one list: ids, or logprobs. */
export function concatenated(...parts: readonly (readonly number[])[]): number[] {
  return ([] as number[]).concat(...parts);
}
