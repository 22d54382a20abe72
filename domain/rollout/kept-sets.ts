// The sets that tokens were drawn from where top-k, top-p or min-p leaves tokens out: over them alone a trainer's logprobs can be
// those of the sampler. One text for an answer: the bytes of each token in turn, in base64; a token has the count of its ids, and
// each id less the one before it and 1, as varints. A set of more than MOST_KEPT ids is not kept: its count is 0. Pure.

import { ModelError } from '../errors/errors.ts';
import type { Test } from '../schema/fields.ts';
import { isUntruncated, type Sampling } from './sampling.ts';

/** Ids in ascending order; null: of a larger set. */
export type KeptSet = readonly number[] | null;

/** Ids of one set, at most: docs/evidence.md has what a token then takes. */
export const MOST_KEPT = 512;

/** The form of the text alone: whether it fits its answer is for `check`. */
export const KEPT_SETS: Test<string> = [
  (value) => typeof value === 'string' && value !== '' && unpackedKept(value) !== null,
  'sets of token ids in base64',
];

/** Tokens are drawn from less than all of the model's distribution: a trainer that recomputes over all of it is biased. */
export const drawsFromSets = (sampling: Sampling, vocabSize?: number): boolean =>
  sampling.temperature > 0 && !isUntruncated(sampling, vocabSize);

/** Ids of a set, at most. A server may keep all ids that are as probable as the last of the top-k: of bfloat16, some are. */
export const largestSet = (topK: number, server: string | null): number => (server === null ? topK : 2 * topK + 8);

/** A set as it is kept, of ids in any order. */
export const boundedSet = (ids: KeptSet): KeptSet =>
  ids && ids.length <= MOST_KEPT ? ids.toSorted((a, b) => a - b) : null;

interface TrainedSettings extends Sampling {
  readonly allowBiasedLogprobs?: boolean;
}

/** A run's rows are trained on with logprobs that no trainer can recompute, as was asked for. */
export const isBiased = (settings: TrainedSettings): boolean =>
  settings.allowBiasedLogprobs === true && drawsFromSets(settings);

interface SetFacts {
  readonly kind: 'text' | 'tokens';
  readonly name: string;
  readonly vocabSize?: number;
  readonly givesKept?: boolean;
}

/** A server that came back without what it said at the start. */
export const saysNoSets = (server: string | null): ModelError =>
  new ModelError(`${server ?? 'The model'} does not say which tokens its answer was drawn from; at the start it did.`, {
    reason: 'no-kept-sets',
    fix: 'Start it again as it was. It is asked again.',
    retryable: true,
  });

/** Throws if tokens to train on are drawn from sets that the model does not say. Text has no tokens to train on. */
export function mustGiveSets({ kind, name, vocabSize, givesKept }: SetFacts, settings: TrainedSettings): void {
  if (kind === 'text' || givesKept || settings.allowBiasedLogprobs || !drawsFromSets(settings, vocabSize)) return;
  throw new ModelError(
    `${name} does not say which tokens top-p, top-k and min-p left to draw from: a trainer that recomputes logprobs over the whole vocabulary is biased.`,
    {
      reason: 'no-kept-sets',
      fix: 'Sample with --top-p 1 and without --top-k and --min-p, or give --allow-biased-logprobs.',
    },
  );
}

export function packedKept(sets: readonly KeptSet[]): string {
  const bytes: number[] = [];
  const put = (number: number): void => {
    let left = number;
    for (; left > 127; left >>>= 7) bytes.push((left & 127) | 128);
    bytes.push(left);
  };
  for (const set of sets) {
    put(set?.length ?? 0);
    let before = -1;
    for (const id of set ?? []) {
      put(id - before - 1);
      before = id;
    }
  }
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) parts.push(String.fromCharCode(...bytes.slice(at, at + 8192)));
  return btoa(parts.join(''));
}

/** Null for a text that is none of these. */
export function unpackedKept(text: string): KeptSet[] | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const bytes = atob(text);
  let at = 0;
  /** NaN behind the end, and for more than an int32. */
  const take = (): number => {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes.charCodeAt(at++);
      number += (byte & 127) * 2 ** shift;
      if (byte < 128) return number < 2 ** 31 ? number : NaN;
    }
    return NaN;
  };
  const sets: KeptSet[] = [];
  while (at < bytes.length) {
    const count = take();
    if (!(count <= MOST_KEPT)) return null;
    const set: number[] = [];
    for (let before = -1; set.length < count; set.push(before)) before += take() + 1;
    if (!(at <= bytes.length) || !((set.at(-1) ?? 0) < 2 ** 31)) return null;
    sets.push(count === 0 ? null : set);
  }
  return sets;
}
