// What is asked of a server that says which ids a token was drawn from: its sets are lists of ids in an answer, so they are
// bounded, and an answer of many comes in parts. With a vocabulary above the bound, top-p and min-p draw from so many of the most
// probable ids at most. Pure.

import { drawsFromSets } from '../../domain/rollout/kept-sets.ts';
import type { GenerateRequest } from '../backend.ts';

/** SGLang's default of --sampling-mask-max-tokens. It ends an answer of which a set is larger. */
const SGLANG_LIMIT = 4096;
/** A set also holds what is as probable as its last id: the rest of the limit is room for these. */
const SHARE = 3 / 4;

/** Ids that a request's top-k may leave, at most. */
export function setBound(limit: number | null | undefined, vocabSize: number): number {
  const most = limit ?? SGLANG_LIMIT;
  return vocabSize <= most ? vocabSize : Math.max(1, Math.floor(most * SHARE));
}

/** Of an answer that comes with its sets. */
const MOST_TOKENS = 4096;

/** The request to a server of this bound (null: it says no sets), and the most ids that a set may hold; null: it asks for none. */
export function withSets(request: GenerateRequest, vocabSize: number, bound: number | null) {
  if (bound === null || !drawsFromSets(request.sampling, vocabSize)) return { request, most: null };
  return { request: { ...request, maxNewTokens: Math.min(request.maxNewTokens, MOST_TOKENS) }, most: bound };
}
