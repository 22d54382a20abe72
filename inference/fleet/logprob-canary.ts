// Determines the kind of a server's logprobs, once at start, on one context: at temperature 1, at 0.5, and with top-k
// truncation. It compares differences between two tokens' logprobs, which no normalisation changes.

import type { LogprobMeaning } from '../../domain/rollout/logprob-meaning.ts';
import { type Sampling, NO_TRUNCATION } from '../../domain/rollout/sampling.ts';

/** Logprobs by token id for one position: the sampled token's and some of the most probable ones'. */
export interface Peek {
  readonly sampled: number;
  readonly byId: ReadonlyMap<number, number>;
  /** The server's label of the weights; null if its answers do not have it. */
  readonly version: string | null;
}

/** Samples one token. Null if the server returns no logprobs of other tokens. */
export type AskPeek = (sampling: Sampling) => Promise<Peek | null>;

/** vLLM's default limit. */
export const PEEK_TOKENS = 20;

/** Closer logprobs do not distinguish a factor of two from noise. */
const LEAST_GAP = 0.02;

/** Weights may change between two probes: then the probes are repeated. */
const LOOKS = 5;

export async function logprobMeaning(ask: AskPeek): Promise<LogprobMeaning> {
  for (let look = 1; ; look++) {
    const versions = new Set<string | null>();
    const meaning = await oneLook(async (sampling) => {
      const peek = await ask(sampling);
      if (peek) versions.add(peek.version);
      return peek;
    });
    if (versions.size <= 1) return meaning;
    if (look === LOOKS) return 'unknown';
  }
}

async function oneLook(ask: AskPeek): Promise<LogprobMeaning> {
  const [warm, cold] = [
    await ask({ temperature: 1, ...NO_TRUNCATION }),
    await ask({ temperature: 0.5, ...NO_TRUNCATION }),
  ];
  if (!warm || !cold) return 'unknown';
  const ratio = gapRatio(warm.byId, cold.byId);
  if (ratio === null) return 'unknown';
  if (Math.abs(ratio - 1) < 0.1) return 'raw';
  if (Math.abs(ratio - 2) > 0.2) return 'unknown';
  // With one token left, the policy's logprob is 0; logprobs before truncation are unchanged.
  const cut = await ask({ temperature: 0.5, topP: 1, topK: 1 });
  const own = cut?.byId.get(cut.sampled);
  const uncut = cut && cold.byId.get(cut.sampled);
  // If one token has all the probability, truncation shows nothing: the weaker kind is assumed.
  return own !== undefined && own > -1e-3 && uncut != null && uncut < -1e-2 ? 'policy' : 'temperature';
}

/** The factor by which the widest gap present in both grew. */
function gapRatio(warm: ReadonlyMap<number, number>, cold: ReadonlyMap<number, number>): number | null {
  let widest = LEAST_GAP;
  let ratio: number | null = null;
  const shared = [...warm.keys()].filter((id) => cold.has(id));
  for (const a of shared) {
    for (const b of shared) {
      const gap = warm.get(a)! - warm.get(b)!;
      if (gap > widest) [widest, ratio] = [gap, (cold.get(a)! - cold.get(b)!) / gap];
    }
  }
  return ratio;
}
