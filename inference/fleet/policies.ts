// The order in which servers are considered for a request. `sticky` needs no memory and no shared state: the same
// rollout ranks the same servers the same way in every worker and after every restart (rendezvous hashing).

import { createHash } from 'node:crypto';

import type { FleetPolicy } from '../../domain/rollout/settings.ts';

export interface RankedServer {
  readonly url: string;
  readonly weight: number;
  readonly inFlight: number;
  /** Tokens of contexts and budgets in flight. */
  readonly tokens: number;
  /** State of round_robin: grows by the weight at each choice, and drops when chosen. */
  credit: number;
}

/** Best first. `key` is the rollout's. */
export function rank<T extends RankedServer>(candidates: readonly T[], policy: FleetPolicy, key: string): T[] {
  switch (policy) {
    case 'sticky':
      return sortedBy(candidates, ({ url, weight }) => -rendezvousScore(url, weight, key));
    case 'least_requests':
      return sortedBy(candidates, ({ inFlight, weight }) => inFlight / weight);
    case 'least_token_usage':
      return sortedBy(candidates, ({ tokens, weight }) => tokens / weight);
    case 'round_robin':
      return sortedBy(candidates, ({ credit, weight }) => -(credit + weight));
  }
}

/** After a choice: updates the state of round_robin. Turns follow the weights, evenly spread. */
export function charge(chosen: RankedServer, candidates: readonly RankedServer[]): void {
  for (const candidate of candidates) candidate.credit += candidate.weight;
  chosen.credit -= candidates.reduce((sum, { weight }) => sum + weight, 0);
}

/** Weighted rendezvous hashing: a server that leaves or joins moves only its own rollouts. */
function rendezvousScore(url: string, weight: number, key: string): number {
  const bits = Number.parseInt(createHash('sha256').update(`${url}\n${key}`).digest('hex').slice(0, 13), 16);
  return weight / -Math.log((bits + 0.5) / 2 ** 52);
}

/** The sort is stable: ties are in the order given. */
function sortedBy<T>(items: readonly T[], cost: (item: T) => number): T[] {
  return items
    .map((item) => ({ item, cost: cost(item) }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ item }) => item);
}
