// What the servers of one fleet must have in common: ids mean the same tokens, and answers end alike. Different
// meanings of logprobs are told apart from that: at temperature 1 without cuts they are one.

import { ModelError } from '../../domain/errors.ts';
import { meaningOf } from '../../domain/logprob-meaning.ts';
import type { ServerBackend } from './server-backend.ts';

type Met = readonly Pick<ServerBackend, 'url' | 'facts'>[];

/** Throws where one run cannot be made of answers of all of them. */
export function refuseMixture(servers: Met, leastLength = 0): void {
  for (const [what, of] of TRAITS) {
    if (new Set(servers.map(of)).size > 1) throw mixed(`The servers have different ${what} (${each(servers, of)})`);
  }
  const short = servers.find(({ facts }) => facts.contextLength < leastLength);
  if (short)
    throw mixed(`${short.url} has a context of ${short.facts.contextLength}, less than the run's ${leastLength}`);
}

const TRAITS: readonly [string, (server: Met[number]) => unknown][] = [
  ['vocabularies', ({ facts }) => facts.vocabSize],
  ['stop tokens', ({ facts }) => facts.stopTokenIds.join(' ')],
];

const meaning = ({ facts }: Met[number]) => meaningOf(facts);

/** Says how they differ; null where they do not. */
export function mixedLogprobs(servers: Met): string | null {
  if (new Set(servers.map(meaning)).size <= 1) return null;
  return `The servers mean different things by a logprob (${each(servers, meaning)})`;
}

function each(servers: Met, of: (server: Met[number]) => unknown): string {
  return servers.map((server) => `${server.url}: ${String(of(server))}`).join('; ');
}

export function mixed(what: string): ModelError {
  return new ModelError(what, { reason: 'mixed-fleet', fix: 'Start them alike, or name only one of them.' });
}
