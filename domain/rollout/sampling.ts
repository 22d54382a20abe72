// How an answer is drawn from the model's distribution: temperature, then top-k, then top-p, then min-p.

import type { RolloutSettings } from './settings.ts';

/** The settings of a draw; domain/rollout/settings.ts says what each does. Every request to a model has them. */
export const SAMPLING = ['temperature', 'topP', 'topK', 'minP'] as const;
export type Sampling = Pick<RolloutSettings, (typeof SAMPLING)[number]>;

/** No token is left out. */
export const NO_TRUNCATION = { topP: 1, topK: 100_000_000 } as const;
/** Larger than every vocabulary. */
const NO_TOP_K = 1e7;

/** The seed algorithm's: the model's own distribution. */
export const DEFAULT_SAMPLING: Sampling = { temperature: 1, ...NO_TRUNCATION };

export function samplingOf(settings: Sampling): Sampling {
  const presentNames = SAMPLING.filter((name) => settings[name] !== undefined);
  return Object.fromEntries(presentNames.map((name) => [name, settings[name]])) as unknown as Sampling;
}

/**
 * Whether the draw is from all of the model's distribution: nothing but the temperature changes it. `vocabSize`: where it is
 * not given, top-k keeps all only if no vocabulary is so large.
 */
export function isUntruncated({ topP, topK, minP = 0 }: Sampling, vocabSize = NO_TOP_K): boolean {
  return topP === 1 && topK >= vocabSize && minP === 0;
}
