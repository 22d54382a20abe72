// The interface of this room: it runs an agent's program once, with an endpoint of its own in place of a model's API.

import type {
  AgentEnd,
  AgentReply,
  AgentRequest,
  Claim,
  LastWords,
  ProgramRecord,
  RecordedRequest,
  SideModel,
  Verified,
} from '../domain/agent/index.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { JsonObject } from '../domain/text/json.ts';

/** A call with its reply, as an earlier attempt recorded it. */
export interface RecordedReply {
  /** The hash of the request. */
  readonly hash: string;
  readonly occurrence: number;
  readonly request: RecordedRequest;
  readonly dialect: string;
  readonly reply: AgentReply;
}

/** A call that gets no reply, now or when it is made again; the program is told in its dialect. */
export interface RefusedCall {
  readonly refused: 'context-length' | 'unsupported-field';
  readonly message: string;
}

/** The reply to a new call, recorded. `dialect`: of its first request, which names the ids in it. */
export type AnswerCall = (taken: Claim, request: AgentRequest, dialect: string) => Promise<AgentReply | RefusedCall>;

/** Tokens of the context that a call would have; null if this model does not show them. Nothing is recorded. */
export type CountTokens = (request: AgentRequest) => Promise<number | RefusedCall | null>;

/** The text of the reply of a model beside the run's own; `path`: behind `/v1`. Rejects with a ModelError. */
export type AskSide = (to: SideModel, path: string, body: JsonObject) => Promise<string>;

export interface AgentAttempt {
  readonly id: RolloutId;
  /** Hash of the rollout's record. */
  readonly record: string;
  /** 1-based. */
  readonly attempt: number;
  /** A name of this attempt alone, among all of a machine. */
  readonly token: string;
  /** Rejects if a later attempt has begun, which then owns what this one would change. */
  mustBeLast(): Promise<void>;
  readonly program: ProgramRecord;
  /** The program finds it in the file that EVERTURN_ROW names. */
  readonly row: JsonObject;
  readonly seed: number;
  readonly model: string;
  /** Tokens that its context holds. Absent: not known. */
  readonly contextLength?: number;
  /** Calls of earlier attempts, in the order in which they began. */
  readonly recorded: readonly RecordedReply[];
  readonly answer: AnswerCall;
  readonly count: CountTokens;
  readonly side?: AskSide;
  /** Ends the program with all that it started. */
  readonly signal: AbortSignal;
}

export interface AgentEnded {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly said: LastWords;
  /** The rewards that it gave to calls which have their replies, by their ids. */
  readonly callRewards?: Readonly<Record<string, number>>;
  /** Last lines of its standard error. */
  readonly tail: string;
  readonly cut?: NonNullable<AgentEnd['cut']>;
  /** By the tests of its container: `said.reward` is then theirs. */
  readonly verified?: Verified;
  /** The id of the call whose reply it was given last; null if there is none. */
  readonly last: string | null;
  /** Ids of recorded calls whose reply it was not given. */
  readonly abandoned: readonly string[];
  /** Ids of calls of an earlier attempt that this one did not make. */
  readonly unmade?: readonly string[];
}

/** All agents of a worker. */
export interface Agents {
  /** Throws an AgentError if the program may not run here, or is not the one of the run. */
  mayPlay(program: ProgramRecord, runFolder: string): Promise<void>;
  /**
   * Resolves when the program has ended by itself. Rejects with the error of `answer`, with the signal's reason, or with an
   * AgentError if it cannot be started, takes too long or a later attempt has begun.
   */
  play(attempt: AgentAttempt, runFolder: string): Promise<AgentEnded>;
}
