// How an answer is drawn from the model's distribution: temperature, then top-k, then top-p, then min-p.

import type { RolloutSettings } from '../run/settings.ts';

/** domain/run/settings.ts says what each does. */
export type Sampling = Pick<RolloutSettings, 'temperature' | 'topP' | 'topK' | 'minP'>;

/** No token is left out. */
export const WHOLE = { topP: 1, topK: 100_000_000 } as const;
/** Larger than every vocabulary. */
const NO_TOP_K = 1e7;

/** The seed algorithm's: the model's own distribution. */
export const DEFAULT_SAMPLING: Sampling = { temperature: 1, ...WHOLE };

export function samplingOf({ temperature, topP, topK, minP }: Sampling): Sampling {
  return { temperature, topP, topK, ...(minP !== undefined && { minP }) };
}

/** Whether each token of a vocabulary may be drawn; of an unknown one, whether no vocabulary is so large. */
export function isWhole({ topP, topK, minP = 0 }: Sampling, vocabSize = NO_TOP_K): boolean {
  return topP === 1 && topK >= vocabSize && minP === 0;
}
