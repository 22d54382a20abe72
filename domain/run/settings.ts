// All settings that decide what a rollout plays. Fixed when its run is created; stored in run.json.

import type { Limits } from '../rollout/ending.ts';
import type { EnvironmentRecord } from '../rollout/environment.ts';
import type { WantedLogprobs } from '../rollout/logprob-meaning.ts';
import type { RewardSettings } from '../rollout/reward.ts';
import type { Sampling } from '../rollout/sampling.ts';
import type { ToolSettings } from '../tools/tool.ts';

export const FLEET_POLICIES = ['sticky', 'round_robin', 'least_requests', 'least_token_usage'] as const;
export type FleetPolicy = (typeof FLEET_POLICIES)[number];

export interface RolloutSettings extends Limits, RewardSettings, Sampling {
  /** In the form of the registry of backends (inference/index.ts): `tiny`, or a scheme and its argument. */
  readonly model: string;
  /** Folder or hub id, for models that do not name their tokenizer. */
  readonly tokenizer: string | null;
  /** The way feedback is appended to the conversation. */
  readonly feedback: 'seed' | 'delta';
  /** New tokens per turn, at most; cut to what the model's context leaves. */
  readonly maxNewTokens: number;
  /** A turn is generated in chunks of this many tokens, each stored before the next is requested; null: in one. */
  readonly newTokensPerChunk: number | null;
  /** The required kind of logprobs: of the distribution sampled from, or the model's own at temperature 1. */
  readonly logprobs: WantedLogprobs;
  /** Environment variable that holds the servers' API key; never its value. */
  readonly apiKeyEnv: string | null;
  /** The distribution of requests over several servers. */
  readonly fleetPolicy: FleetPolicy;
  /** Requests in flight on one server at most, over all workers of the run; null: no limit. */
  readonly maxInFlightPerServer: number | null;
  /** The same for single servers, by url; has precedence. */
  readonly serverLimits: Readonly<Record<string, number>>;
  /** Time limit of one server's answer; after it, the answer is requested again. */
  readonly requestTimeoutSeconds: number;
  /** One answer of a server in so many is asked again as a given context, and its logprobs compared; 0: none. */
  readonly recheckEvery: number;
  /** By url; default 1. */
  readonly serverWeights: Readonly<Record<string, number>>;
  /** Root of all random streams of the run: an integer in [0, 2^53). */
  readonly seed: number;
  /** The same seed gives the same ids, whatever else is in flight. */
  readonly deterministic: boolean;
  /** The user's own environments; absent: the judge of each query's task. */
  readonly environments?: readonly EnvironmentRecord[];
  /** The tools that the model may call; absent: none. */
  readonly tools?: ToolSettings;
}
