// The small JSON facts that pass between a rollout's workflow and its activities.

import type { ProgramFacts } from '../agent/index.ts';
import type { QueueReply } from './environment.ts';
import type { TurnLimits, RolloutResult } from './ending.ts';
import type { TrajectoryReference } from '../names/ids.ts';
import type { Task } from '../query/query.ts';
import { type Boundary, boundaryOfReason, isBoundary } from '../errors/reasons.ts';
import type { RewardSettings } from './reward.ts';
import type { CallOutcome, CallToRun } from '../tools/tool.ts';
import { contextTokens, outputTokens, type TurnFacts } from './turn-facts.ts';
import type { TurnRecord } from './turn.ts';
import type { Verdict } from './verdict.ts';

/** The rollout as fixed by its first step. */
export interface OpenedRollout {
  readonly rollout: TrajectoryReference;
  readonly limits: TurnLimits;
  readonly reward: RewardSettings;
  /** The query's first words, safe to show. */
  readonly title: string;
  /** Decides which workers judge. */
  readonly task: Task;
  /** Its result, if its folder already holds an end. */
  readonly ended?: RolloutResult;
  /** The queue of the program whose function is the model. */
  readonly modelQueue?: string;
  /** An agent's program asks the model. */
  readonly program?: ProgramFacts;
  /** The query's own environment, if it names one. */
  readonly environment?: {
    readonly name: string;
    /** Its activity `begin` comes next, and records the rollout. */
    readonly begins: boolean;
    readonly ends: boolean;
    /** The queue of the program whose function it is. */
    readonly queue?: string;
    /** Its calls are activities of this queue. */
    readonly own?: OwnQueue;
    /** The parameters of `begin`, with `own` and `begins`. */
    readonly ask?: object;
  };
}

/** `noRoom`: the turn cannot fit into the model's context, and nothing was generated. */
export type Generated =
  { readonly noRoom: true; readonly contextTokens: number } | ({ readonly noRoom: false } & GeneratedTurn);

/** The facts of a turn that is not judged yet. */
export interface GeneratedTurn extends Omit<TurnFacts, 'verdict' | 'reason' | 'reward'> {
  /** SHA-256 of the turn's record. */
  readonly hash: string;
  /** The calls to be run, if the reply calls tools and is no answer; empty if none of them can be run. */
  readonly calls?: readonly CallToRun[];
}

/** The task queue of the user's own worker. */
export interface OwnQueue {
  readonly queue: string;
  readonly timeoutSeconds: number;
}

export interface AskInput extends TurnReference {
  readonly method: 'respond' | 'end';
}

/** The parameters of a call; or the reply, if it is recorded. */
export type QueueCall = { readonly params: object } | { readonly judged: ReplyFacts };

export interface EvaluateInput extends TurnReference {
  /** The reply or failure of a call on a user's own queue. */
  readonly said?: QueueReply;
}

export interface TurnReference {
  readonly rollout: TrajectoryReference;
  /** 1-based. */
  readonly turn: number;
}

/** What an agent has done so far, as its rollout's workflow hears of it. */
export interface CallCounts {
  /** Those with their reply. */
  readonly calls: number;
  /** Those that extend no other. */
  readonly branches: number;
  /** Those that wait for the model. */
  readonly waiting: number;
}

export interface CallReference extends TurnReference {
  /** 1-based. */
  readonly call: number;
}

export interface Called {
  readonly outcome: CallOutcome;
}

export interface FailureFacts {
  readonly boundary: Boundary;
  /** Stable machine name. */
  readonly reason: string;
  readonly message: string;
}

/** The details of an ApplicationFailure; its type is the reason. */
export interface FailureDetails {
  readonly boundary: Boundary;
}

/**
 * The boundary of a failure. Without details that can be read it follows from the reason; a reason in no list,
 * such as TypeError, is our bug.
 */
export function boundaryOf(reason: string, detail: () => unknown): Boundary {
  try {
    const { boundary } = (detail() ?? {}) as Partial<FailureDetails>;
    if (isBoundary(boundary)) return boundary;
  } catch {
    // Written by another payload converter: the reason decides.
  }
  return boundaryOfReason(reason) ?? 'everturn';
}

/** The part of a reply that the workflow needs: all of it is in the verdict's record. */
export interface ReplyFacts extends Verdict {
  /** The environment's own; absent: the seed's formula on the verdict. */
  readonly reward?: number;
  /** The environment ended the rollout. */
  readonly done?: boolean;
}

/** The facts of a recorded turn before it is judged. */
export function recordedFacts(record: TurnRecord): Omit<GeneratedTurn, 'hash' | 'calls'> {
  const { turn, finish, versionStart, versionEnd, said } = record;
  const facts = { turn, outputTokens: outputTokens(record), contextTokens: contextTokens(record), finish };
  return { ...facts, versionStart, versionEnd, ...(said && { said: true as const }) };
}

export function turnFacts(generated: Omit<GeneratedTurn, 'hash'>, { verdict, reason, reward }: ReplyFacts): TurnFacts {
  const { turn, outputTokens, contextTokens, finish, versionStart, versionEnd, said } = generated;
  const optionalFacts = { ...(reward !== undefined && { reward }), ...(said && { said }) };
  return { turn, outputTokens, contextTokens, finish, versionStart, versionEnd, verdict, reason, ...optionalFacts };
}
