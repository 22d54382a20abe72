// How an answer is drawn from the model's distribution.

export interface Sampling {
  /** Divides the logits. 0 means greedy. */
  readonly temperature: number;
  /** Nucleus: keep the most probable tokens until their sum reaches top_p. 1 keeps all. */
  readonly topP: number;
  /** Keep the top_k most probable tokens. Anything at or above the vocabulary's size keeps all. */
  readonly topK: number;
}

/** The seed algorithm's defaults: the model's own distribution, nothing cut. */
export const DEFAULT_SAMPLING: Sampling = { temperature: 1, topP: 1, topK: 100_000_000 };
export const DEFAULT_MAX_NEW_TOKENS = 16_384;
