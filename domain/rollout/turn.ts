// One turn: the tokens new in its context, the model's answer, and the verdict on it.

import type { LogprobMeaning, WantedLogprobs } from './logprob-meaning.ts';
import type { Carried } from './lineage.ts';
import type { Said } from '../text/say.ts';
import type { WrittenCall } from '../tools/tool.ts';
import type { VerdictValue } from './verdict.ts';

/** How a generation ended. `length` and `abort` are the original's `no_eos`. */
export type Finish = 'stop' | 'length' | 'abort';

/** A span of output tokens made by one version of the weights: [start, end) in outputIds. */
export interface VersionSpan {
  /** A number for every version; the rule is in domain/weights/weight-version.ts. */
  readonly version: number;
  /** The version as the server reported it, if it did: `default`, `step-12`, `12`. */
  readonly versionLabel?: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The record of one generation; immutable, written once. Each token of a rollout is stored once:
 * the context of turn t is contextIds_1 ++ outputIds_1 ++ … ++ contextIds_t.
 */
export interface TurnRecord {
  /** 1-based. */
  readonly turn: number;
  /** Tokens new in this turn's context: the prompt at turn 1, the feedback after that. */
  readonly contextIds: readonly number[];
  /** The text that was tokenised to contextIds. */
  readonly contextText: string;
  /** Sampled token ids, the stop token included. */
  readonly outputIds: readonly number[];
  /** Natural log probability of each output id, under the distribution it was sampled from. */
  readonly logprobs: readonly number[];
  /** outputIds as text, special tokens included. */
  readonly outputText: string;
  /** outputIds as text without special tokens: what is judged. */
  readonly answer: string;
  readonly finish: Finish;
  /** Weight versions by output span, contiguous and covering all of outputIds. */
  readonly versions: readonly VersionSpan[];
  readonly versionStart: number;
  readonly versionEnd: number;
  /** Tokens in the turn's whole context C_t (Σ of all stored before it, plus contextIds). */
  readonly contextLength: number;
  /** The budget this turn was given, after it was cut to the model's length. */
  readonly maxNewTokens: number;
  /** Seed of this turn's random stream; null when the backend takes none. */
  readonly seed: number | null;
  /** Hash of the previous turn's record; the first turn's is its rollout record's. */
  readonly previous: string;
  /** The attempt of the generation activity that wrote it, 1-based. */
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
  /** The model and the server that answered. */
  readonly model: string;
  readonly server: string | null;
  /** The distribution of the logprobs; absent if a server returned text only. */
  readonly logprobsOf?: WantedLogprobs;
  /** The distribution that the model or its servers report; under the run's sampling it equals logprobsOf. */
  readonly logprobsFound?: LogprobMeaning;
  /** False if a server returned text only: no sample to train on. Absent means true. */
  readonly trainable?: boolean;
  /** The server's own tokens and logprobs of a text answer, if it returns them: never ids. */
  readonly textLogprobs?: readonly { readonly token: string; readonly logprob: number }[];
  /** A person's message in this turn's context, behind the feedback; absent if there is none. */
  readonly said?: Said;
  /** Present if it was carried over from another run, and not generated in this one. */
  readonly carried?: Carried;
  /** The calls of tools in the reply; absent if it has none, and is an answer. */
  readonly calls?: readonly WrittenCall[];
}

/** A part of an answer, stored before the next part is requested; the turn's record replaces it. */
export interface ChunkRecord {
  /** 1-based. */
  readonly turn: number;
  /** 1-based place among the chunks of this turn. */
  readonly chunk: number;
  readonly outputIds: readonly number[];
  /** One natural logprob per output id. */
  readonly logprobs: readonly number[];
  readonly finish: Finish;
  /** Spans of this chunk's own outputIds. */
  readonly versions: readonly VersionSpan[];
  readonly server: string | null;
  /** The attempt of the generation activity that wrote it, 1-based. */
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** The small facts of a turn that a workflow carries. */
export interface TurnFacts {
  readonly turn: number;
  /** Null: unknown, because the server gave text without tokens. */
  readonly outputTokens: number | null;
  /** Null: unknown, because the server was sent messages. */
  readonly contextTokens: number | null;
  readonly finish: Finish;
  readonly versionStart: number;
  readonly versionEnd: number;
  readonly verdict: VerdictValue;
  readonly reason: string;
  /** Of an environment that gives its own. */
  readonly reward?: number;
  /** A person's message is in its context. */
  readonly said?: true;
}

export function noEos(finish: Finish): boolean {
  return finish !== 'stop';
}

type Tokens = Pick<TurnRecord, 'outputIds' | 'textLogprobs' | 'trainable' | 'contextLength'>;

/** Tokens of the answer: its ids, or the server's own tokens. Null, unknown, if it gave text alone: never 0. */
export function outputTokens(record: Omit<Tokens, 'contextLength'>): number | null {
  const { outputIds, textLogprobs = [], trainable } = record;
  if (outputIds.length > 0 || trainable !== false) return outputIds.length;
  return textLogprobs.length > 0 ? textLogprobs.length : null;
}

/** Tokens of its whole context; null, unknown, if the server was sent messages. */
export function contextTokens({
  contextLength,
  trainable,
}: Pick<Tokens, 'contextLength' | 'trainable'>): number | null {
  return trainable === false && contextLength === 0 ? null : contextLength;
}

/** As shown in Temporal; `–` for what nobody knows. */
export const shownTokens = (tokens: number | null): string => `${tokens ?? '–'} tokens`;

/** Unknown if any part is. */
export function totalTokens(parts: readonly (number | null)[]): number | null {
  return parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0);
}
