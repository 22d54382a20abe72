// How one token is drawn from one row of logits: temperature, then top-k, top-p and min-p, then one uniform number.
// Pure. All arithmetic is in float64 over the model's float32 logits. Of equal logits the lower id counts as larger.

import { type KeptSet, MOST_KEPT } from '../../domain/rollout/kept-sets.ts';
import type { Sampling } from '../../domain/rollout/sampling.ts';

interface Drawn {
  readonly id: number;
  /** Natural, finite, ≤ 0. */
  readonly logprob: number;
  /** The ids that it was drawn from, where tokens are left out. */
  readonly kept?: KeptSet;
}

/**
 * `uniform` in [0, 1). Throws RangeError if the logits are no distribution (NaN, +inf, all -inf).
 *
 *   z_i = logit_i / T            p_i = exp(z_i - max z) / sum over kept j of exp(z_j - max z)
 *   logprob(token) = z_token - max z - ln(sum over kept j of exp(z_j - max z))
 *
 * Kept are, first, the top_k largest z; then, of these, the fewest most probable whose probabilities (summing to 1
 * over the top_k) reach top_p; then, of these, those with p at least min_p times the largest. T = 0 is greedy: the largest logit, and as its logprob that of the uncut distribution
 * at T = 1, because under the point mass that it is drawn from it would always be 0.
 */
export type DrawToken = (logits: Float32Array, sampling: Sampling, uniform: number) => Drawn;

/** A sampler for rows of `vocabSize` logits. It keeps its buffers: one per thread of control. */
export function createSampler(vocabSize: number): DrawToken {
  const weights = new Float64Array(vocabSize);
  const scratch = new Float32Array(vocabSize);

  return (logits, { temperature, topK, topP, minP = 0 }, uniform) => {
    const greedy = temperature === 0;
    const best = largest(logits);
    const max = logits[best]!;
    if (!Number.isFinite(max)) throw new RangeError(`the largest logit is ${max}`);
    const scale = greedy ? 1 : temperature;
    let total = 0;
    for (let i = 0; i < vocabSize; i++) {
      const weight = Math.exp((logits[i]! - max) / scale);
      weights[i] = weight;
      total += weight;
    }
    if (!Number.isFinite(total)) throw new RangeError('a logit is not a number');
    if (greedy) return { id: best, logprob: -Math.log(total) };
    if (topK < vocabSize) total = keepTopK(logits, weights, topK, scratch);
    if (topP < 1) total = keepTopP(logits, weights, topP, total);
    if (minP > 0) total = keepMinP(weights, minP);
    const id = pick(weights, uniform * total);
    const drawn = { id, logprob: Math.min(0, (logits[id]! - max) / scale - Math.log(total)) };
    return topK < vocabSize || topP < 1 || minP > 0 ? { ...drawn, kept: keptIn(weights) } : drawn;
  };
}

function largest(logits: Float32Array): number {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i]! > logits[best]!) best = i;
  return best;
}

/** Null for more than are recorded. */
function keptIn(weights: Float64Array): KeptSet {
  const kept: number[] = [];
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    if (kept.length === MOST_KEPT) return null;
    kept.push(i);
  }
  return kept;
}

/** The first id at which the running sum passes `target`. */
function pick(weights: Float64Array, target: number): number {
  let sum = 0;
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!;
    if (weight === 0) continue;
    sum += weight;
    last = i;
    if (sum > target) return i;
  }
  return last; // rounding left the sum a hair below the target
}

/** Zeroes all but the k largest; gives the new sum. */
function keepTopK(logits: Float32Array, weights: Float64Array, k: number, scratch: Float32Array): number {
  scratch.set(logits);
  const threshold = kthLargest(scratch, k);
  let above = 0;
  for (let i = 0; i < logits.length; i++) if (logits[i]! > threshold) above++;
  let equalsLeft = k - above;
  let total = 0;
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i]!;
    if (logit > threshold || (logit === threshold && equalsLeft-- > 0)) total += weights[i]!;
    else weights[i] = 0;
  }
  return total;
}

/** Zeroes all but the nucleus; gives the new sum. */
function keepTopP(logits: Float32Array, weights: Float64Array, p: number, total: number): number {
  // Tokens below this together weigh less than what the nucleus may leave out, so none of them is in it:
  // sorting a few hundred instead of a whole vocabulary.
  const floor = ((1 - p) * total) / weights.length;
  const candidates: number[] = [];
  for (let i = 0; i < weights.length; i++) if (weights[i]! > 0 && weights[i]! >= floor) candidates.push(i);
  candidates.sort((a, b) => logits[b]! - logits[a]! || a - b);
  let kept = 0;
  let sum = 0;
  while (kept < candidates.length && (kept === 0 || sum < p * total)) sum += weights[candidates[kept++]!]!;
  const nucleus = candidates.slice(0, kept).map((id) => [id, weights[id]!] as const);
  weights.fill(0);
  for (const [id, weight] of nucleus) weights[id] = weight;
  return sum;
}

/** Zeroes those below this share of the largest, whose weight is 1; gives the new sum. */
function keepMinP(weights: Float64Array, share: number): number {
  let total = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i]! >= share) total += weights[i]!;
    else weights[i] = 0;
  }
  return total;
}

/** Hoare's selection; reorders `values`. */
function kthLargest(values: Float32Array, k: number): number {
  const target = values.length - k;
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) {
        const swapped = values[i]!;
        values[i++] = values[j]!;
        values[j--] = swapped;
      }
    }
    if (target <= j) high = j;
    else if (target >= i) low = i;
    else break;
  }
  return values[target]!;
}
