// Reads an answer to its model again, and says whether the sets that its tokens were drawn from are those that the model keeps.
// The arithmetic is another than that of the draw, so an id at the very edge of a set may be in it or not.

import type { KeptSet } from '../../domain/rollout/kept-sets.ts';
import type { Sampling } from '../../domain/rollout/sampling.ts';
import { createSampler, type DrawToken } from './sampler.ts';
import type { Kv, StepModel } from './step-model.ts';

/** Far above what float32 makes of one logit, or of a sum of probabilities. */
const LOGIT_NOISE = 1e-3;
const SUM_NOISE = 1e-5;
const BLOCK = 128;

interface Answer {
  readonly contextIds: readonly number[];
  readonly outputIds: readonly number[];
  readonly sets: readonly KeptSet[];
  readonly sampling: Sampling;
}

/** The place of the first set that is another; null if there is none. */
export function openForcedPass(model: StepModel): (answer: Answer) => Promise<number | null> {
  const draw = createSampler(model.vocabSize);
  return async ({ contextIds, outputIds, sets, sampling }) => {
    const ids = [...contextIds, ...outputIds.slice(0, -1)];
    let past: Kv | null = null;
    for (let at = 0; at < ids.length;) {
      const width = at < contextIds.length ? Math.min(BLOCK, contextIds.length - at) : 1;
      const { logits, kv } = await model.step({ rows: 1, width, ids: ids.slice(at, at + width), pads: [0], past });
      past = kv;
      at += width;
      const place = at - contextIds.length;
      if (place >= 0 && !fits(sets[place]!, logits, sampling, draw)) return place;
    }
    return null;
  };
}

function fits(set: KeptSet, logits: Float32Array, sampling: Sampling, draw: DrawToken): boolean {
  const { topP, minP = 0 } = sampling;
  const keptAt = (noise: number): KeptSet | undefined =>
    draw(logits, { ...sampling, topP: topP === 1 ? 1 : Math.min(1, topP + noise), minP: minP * (1 - noise) }, 0).kept;
  const [least, most] = [keptAt(-SUM_NOISE), keptAt(SUM_NOISE)];
  // Too many to be kept.
  if (set === null) return !most;
  if (!least) return false;
  const floor = (ids: readonly number[]) => ids.reduce((low, id) => Math.min(low, logits[id]!), Infinity);
  const there = new Set(set);
  const isEdge = (id: number) => logits[id]! <= floor(least) + LOGIT_NOISE;
  return (
    least.every((id) => there.has(id) || isEdge(id)) &&
    (!most || set.every((id) => logits[id]! >= floor(most) - LOGIT_NOISE))
  );
}
