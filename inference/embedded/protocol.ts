// The messages between the worker and its model process: one object per message, over Node's IPC channel with
// structured clone (`serialization: 'advanced'`), so that ids and logprobs travel as typed arrays.

import type { Sampling } from '../../domain/rollout/sampling.ts';
import type { Reason } from '../../domain/errors/reasons.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { ModelSource } from '../tokenizer/model-source.ts';
import { ModelError } from '../../domain/errors/errors.ts';

/** The first weights of a process have `id` null. Later ones are loaded beside those in use. */
export interface LoadMessage {
  readonly type: 'load';
  readonly id: number | null;
  /** The name of these weights in requests. */
  readonly key: string;
  readonly source: ModelSource;
  /** Largest token id of the tokenizer, plus one: the model must have logits for all of them. */
  readonly tokenizerSize: number;
}

export interface GenerateMessage {
  readonly type: 'generate';
  readonly id: number;
  /** The weights to sample from. */
  readonly key: string;
  readonly contextIds: Int32Array;
  readonly maxNewTokens: number;
  readonly sampling: Sampling;
  readonly seed: number;
  readonly deterministic: boolean;
  readonly stopTokenIds: readonly number[];
}

interface CancelMessage {
  readonly type: 'cancel';
  readonly id: number;
}

/** Unloads weights once no answer samples from them. */
interface UnloadMessage {
  readonly type: 'unload';
  readonly key: string;
}

export type ToModel = LoadMessage | GenerateMessage | CancelMessage | UnloadMessage;

export interface LoadedFacts {
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly eosTokenIds: readonly number[];
  /** SHA-256 of the weights; null if their file is unknown. */
  readonly fingerprint: string | null;
  /** The self-check's findings, for people. */
  readonly notes: readonly string[];
}

export interface ReadyMessage {
  readonly type: 'ready';
  readonly id: number | null;
  readonly facts: LoadedFacts;
}

interface ProgressMessage {
  readonly type: 'progress';
  /** Pairs of request id and tokens so far. */
  readonly tokens: readonly (readonly [number, number])[];
}

export interface ResultMessage {
  readonly type: 'result';
  readonly id: number;
  readonly outputIds: Int32Array;
  readonly logprobs: Float64Array;
  /** Packed; empty where no token is left out. */
  readonly kept: string;
  readonly finish: Finish;
}

/** A ModelError; `id` is null when the first weights could not be loaded. */
interface ErrorMessage {
  readonly type: 'error';
  readonly id: number | null;
  readonly message: string;
  readonly reason: Reason<'model'>;
  readonly fix: string | undefined;
  readonly retryable: boolean;
  /** Messages of its causes, outermost first. */
  readonly causes: readonly string[];
}

export type FromModel = ReadyMessage | ProgressMessage | ResultMessage | ErrorMessage;

export function toModelError({ message, reason, fix, retryable, causes }: ErrorMessage): ModelError {
  const cause = causes.reduceRight<Error | undefined>((inner, text) => new Error(text, { cause: inner }), undefined);
  return new ModelError(message, { reason, retryable, cause, ...(fix === undefined ? {} : { fix }) });
}

export function diedError(how: string): ModelError {
  return new ModelError(`The model process died ${how}`, {
    reason: 'model-process-died',
    fix: 'It is started again; a retry will do.',
    retryable: true,
  });
}

export function closedModelError(): ModelError {
  return new ModelError('The model was closed', { reason: 'backend-closed', retryable: true });
}

export function changedError({ source }: LoadMessage): ModelError {
  return new ModelError(`The weights of ${source.name} are no longer those the program was started with`, {
    reason: 'model-changed',
    fix: 'Put the old file back, or start the worker again and begin a new run.',
  });
}
