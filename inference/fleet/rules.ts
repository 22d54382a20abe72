// What a fleet of one kind of backend needs to know of that kind: the servers that make one fleet, the facts and parts
// of the whole, and the cost of a request. The fleet itself is the same for both kinds.

import { meaningOf } from '../../domain/logprob-meaning.ts';
import type { Kind, Kinds } from '../backend.ts';
import type { ServerBackend } from './server-backend.ts';

export type Met<K extends Kind> = readonly { readonly url: string; readonly facts: Kinds[K]['facts'] }[];

export function metOf<K extends Kind>(server: ServerBackend<K>): Met<K>[number] {
  return { url: server.url, facts: server.facts };
}

export interface FleetRules<K extends Kind> {
  /** Throws if one run cannot be made of the answers of all of them. `whole`: the fleet's facts, once it has some. */
  mustAgree(servers: Met<K>, whole?: Kinds[K]['facts']): void;
  /** The facts of all of them as one. */
  factsOf(servers: Met<K>): Kinds[K]['facts'];
  partsOf(server: ServerBackend<K>): Kinds[K]['parts'];
  /** Throws if these servers, as they are now, may not answer this request together. */
  mayAnswer(request: Kinds[K]['request'], servers: () => Met<K>): void;
  /** Tokens in flight by this request at most. */
  tokensOf(request: Kinds[K]['request']): number;
  /** The server that holds the beginning of this request's context. */
  homeOf(request: Kinds[K]['request']): { readonly server: string; readonly version: number } | null;
}

/** Servers of text have nothing that must agree but the name by which they are asked. */
export const TEXT_RULES: FleetRules<'text'> = {
  mustAgree: () => undefined,
  factsOf: (servers) => ({ ...servers[0]!.facts, logprobsBy: logprobsBy(servers) }),
  partsOf: () => ({}),
  mayAnswer: () => undefined,
  tokensOf: ({ maxNewTokens }) => maxNewTokens,
  homeOf: () => null,
};

export function logprobsBy(servers: Met<Kind>) {
  return Object.fromEntries(servers.map(({ url, facts }) => [url, meaningOf(facts)]));
}
