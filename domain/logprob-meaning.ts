// Which distribution a server's logprobs are of. Servers differ, each has a switch for it, and a trainer that
// takes one for the other learns quietly wrong.

import { ModelError } from './errors.ts';
import type { Sampling } from './sampling.ts';

/**
 * policy       what the token was drawn from: after temperature and cuts
 * temperature  after temperature, before top_p and top_k
 * raw          the model's own distribution, at temperature 1
 * unknown      could not be found out
 * mixed        the servers of a fleet differ
 */
export const LOGPROB_MEANINGS = ['policy', 'temperature', 'raw', 'unknown', 'mixed'] as const;
export type LogprobMeaning = (typeof LOGPROB_MEANINGS)[number];

/** What was found out of a model at start, and is kept in run.json. */
export interface FoundLogprobs {
  readonly meaning: LogprobMeaning;
  /** By server, where there are some. */
  readonly servers?: Readonly<Record<string, LogprobMeaning>>;
}

/** Models say nothing where nothing was to be found out: then a logprob is of what was drawn from. */
export function meaningOf({ logprobs = 'policy' }: { readonly logprobs?: LogprobMeaning }): LogprobMeaning {
  return logprobs;
}

export function foundLogprobs(facts: {
  readonly logprobs?: LogprobMeaning;
  readonly logprobsBy?: FoundLogprobs['servers'];
}): FoundLogprobs {
  const { logprobsBy: servers } = facts;
  return { meaning: meaningOf(facts), ...(servers ? { servers } : {}) };
}

/** What a run wants its logprobs to be of. */
export type WantedLogprobs = 'policy' | 'raw';

/** Do logprobs of this meaning say what the run wants, for this sampling? Greedy answers count as temperature 1. */
export function logprobsServe(
  meaning: LogprobMeaning,
  wanted: WantedLogprobs,
  { temperature, topP, topK }: Sampling,
  vocabSize: number,
): boolean {
  if (meaning === wanted) return true;
  const warm = temperature === 1 || temperature === 0;
  const whole = temperature === 0 || (topP === 1 && topK >= vocabSize);
  // At temperature 1 without cuts all of them are one distribution.
  if (warm && whole) return true;
  return meaning === 'temperature' && (wanted === 'policy' ? whole : warm);
}

export interface LogprobSettings extends Sampling {
  readonly logprobs: WantedLogprobs;
}

/** A model whose logprobs are trained on, or one that gives text alone. */
export type LogprobFacts =
  | { readonly kind: 'text' }
  | {
      readonly kind: 'tokens';
      readonly name: string;
      readonly vocabSize: number;
      readonly logprobs?: LogprobMeaning;
      readonly logprobsBy?: FoundLogprobs['servers'];
    };

/** Throws where a model's logprobs are not of what the run wants. Text has none to train on. */
export function mustServeLogprobs(facts: LogprobFacts, settings: LogprobSettings): void {
  if (facts.kind === 'text') return;
  const { vocabSize, name } = facts;
  const meaning = meaningOf(facts);
  const { logprobs: wanted } = settings;
  if (logprobsServe(meaning, wanted, settings, vocabSize)) return;
  if (meaning === 'mixed') {
    const each = Object.entries(facts.logprobsBy ?? {}).map(([url, of]) => `${url}: ${of}`);
    throw new ModelError(`mixed-fleet: The servers return different kinds of logprobs (${each.join('; ')}).`, {
      reason: 'mixed-fleet',
      fix: 'Start them alike, name only one of them, or sample at temperature 1 without cuts, where all meanings are one.',
    });
  }
  throw new ModelError(
    `The logprobs of ${name} are of another distribution (${meaning}) than the run wants (${wanted}).`,
    {
      reason: 'logprobs-differ',
      fix: `Start the server so that it gives ${wanted} logprobs, ask for the other kind with --logprobs, or sample at temperature 1 without cuts, where they are one.`,
    },
  );
}
