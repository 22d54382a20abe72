// The distribution that a server's logprobs belong to. Servers differ and each has a switch for it; a trainer that
// confuses them learns wrong policies without an error.

import { ModelError } from './errors.ts';
import type { Sampling } from './sampling.ts';

/**
 * policy       the distribution sampled from: after temperature, top-k and top-p
 * temperature  after temperature, before top-k and top-p
 * raw          the model's own distribution, at temperature 1
 * unknown      the probe gave no answer
 * mixed        the servers of a fleet differ
 */
export type LogprobMeaning = 'policy' | 'temperature' | 'raw' | 'unknown' | 'mixed';

/** The result of the probe at start, stored in run.json. */
export interface FoundLogprobs {
  readonly meaning: LogprobMeaning;
  /** By server, if there are any. */
  readonly servers?: Readonly<Record<string, LogprobMeaning>>;
}

/** The default is `policy`: backends that sample themselves report nothing. */
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

/** The kind of logprobs that a run requires. */
export type WantedLogprobs = 'policy' | 'raw';

/** Whether logprobs of this kind equal the wanted ones under this sampling. Greedy answers count as temperature 1. */
export function logprobsServe(
  meaning: LogprobMeaning,
  wanted: WantedLogprobs,
  { temperature, topP, topK }: Sampling,
  vocabSize: number,
): boolean {
  if (meaning === wanted) return true;
  const warm = temperature === 1 || temperature === 0;
  const whole = temperature === 0 || (topP === 1 && topK >= vocabSize);
  // At temperature 1 without truncation all of them are the same distribution.
  if (warm && whole) return true;
  return meaning === 'temperature' && (wanted === 'policy' ? whole : warm);
}

export interface LogprobSettings extends Sampling {
  readonly logprobs: WantedLogprobs;
}

/** Throws if a model's logprobs are not the kind that the run wants. Accepts models without logprobs to train on. */
export function mustServeLogprobs(
  facts: {
    readonly name: string;
    readonly logprobs?: LogprobMeaning;
    readonly logprobsBy?: FoundLogprobs['servers'];
    readonly trainable: boolean;
    readonly vocabSize: number;
  },
  settings: LogprobSettings,
): void {
  const { trainable, vocabSize, name } = facts;
  const meaning = meaningOf(facts);
  const { logprobs: wanted } = settings;
  if (!trainable || logprobsServe(meaning, wanted, settings, vocabSize)) return;
  if (meaning === 'mixed') {
    const each = Object.entries(facts.logprobsBy ?? {}).map(([url, of]) => `${url}: ${of}`);
    throw new ModelError(`The servers return different kinds of logprobs (${each.join('; ')}).`, {
      reason: 'mixed-fleet',
      fix: 'Start them with the same settings, name only one of them, or sample at temperature 1 with top-p 1 and no top-k, where all kinds are equal.',
    });
  }
  throw new ModelError(
    `The logprobs of ${name} belong to another distribution (${meaning}) than the run wants (${wanted}).`,
    {
      reason: 'logprobs-differ',
      fix: `Start the server with ${wanted} logprobs, choose the other kind with --logprobs, or sample at temperature 1 with top-p 1 and no top-k, where both are equal.`,
    },
  );
}
