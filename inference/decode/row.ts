// One request in the decode loop.

import { ModelError } from '../../domain/errors/errors.ts';
import type { KeptSet } from '../../domain/rollout/kept-sets.ts';
import type { Sampling } from '../../domain/rollout/sampling.ts';
import type { Finish } from '../../domain/rollout/turn.ts';
import type { KvRow } from './kv.ts';
import { uniformAt } from './philox.ts';
import type { DrawToken } from './sampler.ts';

export interface DecodeRequest {
  readonly contextIds: ArrayLike<number>;
  readonly maxNewTokens: number;
  readonly sampling: Sampling;
  readonly seed: number;
  readonly deterministic: boolean;
  readonly stopTokenIds: readonly number[];
}

export interface DecodeResult {
  readonly outputIds: readonly number[];
  readonly logprobs: readonly number[];
  /** One per output id, where tokens are left out. */
  readonly kept?: readonly KeptSet[];
  readonly finish: Finish;
}

export interface DecodeRow {
  readonly id: number;
  readonly request: DecodeRequest;
  /** Tokens whose keys and values are cached. */
  length: number;
  /** Its cache, while it is in no batch. */
  kv: KvRow | null;
  readonly outputIds: number[];
  readonly logprobs: number[];
  readonly kept: KeptSet[];
  finish: Finish | null;
  settle: (outcome: DecodeResult | Error) => void;
}

/** The id of the token at one place of the context and output. */
export function tokenAt(row: DecodeRow, place: number): number {
  const { contextIds } = row.request;
  return place < contextIds.length ? contextIds[place]! : row.outputIds[place - contextIds.length]!;
}

/** Draws the next token of a row. Its place in the context keys its random number. */
export function advance(row: DecodeRow, logits: Float32Array, draw: DrawToken): void {
  const { request, outputIds, logprobs, kept } = row;
  const uniform = uniformAt(request.seed, request.contextIds.length + outputIds.length);
  const drawn = drawOrThrow(logits, request, uniform, draw);
  outputIds.push(drawn.id);
  logprobs.push(drawn.logprob);
  if (drawn.kept !== undefined) kept.push(drawn.kept);
  if (request.stopTokenIds.includes(drawn.id)) row.finish = 'stop';
  else if (outputIds.length >= request.maxNewTokens) row.finish = 'length';
}

function drawOrThrow(logits: Float32Array, request: DecodeRequest, uniform: number, draw: DrawToken) {
  try {
    return draw(logits, request.sampling, uniform);
  } catch (cause) {
    throw new ModelError('The model gave logits that are no distribution', {
      reason: 'bad-logits',
      fix: 'The weights or the export are broken: try the same context in another runtime.',
      cause,
    });
  }
}
