// A distribution over a vocabulary that depends on the context, for scripted servers: cheap, the same everywhere.

export interface Drawn {
  readonly id: number;
  readonly logprob: number;
  /** The most probable ids, best first. */
  readonly top: readonly { readonly id: number; readonly logprob: number }[];
  /** The ids that it was drawn from, best first, and its logprob over these alone. */
  readonly kept: readonly number[];
  readonly keptLogprob: number;
}

export type Meaning = 'policy' | 'temperature' | 'raw';

export interface Draw {
  readonly temperature: number;
  readonly topP: number;
  /** -1 keeps all. */
  readonly topK: number;
  readonly seed: number;
  readonly top: number;
  readonly meaning: Meaning;
}

/** `weights` tells one version of the model from another. */
export function draw(context: readonly number[], vocabSize: number, weights: number, how: Draw): Drawn {
  const { temperature, topP, topK, seed, top, meaning } = how;
  const before = context.reduce(behind, 0);
  const logits = Array.from({ length: vocabSize }, (_, id) => 4 * hashed(id, before, weights));
  const raw = logSoftmax(logits);
  const warm = temperature === 0 ? raw : logSoftmax(logits.map((x) => x / temperature));
  const order = warm.map((_, id) => id).sort((a, b) => warm[b]! - warm[a]! || a - b);
  const cut = temperature === 0 ? order.slice(0, 1) : kept(order, warm, topP, topK < 1 ? vocabSize : topK);
  const mass = Math.log(cut.reduce((sum, id) => sum + Math.exp(warm[id]!), 0));
  const of = (id: number) =>
    temperature === 0 || meaning === 'raw'
      ? raw[id]!
      : meaning === 'temperature'
        ? warm[id]!
        : cut.includes(id)
          ? warm[id]! - mass
          : -9999;
  let left = hashed(seed % 1e9, before, 99) * Math.exp(mass);
  const id = cut.find((candidate) => (left -= Math.exp(warm[candidate]!)) < 0) ?? cut[0]!;
  const sets = { kept: cut, keptLogprob: temperature === 0 ? 0 : warm[id]! - mass };
  return { id, logprob: of(id), top: order.slice(0, top).map((each) => ({ id: each, logprob: of(each) })), ...sets };
}

/** Of each id of a context after the one at `from`, which has none, at temperature 1. */
export function contextLogprobs(
  context: readonly number[],
  vocabSize: number,
  weights: number,
  from = 0,
): (number | null)[] {
  let before = context.slice(0, from).reduce(behind, 0);
  return context.slice(from).map((id, at) => {
    const logits = () => Array.from({ length: vocabSize }, (_, each) => 4 * hashed(each, before, weights));
    const logprob = at === 0 ? null : logSoftmax(logits())[id]!;
    before = behind(before, id);
    return logprob;
  });
}

/** 32 bits of a context, one id longer: all of it counts, as for a model. */
const behind = (before: number, id: number) => Math.floor(hashed(before, id) * 2 ** 32);

function kept(order: readonly number[], logprobs: readonly number[], topP: number, topK: number): number[] {
  let sum = 0;
  const nucleus = order.findIndex((id) => (sum += Math.exp(logprobs[id]!)) >= topP);
  return order.slice(0, Math.min(topK, nucleus < 0 ? order.length : nucleus + 1));
}

function logSoftmax(xs: readonly number[]): number[] {
  const most = Math.max(...xs);
  const sum = most + Math.log(xs.reduce((total, x) => total + Math.exp(x - most), 0));
  return xs.map((x) => x - sum);
}

/** In [0, 1). */
function hashed(...parts: number[]): number {
  let h = 2166136261;
  for (const part of parts) {
    h = Math.imul(h ^ (part & 0xffff), 16777619);
    h = Math.imul(h ^ (part >>> 16), 16777619);
    h ^= h >>> 13;
  }
  return (h >>> 0) / 2 ** 32;
}
