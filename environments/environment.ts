// The interfaces of this room. A judge decides on one answer to one query: mathematics, code. An environment replies to
// each answer of a rollout: with a verdict, a reward, messages to the model, an end. Every judge is an environment too.

import type { Begun, EnvironmentReply, QueueReply } from '../domain/rollout/environment.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { Query } from '../domain/query/query.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { Verdict } from '../domain/rollout/verdict.ts';

export interface JudgeCall {
  readonly signal: AbortSignal;
  /** A length limit or an abort cut the answer. Default: false. */
  readonly cut?: boolean;
}

export interface Judge {
  /**
   * Right, wrong or undecided, with a reason. Model text is hostile: the call always ends in bounded time and memory.
   * Throws JudgeError only if the judge itself is broken.
   */
  judge(query: Query, answer: string, call: JudgeCall): Promise<Verdict>;
  /** Ends every process it owns. */
  close(): Promise<void>;
}

/** The query, sample, attempt and settings of a rollout: all of its record that an environment may depend on. */
export type Played = Pick<RolloutRecord, 'run' | 'query' | 'sample' | 'attempt' | 'settings' | 'begun'>;

/** One answer. */
export interface Move {
  readonly rollout: Played;
  /** 1-based. */
  readonly turn: number;
  readonly answer: string;
  readonly cut: boolean;
  /** The turns before this one, with the replies to them. */
  before(): Promise<readonly EarlierTurn[]>;
}

export interface EnvironmentCall {
  readonly signal: AbortSignal;
  /** The same call may have reached the environment before, and nobody knows what came of it. */
  readonly mayBeSecond?: boolean;
  /** The outcome of the call that `ask` made ready. */
  readonly said?: QueueReply;
}

/** The parameters of calls. */
export interface Ask {
  begin(rollout: Played): object;
  respond(move: Move): Promise<object>;
  end(move: Pick<Move, 'rollout' | 'before'>): Promise<object>;
}

export interface Environment {
  /** Present where the workflow makes the calls itself, and passes each outcome as `said`. */
  readonly ask?: Ask;
  /** The first messages and the first state. Absent: the row's prompt, and none. */
  begin?(rollout: Played, call: EnvironmentCall): Promise<Begun>;
  /**
   * The reply to an answer. The same call may come again, after a crash: its reply must be the same. Throws
   * EnvironmentError, JudgeError or SandboxError when the environment itself is broken.
   */
  respond(move: Move, call: EnvironmentCall): Promise<EnvironmentReply>;
  /** Gives back what the rollout took. May come twice, or, after a termination, never. */
  end?(move: Pick<Move, 'rollout' | 'before'>, call: EnvironmentCall): Promise<void>;
}

/** All environments of a worker. */
export interface Environments {
  /** The environment of this rollout's query. Throws EnvironmentError if this worker has none for it. */
  of(rollout: Pick<Played, 'query' | 'settings'>, runFolder: string): Environment;
  /** Ends every process they own. */
  close(): Promise<void>;
}
