// Everything that decides what a rollout plays. Fixed when its run is created; stored in run.json.

import type { Limits } from './ending.ts';
import type { WantedLogprobs } from './logprob-meaning.ts';
import type { RewardSettings } from './reward.ts';
import type { Sampling } from './sampling.ts';

export const FLEET_POLICIES = ['sticky', 'round_robin', 'least_requests', 'least_token_usage'] as const;
export type FleetPolicy = (typeof FLEET_POLICIES)[number];

export interface RolloutSettings extends Limits, RewardSettings, Sampling {
  /** As the registry of backends (inference/index.ts) has it: `tiny`, or a scheme and what it takes. */
  readonly model: string;
  /** Folder or hub id, where the model does not say which tokenizer is its own. */
  readonly tokenizer: string | null;
  /** How feedback is appended to the conversation. */
  readonly feedback: 'seed' | 'delta';
  /** New tokens per turn, at most; cut to what the model's context leaves. */
  readonly maxNewTokens: number;
  /** A turn is generated in chunks of so many tokens, each stored before the next; null: in one. */
  readonly newTokensPerChunk: number | null;
  /** What the logprobs must be of: the distribution that was drawn from, or the model's own at temperature 1. */
  readonly logprobs: WantedLogprobs;
  /** Environment variable that holds the servers' API key; never its value. */
  readonly apiKeyEnv: string | null;
  /** How requests are spread over several servers. */
  readonly fleetPolicy: FleetPolicy;
  /** Requests in flight on one server at most, over all workers of the run; null: no limit. */
  readonly maxInFlightPerServer: number | null;
  /** The same of single servers, by url; it wins. */
  readonly serverLimits: Readonly<Record<string, number>>;
  /** One answer of a server may take so long; then it is asked for again. */
  readonly requestTimeoutSeconds: number;
  /** By url; 1 where none is given. */
  readonly serverWeights: Readonly<Record<string, number>>;
  /** Root of all random streams of the run: an integer in [0, 2^53). */
  readonly seed: number;
  /** Same seed, same ids, whatever else is in flight. */
  readonly deterministic: boolean;
}
