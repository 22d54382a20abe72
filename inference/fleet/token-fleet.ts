// The token servers of one fleet must agree: ids mean the same tokens, and answers end alike. Different kinds of
// logprobs are allowed while the run samples at temperature 1 without cuts, where all kinds coincide.

import { ModelError } from '../../domain/errors/errors.ts';
import { logprobsServe, declaredMeaning } from '../../domain/rollout/logprob-meaning.ts';
import { openEarlierAnswers } from './earlier-answers.ts';
import { type FleetRules, type FleetServer, logprobsBy } from './rules.ts';

export function tokenRules(log: (line: string) => void): FleetRules<'tokens'> {
  let vocabSize = 0;
  const mustFit = openEarlierAnswers();
  return {
    mustAgree: (servers, whole) => mustAgree(servers, whole?.contextLength ?? 0),
    factsOf(servers) {
      const [first] = servers;
      const mixture = mixedLogprobs(servers);
      if (mixture) log(`${mixture}: only for temperature 1 without cuts is this one distribution.`);
      vocabSize = first!.facts.vocabSize;
      const { identity } = first!.facts;
      const givesExperts = servers.every(({ facts }) => facts.givesExperts === true);
      return {
        ...first!.facts,
        ...(identity && givesExperts && { identity: { ...identity, givesExperts: true as const } }),
        ...(mixture ? { logprobs: 'mixed' } : {}),
        logprobsBy: logprobsBy(servers),
        contextLength: Math.min(...servers.map(({ facts }) => facts.contextLength)),
        givesKept: servers.every(({ facts }) => facts.givesKept === true),
        givesExperts: servers.some(({ facts }) => facts.givesExperts === true),
        seeded: servers.every(({ facts }) => facts.seeded ?? true),
      };
    },
    partsOf: ({ tokenizer }) => ({ tokenizer }),
    mayAnswer({ sampling }, servers) {
      const mixture = logprobsServe('mixed', 'policy', sampling, vocabSize) ? null : mixedLogprobs(servers());
      if (mixture) throw mixedFleetError(mixture);
    },
    forcedOf({ contextIds, sampling, form }, { outputIds, logprobs, versions }, facts) {
      const isOwn = logprobsServe(declaredMeaning(facts), 'raw', sampling, facts.vocabSize);
      const [span] = versions;
      // A reply that was held to a form has the logprobs of another distribution.
      if (form || !isOwn || versions.length !== 1 || outputIds.length === 0) return null;
      // One more token is sampled, which nobody reads.
      const most = facts.contextLength - 1;
      return {
        // Put together only for an answer that is compared.
        get ids() {
          return [...contextIds, ...outputIds].slice(0, most);
        },
        logprobs: logprobs.slice(0, Math.max(0, most - contextIds.length)),
        version: span!.versionLabel,
      };
    },
    mustFit({ requestId, contextIds }, { outputIds, logprobs, versions }, url) {
      mustFit({ url, requestId, context: contextIds, tokens: outputIds, logprobs, versions });
    },
    tokensOf: ({ contextIds, maxNewTokens }) => contextIds.length + maxNewTokens,
    homeOf: ({ prefer }) => prefer ?? null,
  };
}

function mustAgree(servers: readonly FleetServer<'tokens'>[], leastLength: number): void {
  for (const [what, of] of TRAITS) {
    if (new Set(servers.map(of)).size > 1)
      throw mixedFleetError(`The servers have different ${what} (${each(servers, of)})`);
  }
  const short = servers.find(({ facts }) => facts.contextLength < leastLength);
  if (short)
    throw mixedFleetError(
      `${short.url} has a context of ${short.facts.contextLength}, less than the run's ${leastLength}`,
    );
}

const TRAITS: readonly [string, (server: FleetServer<'tokens'>) => unknown][] = [
  ['vocabularies', ({ facts }) => facts.vocabSize],
  ['stop tokens', ({ facts }) => facts.stopTokenIds.join(' ')],
];

const meaning = ({ facts }: FleetServer<'tokens'>) => declaredMeaning(facts);

/** Describes the difference; null if there is none. */
function mixedLogprobs(servers: readonly FleetServer<'tokens'>[]): string | null {
  if (new Set(servers.map(meaning)).size <= 1) return null;
  return `The servers return different kinds of logprobs (${each(servers, meaning)})`;
}

function each(servers: readonly FleetServer<'tokens'>[], of: (server: FleetServer<'tokens'>) => unknown): string {
  return servers.map((server) => `${server.url}: ${String(of(server))}`).join('; ');
}

/** Thrown if these servers cannot serve one run; the message begins with the reason's name. */
export function mixedFleetError(what: string): ModelError {
  return new ModelError(`mixed-fleet: ${what}`, {
    reason: 'mixed-fleet',
    fix: 'Start them alike, or name only one of them.',
  });
}
