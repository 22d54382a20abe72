// The part of a fleet that differs between token and text backends: the servers that may form one fleet, the facts and
// parts of the whole, and the cost of a request.

import { declaredMeaning } from '../../domain/rollout/logprob-meaning.ts';
import type { Kind, Kinds } from '../backend.ts';
import { openEarlierAnswers } from './earlier-answers.ts';
import type { Forced } from './recheck.ts';
import type { ServerBackend } from './server-backend.ts';

/** A server as the rules see it. */
export interface FleetServer<K extends Kind> {
  readonly url: string;
  readonly facts: Kinds[K]['facts'];
}

export const asFleetServer = <K extends Kind>({ url, facts }: ServerBackend<K>): FleetServer<K> => ({ url, facts });

export interface FleetRules<K extends Kind> {
  /** Throws if the servers' answers cannot belong to one run. `whole`: the fleet's facts, if it has some. */
  mustAgree(servers: readonly FleetServer<K>[], whole?: Kinds[K]['facts']): void;
  /** The servers' facts, combined. */
  factsOf(servers: readonly FleetServer<K>[]): Kinds[K]['facts'];
  partsOf(server: ServerBackend<K>): Kinds[K]['parts'];
  /** Throws if these servers, in their current state, may not answer this request. */
  mayAnswer(request: Kinds[K]['request'], servers: () => readonly FleetServer<K>[]): void;
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

export function logprobsBy(servers: readonly FleetServer<Kind>[]) {
  return Object.fromEntries(servers.map(({ url, facts }) => [url, declaredMeaning(facts)]));
}
