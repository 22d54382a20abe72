// The part of a fleet that differs between token and text backends: the servers that may form one fleet, the facts and
// parts of the whole, and the cost of a request.

import { logprobMeaning } from '../../domain/rollout/logprob-meaning.ts';
import type { Kind, Kinds } from '../backend.ts';
import { openEarlierAnswers } from './earlier-answers.ts';
import type { Forced } from './recheck.ts';
import type { ServerBackend } from './server-backend.ts';

export type Met<K extends Kind> = readonly { readonly url: string; readonly facts: Kinds[K]['facts'] }[];

export function metOf<K extends Kind>(server: ServerBackend<K>): Met<K>[number] {
  return { url: server.url, facts: server.facts };
}

export interface FleetRules<K extends Kind> {
  /** Throws if the servers' answers cannot belong to one run. `whole`: the fleet's facts, if it has some. */
  mustAgree(servers: Met<K>, whole?: Kinds[K]['facts']): void;
  /** The servers' facts, combined. */
  factsOf(servers: Met<K>): Kinds[K]['facts'];
  partsOf(server: ServerBackend<K>): Kinds[K]['parts'];
  /** Throws if these servers, in their current state, may not answer this request. */
  mayAnswer(request: Kinds[K]['request'], servers: () => Met<K>): void;
  /** The answer as a context, to ask for its logprobs again; null if these would be others. */
  forcedOf(request: Kinds[K]['request'], reply: Kinds[K]['reply'], facts: Kinds[K]['facts']): Forced | null;
  /** Throws for a reply that contradicts an earlier one. */
  mustFit(request: Kinds[K]['request'], reply: Kinds[K]['reply'], url: string): void;
  /** Tokens in flight by this request at most. */
  tokensOf(request: Kinds[K]['request']): number;
  /** The server that holds the beginning of this request's context. */
  homeOf(request: Kinds[K]['request']): { readonly server: string; readonly version: number } | null;
}

/** Text servers need to agree only in the model's name. */
export function textRules(): FleetRules<'text'> {
  const mustFit = openEarlierAnswers();
  return {
    mustAgree: () => undefined,
    factsOf: (servers) => ({ ...servers[0]!.facts, logprobsBy: logprobsBy(servers) }),
    partsOf: () => ({}),
    mayAnswer: () => undefined,
    forcedOf: () => null,
    mustFit({ requestId, messages }, { text, textLogprobs }, url) {
      const logprobs = textLogprobs.map(({ logprob }) => logprob);
      mustFit({ url, requestId, context: messages, tokens: text, logprobs, versions: [] });
    },
    tokensOf: ({ maxNewTokens }) => maxNewTokens,
    homeOf: () => null,
  };
}

export function logprobsBy(servers: Met<Kind>) {
  return Object.fromEntries(servers.map(({ url, facts }) => [url, logprobMeaning(facts)]));
}
