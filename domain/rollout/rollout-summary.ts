// A rollout as small facts: everything that statistics, lists and comparisons read, without texts, ids and logprobs.
// About a hundred bytes a turn, so that 100,000 rollouts fit into memory.

import type { Outcome, StopReason } from './ending.ts';
import type { RolloutId } from '../names/ids.ts';
import { type CallRefusal, refusalOf } from '../errors/refusals.ts';
import type { CallResult } from '../tools/tool.ts';
import type { Finish } from './turn.ts';
import type { VerdictValue } from './verdict.ts';

/** The numbers that a user's environment gave for one turn; absent without any. */
export interface NamedNumbers {
  readonly metrics?: Readonly<Record<string, number>>;
  /** The named parts of its reward. */
  readonly rewards?: Readonly<Record<string, number>>;
}

export interface TurnSummary extends NamedNumbers {
  /** 1-based. */
  readonly turn: number;
  /** Null: not judged (yet). */
  readonly verdict: VerdictValue | null;
  /** The reason of the verdict: `equal`, `different`, `no-answer`, … */
  readonly reason: string | null;
  /** The final answer that the judge found; text of a model. */
  readonly extracted: string | null;
  /** r_t; null while the rollout is in flight, and for a turn without a verdict of right or wrong. */
  readonly reward: number | null;
  /** Null: unknown, because the server gave text without tokens. */
  readonly outputTokens: number | null;
  /** Tokens of the whole context C_t; null: unknown, because the server was sent messages, and counted none. */
  readonly contextTokens: number | null;
  /** Tokens of the context that were cached, and of the answer that were thoughts, as an endpoint counts them; absent where it does not. */
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  readonly finish: Finish;
  readonly versionStart: number;
  readonly versionEnd: number;
  readonly server: string | null;
  /** The attempt of the generation activity that wrote the turn, 1-based. */
  readonly tries: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
  /** Null without a verdict, and where tools were called: nobody judged. */
  readonly judgeMs: number | null;
  /** Sum of the natural logprobs of the answer; null unless they were asked for. */
  readonly logprobSum: number | null;
  /** Absent for an answer. */
  readonly calls?: readonly CallSummary[];
}

interface CallSummary extends Pick<CallResult, 'name' | 'outcome' | 'ms'> {
  /** Absent for a call that ran. */
  readonly refusal?: CallRefusal;
}

export const callSummary = ({ name, outcome, ms, output }: CallResult): CallSummary => ({
  ...{ name, outcome, ms },
  ...(outcome === 'refused' && { refusal: refusalOf(output) }),
});

export interface RolloutSummary extends Omit<RolloutId, 'run'> {
  /** 0-based place of the query in queries.jsonl; null for a rollout that a client started directly. */
  readonly index: number | null;
  /** Null: in flight. */
  readonly outcome: Outcome | null;
  readonly stopReason: StopReason | null;
  /** The reason of a failure; null without one. */
  readonly failure: string | null;
  /** 1 right, 0 wrong, null not judged; one per finished turn that is an answer. */
  readonly success: readonly (0 | 1 | null)[];
  /** G_t, one per answer; empty unless the outcome is complete. */
  readonly returns: readonly number[];
  /** Those that called tools included. Empty if only ends were read. */
  readonly turns: readonly TurnSummary[];
  /** The named numbers of each turn, where only ends were read. */
  readonly named?: readonly NamedNumbers[];
  /** Epoch milliseconds; null while it is in flight. */
  readonly finishedAt: number | null;
  /** A person had a part in what it played: it counts in no statistics. */
  readonly steered?: Steered;
}

/** `message`: a person's message is in its context; `fork`: a person chose the turns that it goes on from. */
export type Steered = 'message' | 'fork';

/** Without the rollouts that a person had a part in. */
export function unsteered<R extends Pick<RolloutSummary, 'steered'>>(rollouts: readonly R[]): R[] {
  return rollouts.filter(({ steered }) => steered === undefined);
}

export interface SteeredCount {
  readonly message: number;
  readonly fork: number;
}

export function steeredCount(rollouts: readonly Pick<RolloutSummary, 'steered'>[]): SteeredCount {
  const of = (kind: Steered) => rollouts.filter(({ steered }) => steered === kind).length;
  return { message: of('message'), fork: of('fork') };
}

/** The size of a run, as far as its numbers depend on it. */
export interface RunSize {
  /** 0 if rollouts were started one by one: then nobody knows how many there will be. */
  readonly queries: number;
  /** Samples of a query in one epoch. */
  readonly samples: number;
  readonly epochs: number;
  readonly numTurns: number;
  readonly stop: 'always' | 'success';
}
