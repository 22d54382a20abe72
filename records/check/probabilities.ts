// Proves across rollouts that logprobs can be those of one model: the probabilities that a version of it gives the tokens
// after one context add up to at most 1, and one token has one probability. Compared are all samples with the same context,
// token by token as far as they begin alike. Finds logprobs of 0, scaled, shifted or of other tokens; not those of another
// model. Memory: the beginnings of the samples of the latest contexts.

import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { isUntruncated } from '../../domain/rollout/sampling.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { OnBreach } from '../store.ts';

/** Logits that differ by 0.4 between two computations, far more than bfloat16's, change a probability by 0.1. */
export const PROBABILITY_NOISE = 0.1;
const TOKENS_COMPARED = 64;
const CONTEXTS_KEPT = 2000;

/** The beginning of an answer, as sampled from one distribution. */
export interface Drawn {
  readonly from: string;
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

/** Undefined where logprobs depend on more than context and weights: a cut decides by noise which tokens are left. */
export function drawnOf(record: TurnRecord, settings: RolloutSettings): Drawn | undefined {
  const { temperature } = settings;
  const cut = !isUntruncated(settings);
  const [span] = record.versions;
  if (temperature === 0 || (cut && record.logprobsFound !== 'raw') || !span) return undefined;
  const end = Math.min(span.end, TOKENS_COMPARED);
  const from = JSON.stringify([span.versionLabel ?? span.version, temperature]);
  return { from, ids: record.outputIds.slice(0, end), logprobs: record.logprobs.slice(0, end) };
}

/** The tokens seen after one context. */
interface Place {
  sum: number;
  readonly next: Map<number, Branch>;
}
interface Branch {
  readonly probability: number;
  readonly path: string;
  /** The sample that began it, until another one shares it. */
  readonly first: Drawn;
  place?: Place;
}

export function openProbabilityCheck(onBreach: OnBreach): (context: string, drawn: Drawn, path: string) => void {
  const roots = new Map<string, Place>();
  return (context, drawn, path) => {
    const key = `${context} ${drawn.from}`;
    const root = roots.get(key) ?? newPlace();
    roots.delete(key);
    roots.set(key, root);
    if (roots.size > CONTEXTS_KEPT) roots.delete(roots.keys().next().value!);
    const problem = added(root, drawn, path);
    if (problem !== null) onBreach({ path, problem });
  };
}

function added(root: Place, drawn: Drawn, path: string): string | null {
  let place = root;
  for (const [i, id] of drawn.ids.entries()) {
    const probability = Math.exp(drawn.logprobs[i]!);
    const known = place.next.get(id);
    if (!known) {
      begin(place, { probability, path, first: drawn }, id);
      if (place.sum <= 1 + PROBABILITY_NOISE) return null;
      const n = place.next.size;
      return `has a token ${i + 1} that makes ${place.sum.toFixed(3)} of the probabilities of ${n} tokens after one context, of one version`;
    }
    if (Math.abs(known.probability - probability) > PROBABILITY_NOISE) {
      const [one, other] = [probability, known.probability].map((value) => value.toFixed(3));
      return `gives its token ${i + 1} the probability ${one}; ${known.path} gives it ${other} after the same context, of one version`;
    }
    place = known.place ??= after(known, i);
  }
  return null;
}

const newPlace = (): Place => ({ sum: 0, next: new Map() });

function begin(place: Place, branch: Branch, id: number): void {
  place.next.set(id, branch);
  place.sum += branch.probability;
}

/** The place behind a branch's token `i`, with the next token of the sample that began it. */
function after({ first, path }: Branch, i: number): Place {
  const place = newPlace();
  const id = first.ids[i + 1];
  if (id !== undefined) begin(place, { probability: Math.exp(first.logprobs[i + 1]!), path, first }, id);
  return place;
}
