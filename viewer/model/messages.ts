// The JSON that the server and the report hand to the page: one named type per message. Records are passed on as they
// are stored; everything else is derived from them.

import type { Hit } from '../../domain/run/hit.ts';
import type { Query } from '../../domain/query/query.ts';
import type { ServerStatus } from '../../domain/run/server-status.ts';
import type { NamedAct } from '../../domain/run/steering.ts';
import type { EndRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { Interval } from '../../domain/statistics/mean.ts';
import type { Comparison, PairedQuery } from '../../domain/statistics/comparison.ts';
import type { AtTurn } from '../../domain/statistics/side-by-side.ts';
import type { HeadNumbers, RunSummary } from './summary.ts';
import type { Row } from './row.ts';

/**
 * `ended`: its result is stored; `failed`: the same, and every rollout failed; `open`: it is not stored, and `newsAt` says when
 * something was stored last; `broken`: its run.json cannot be read.
 */
type RunState = 'ended' | 'failed' | 'cancelled' | 'open' | 'broken';

export interface RunHead {
  readonly run: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly model: string;
  /** The file's name, without its folder; null if rollouts were started one by one. */
  readonly dataset: string | null;
  readonly numTurns: number;
  /** Samples of each query. */
  readonly samples: number;
  /** Null: not counted yet. */
  readonly total: number | null;
  readonly ended: number | null;
  /** Null: not counted yet. */
  readonly numbers: HeadNumbers | null;
  readonly tokens: number | null;
  /** Its turns are the calls of an agent's program. */
  readonly isAgents?: true;
  /** The run that it goes on from, if it is a fork. */
  readonly parent?: string;
  /** The reason why the run cannot be read. */
  readonly problem?: string;
}

export interface RunsMessage {
  readonly folder: string;
  readonly runs: readonly RunHead[];
  /** The names of the evaluations whose cells are runs of this folder. */
  readonly evaluations: readonly string[];
}

export interface Setting {
  readonly name: string;
  readonly value: string;
  /** `default`, `flag`, … */
  readonly origin: string;
}

/** A held-out evaluation of a version of the weights. Its numbers are null until it has ended. */
export interface Evaluation {
  /** Its own run. */
  readonly run: string;
  /** The one that was published when it began. */
  readonly version: number;
  readonly state: 'open' | 'ended' | 'cancelled';
  /** Its rollouts, and those that have ended. */
  readonly total: number;
  readonly rollouts: number;
  /** The share that is right at any turn, and its 95 % interval. */
  readonly right: number | null;
  readonly interval: Interval | null;
  readonly meanReturn: number | null;
  /** Mean tokens of an answer. */
  readonly tokens: number | null;
  /** The first and the last version that its answers name. */
  readonly answeredBy: readonly [number, number] | null;
}

export interface RunMessage {
  readonly head: RunHead;
  readonly summary: RunSummary;
  /** Evaluations in the order of versions; absent without any. */
  readonly evaluations?: readonly Evaluation[];
  /** Settings in force, by name; those that were given come first. */
  readonly settings: readonly Setting[];
  /** Least and greatest, by the prices that the viewer was started with; null: an endpoint counted no tokens; absent without prices. */
  readonly cost?: readonly [least: number, most: number] | null;
  /** The message of the first failed rollout, or else of the first undecided one; absent without one. */
  readonly failure?: { readonly place: RowPlace; readonly message: string };
  readonly facts: readonly (readonly [string, string])[];
  /** The sentence about a run that goes on from a rollout of another one; null for others. */
  readonly fork: string | null;
  /** Until an open run ends, at the pace of its last rollouts; null if unknown. */
  readonly etaMs: number | null;
  /** The newest record of an open run; null if unknown. */
  readonly newsAt: number | null;
  readonly progress: Progress;
  /** The servers of an open run, as its workers saw them last; absent where none reported lately. */
  readonly servers?: readonly ServerStatus[];
  /** The server's clock, for ages. */
  readonly now: number;
}

export interface Progress {
  /** Grows with every change of the rows. */
  readonly revision: number;
  /** The reason why the list is not complete. */
  readonly problem?: string;
  /** Rollouts of an ended run that no number counts, since records of theirs cannot be read. */
  readonly damaged?: string;
  /** The first look at the run is not over: rows and numbers are of what has been read so far. */
  readonly reading?: true;
}

/** A part of a list, of `count` rows in all. */
export interface Page<T> {
  readonly count: number;
  readonly rows: readonly T[];
}

/** A page of the rows that the filter leaves. */
export interface RowsMessage extends Page<Row> {
  readonly problems: readonly string[];
}

export interface SearchMessage {
  /** Found so far. */
  readonly hits: readonly Hit[];
  /** There are more than are shown. */
  readonly more: boolean;
  /** False: it goes on; ask again. */
  readonly done: boolean;
  /** Records that could not be read. */
  readonly unread: number;
}

export interface CompareMessage {
  readonly a: RunHead;
  readonly b: RunHead;
  readonly numbers: Omit<Comparison, 'pairs'>;
  readonly paired: number;
  /** The largest difference first; of each cell as many as a page shows. */
  readonly pairs: readonly (PairedQuery & { readonly title: string })[];
  readonly settings: readonly { readonly name: string; readonly a: string; readonly b: string }[];
  /** Output tokens of a rollout, on average; null: not known yet. */
  readonly tokens: readonly [number | null, number | null];
}

/** One rollout with its records; arrays of tokens are left out (TokensMessage). */
export interface RolloutMessage {
  readonly row: Row;
  readonly query: Query;
  readonly numTurns: number;
  /** The other rollouts of the query. */
  readonly samples: readonly Row[];
  readonly turns: readonly TurnMessage[];
  readonly end: EndRecord | null;
  /** The rows before and after it in the list that the page came from. */
  readonly previous: RowPlace | null;
  readonly next: RowPlace | null;
  /** The folder of its records, relative to the run's. */
  readonly folder: string;
  /** Verdicts and notes of people on it. */
  readonly acts: readonly NamedAct[];
  /** The address of its history in Temporal's UI; absent where none is known, and in a report. */
  readonly history?: string;
}

export type RowPlace = Pick<Row, 'query' | 'sample' | 'attempt'>;

export interface TurnMessage {
  readonly record: Omit<TurnRecord, 'contextIds' | 'outputIds' | 'logprobs' | 'textLogprobs'>;
  readonly hash: string;
  readonly contextTokens: number;
  /** Null: unknown, because the server gave text without tokens. */
  readonly outputTokens: number | null;
  readonly hasTokens: boolean;
  readonly verdict: VerdictRecord | null;
  /** r_t, undiscounted; null unless it was judged. */
  readonly reward: number | null;
}

/** The tokens of one turn. */
export interface TokensMessage {
  readonly turn: number;
  readonly context: TokenSpan;
  readonly output: TokenSpan;
  /** One per output token. */
  readonly logprobs: readonly number[];
  readonly versions: TurnRecord['versions'];
  /** The distribution of the logprobs. */
  readonly logprobsOf: string;
  /** The answer's tokens carry loss. */
  readonly trained: boolean;
  readonly whyNotTrained: string | null;
  /** The place of the first output token in the packed sample. */
  readonly offset: number;
  /** The reason why cells have no text. */
  readonly noText: string | null;
}

/** Tokens as cells: bytes of one character that several tokens share are one cell. */
export interface TokenSpan {
  readonly ids: readonly number[];
  /** Text of each cell; empty if the ids could not be decoded. */
  readonly texts: readonly string[];
  /** Tokens of each cell; absent where each cell is one token. */
  readonly lengths?: readonly number[];
}

export interface ErrorMessage {
  readonly error: string;
}

/** A filter and an order of the list of rollouts, as the address has them. */
export interface ListQuery {
  readonly filter: string;
  readonly sort: string;
}

/** Several runs of the same queries, in the order of the address. */
export interface SeveralMessage {
  readonly runs: readonly ComparedHead[];
}

export interface ComparedHead {
  readonly head: RunHead;
  /** Settings in which the runs differ: `temperature` and `0.7`. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Differences are with the first run. */
  readonly atTurns: readonly AtTurn[];
  /** Rollouts that were wrong at turn 1, and those whose last judged answer is wrong. */
  readonly wrong: { readonly first: number; readonly last: number };
  /** An answer's mean tokens of context and of output, and its median milliseconds; null if unknown. */
  readonly tokensIn: number | null;
  readonly tokens: number | null;
  readonly ms: number | null;
  /** From the first answer to the last end; null without an answer. */
  readonly tookMs: number | null;
  readonly cost?: RunMessage['cost'];
}

/** The runs of an evaluation: of each benchmark a table, with its cells that cannot be read, and what they were played with. */
export interface EvaluationMessage {
  readonly name: string;
  readonly benchmarks: readonly BenchmarkMessage[];
  /** Epoch milliseconds: its runs began, and their last rollout has ended, or 0; null without a run. */
  readonly played: readonly [from: number, until: number] | null;
  /** By label: the model, and the host that it is at. */
  readonly models: readonly (readonly [label: string, model: string])[];
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Settings that are not the same in all, by cell. */
  readonly differing: readonly (readonly [cell: string, settings: string])[];
}

export interface BenchmarkMessage {
  readonly benchmark: string;
  readonly runs: readonly (ComparedHead & { readonly label: string })[];
  readonly unread: readonly { readonly label: string; readonly problem: string }[];
  /** What its numbers are of; several where its runs differ. */
  readonly sources: readonly {
    /** Empty: all of them. */
    readonly labels: readonly string[];
    readonly facts: readonly (readonly [name: string, value: string])[];
    readonly system?: string;
    readonly template?: string;
  }[];
}

export interface ReportData {
  readonly runs: readonly ReportRun[];
  /** The evaluation whose cells the runs are. */
  readonly evaluation?: EvaluationMessage;
  /** The comparison of the first two runs; null for one. */
  readonly compared: CompareMessage | null;
  /** The things that are not here, one a line. */
  readonly left: readonly string[];
}

export interface ReportRun {
  readonly run: RunMessage;
  readonly rows: readonly Row[];
  /** The rollouts whose turns are here. */
  readonly whole: readonly WholeRollout[];
}

export interface WholeRollout {
  readonly message: RolloutMessage;
  /** The tokens of each turn, by its number. */
  readonly tokens: Readonly<Record<string, TokensMessage>>;
}
