// The distribution of a model's logprobs as its probe at start found it, in the record of a run.

import { mapOf, maybe, objectOf, oneOf, type TypeOf } from '../schema/fields.ts';
import { LOGPROB_MEANINGS, type LogprobMeaning, declaredMeaning } from './logprob-meaning.ts';

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
