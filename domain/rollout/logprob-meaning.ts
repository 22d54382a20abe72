// The distribution that a server's logprobs belong to. Servers differ and each has a switch for it; a trainer that
// confuses them learns wrong policies without an error.

import { ModelError } from '../errors/errors.ts';
import { drawsFromSets } from './kept-sets.ts';
import { isUntruncated, type Sampling } from './sampling.ts';
import { mapOf, maybe, objectOf, oneOf, type TypeOf } from '../schema/fields.ts';

/** float32 arithmetic may end slightly above 0; this is far above any such result. */
export const MOST_LOGPROB = 1e-3;
/** No softmax in float32 or bfloat16 gives a sampled token less. */
export const LEAST_LOGPROB = -1e4;

/**
 * policy       the distribution sampled from: after temperature, top-k, top-p and min-p
 * temperature  after temperature, before any token is left out
 * raw          the model's own distribution, at temperature 1
 * unknown      the probe gave no answer
 * mixed        the servers of a fleet differ
 */
export const LOGPROB_MEANINGS = ['policy', 'temperature', 'raw', 'unknown', 'mixed'] as const;
export type LogprobMeaning = (typeof LOGPROB_MEANINGS)[number];

/** The default is `policy`: backends that sample themselves report nothing. */
export function declaredMeaning({ logprobs = 'policy' }: { readonly logprobs?: LogprobMeaning }): LogprobMeaning {
  return logprobs;
}

/** The kind of logprobs that a run requires. */
export const WANTED_LOGPROBS = ['policy', 'raw'] as const;
export type WantedLogprobs = (typeof WANTED_LOGPROBS)[number];

/** Whether logprobs of this kind equal the wanted ones under this sampling. Greedy answers count as temperature 1. */
export function logprobsServe(
  meaning: LogprobMeaning,
  wanted: WantedLogprobs,
  sampling: Sampling,
  vocabSize: number,
): boolean {
  if (meaning === wanted) return true;
  const { temperature } = sampling;
  const warm = temperature === 1 || temperature === 0;
  const isUntouched = temperature === 0 || isUntruncated(sampling, vocabSize);
  // All of them are the same distribution at temperature 1 without truncation.
  if (warm && isUntouched) return true;
  return meaning === 'temperature' && (wanted === 'policy' ? isUntouched : warm);
}

interface LogprobSettings extends Sampling {
  readonly logprobs: WantedLogprobs;
}

/** A model whose logprobs are trained on, or one that gives text alone. */
type LogprobFacts =
  | { readonly kind: 'text' }
  | {
      readonly kind: 'tokens';
      readonly name: string;
      readonly vocabSize: number;
      readonly logprobs?: LogprobMeaning;
      /** Each server's, by url. */
      readonly logprobsBy?: Readonly<Record<string, LogprobMeaning>>;
      readonly givesKept?: boolean;
    };

/** The kind that an answer is recorded with. Where tokens are left out, and sets are given, logprobs over these are, too. */
export function recordedMeaning(facts: Extract<LogprobFacts, { kind: 'tokens' }>, settings: LogprobSettings) {
  const found = declaredMeaning(facts);
  const overSets = facts.givesKept && found !== 'mixed' && drawsFromSets(settings, facts.vocabSize);
  return overSets && settings.logprobs === 'policy' ? 'policy' : found;
}

/** Throws if a model's logprobs are not the kind that the run wants. Text has none to train on. */
export function mustServeLogprobs(facts: LogprobFacts, settings: LogprobSettings): void {
  if (facts.kind === 'text') return;
  const { vocabSize, name } = facts;
  const meaning = recordedMeaning(facts, settings);
  const { logprobs: wanted } = settings;
  if (logprobsServe(meaning, wanted, settings, vocabSize)) return;
  if (meaning === 'mixed') {
    const each = Object.entries(facts.logprobsBy ?? {}).map(([url, of]) => `${url}: ${of}`);
    throw new ModelError(`mixed-fleet: The servers return different kinds of logprobs (${each.join('; ')}).`, {
      reason: 'mixed-fleet',
      fix: 'Start them with the same settings, name only one of them, or sample at temperature 1 with no token left out, where all kinds are equal.',
    });
  }
  // Without a cut these two are equal.
  const lacksSets = meaning === 'temperature' && wanted === 'policy';
  throw new ModelError(
    `The logprobs of ${name} belong to another distribution (${meaning}) than the run wants (${wanted}).`,
    {
      reason: 'logprobs-differ',
      fix: lacksSets
        ? 'Sample with --top-p 1 and without --top-k and --min-p, or serve by an SGLang from 0.5.23 on, which says what these left (return_sampling_mask).'
        : `Start the server with ${wanted} logprobs, choose the other kind with --logprobs, or sample at temperature 1 with no token left out, where both are equal.`,
    },
  );
}

/** The result of the probe at start, stored in run.json. */
export const FOUND_LOGPROBS = objectOf({
  meaning: oneOf(...LOGPROB_MEANINGS),
  /** Each server's, by url; absent without servers. */
  servers: maybe(mapOf(oneOf(...LOGPROB_MEANINGS))),
});
export type FoundLogprobs = TypeOf<typeof FOUND_LOGPROBS>;

export function foundLogprobs(facts: {
  readonly logprobs?: LogprobMeaning;
  readonly logprobsBy?: FoundLogprobs['servers'];
}): FoundLogprobs {
  const { logprobsBy: servers } = facts;
  return { meaning: declaredMeaning(facts), ...(servers ? { servers } : {}) };
}
