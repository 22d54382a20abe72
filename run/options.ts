// Every option of a run: its name, what it takes, and its help. The flag is the kebab form of the name.

import { z } from 'zod';
import { AGENTS } from '../domain/rollout/agent.ts';
import { DEFAULT_MAX_CONCURRENT, DEFAULT_SETTINGS, MAX_CONCURRENT } from '../domain/run/defaults.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { parseSuccessRate } from '../domain/rollout/group.ts';
import { FLEET_POLICIES, type RolloutSettings } from '../domain/run/settings.ts';
import { MODEL_FORMS, parseModelSpec } from '../inference/index.ts';
import { type Field, real, whole } from './field.ts';
import { DEFAULT_TOOL_OPTIONS, TOOL_FIELDS, type ToolOptions } from './tool-options.ts';

export type { Field };

export interface RunOptions extends Omit<RolloutSettings, 'seed' | 'environments' | 'tools'>, ToolOptions {
  /** A preset of settings, by its name. */
  readonly agent: string | null;
  /** Of the user's own: a module, a command or an address each. */
  readonly environment: readonly string[];
  /** Null: derived from the run's name. */
  readonly seed: number | null;
  readonly samples: number;
  readonly epochs: number;
  /** A trainer lives on the run: its feed paces it. */
  readonly train: boolean;
  readonly batchGroups: number;
  readonly maxStaleness: number;
  readonly minMembers: number | null;
  readonly successRate: readonly [number, number] | null;
  readonly dropZeroVariance: boolean;
  readonly maxConcurrent: number;
  readonly limit: number | null;
  readonly shuffleSeed: number | null;
  /** More failed rollouts than this make `run` end with exit code 3. */
  readonly maxFailed: number;
}

const MODELS = MODEL_FORMS.join(', ').replace(/, (?!.*, )/, ' or ');
const model = z.string('a model').superRefine((spec, context) => {
  const error = modelError(spec);
  if (!error) return;
  // The list of forms does not explain what is wrong with a url.
  const message = error.reason === 'unknown-model' ? MODELS : `${MODELS}; ${error.message}`;
  context.addIssue({ code: 'custom', message });
});

const ENVIRONMENTS =
  'a module (./my-env.ts), a command ("python3 my_env.py"), an address (https://…), a rubric (rubric:./rubric.json) or a queue (queue:my-queue)';
const AGENT = 'the name of an agent';
const RATES = 'two numbers from 0 to 1 in order, as in 0.1:0.9';
const ENV_NAME = 'the name of an environment variable';
const LIMITS = 'limits by url, as in http://a:30000=64,http://b:30000=32';
const WEIGHTS = 'weights by url, as in http://a:30000=2,http://b:30000=1';

/** Every option of a run, by its name in config files; the flag is its kebab form. */
export const FIELDS: { readonly [K in keyof RunOptions]: Field<RunOptions[K]> } = {
  model: {
    schema: model,
    argument: '<model>',
    help: `the model that answers: ${MODELS}; tiny ships with Everturn`,
  },
  tokenizer: {
    schema: z.string('a folder or hub id').min(1).nullable(),
    argument: '<folder>',
    help: 'folder or hub id of the tokenizer, for a model that comes without one',
  },
  agent: {
    schema: z.string(AGENT).trim().min(1, AGENT).nullable(),
    argument: '<name>',
    help: `a preset of the settings below it: ${AGENTS.map(({ name }) => name).join(', ')}, or one that your environment brings`,
  },
  numTurns: { schema: whole(1, 1000), argument: '<n>', help: 'maximum number of turns of a rollout' },
  stop: {
    schema: z.enum(['always', 'success'], 'always or success'),
    argument: '<when>',
    help: 'when a rollout ends: always = after all its turns; success = at the first right answer',
  },
  environment: {
    schema: z.array(z.string(ENVIRONMENTS).trim().min(1, ENVIRONMENTS), ENVIRONMENTS).max(64, 'at most 64 of them'),
    argument: '<what>',
    help: `your own environment, which answers instead of the judge: ${ENVIRONMENTS}; several may be given, and rows name one`,
    fromText: (text) => [text],
    many: true,
  },
  ...TOOL_FIELDS,
  samples: { schema: whole(1, 10_000), argument: '<n>', help: 'number of rollouts of each query' },
  epochs: {
    schema: whole(1, 100_000),
    argument: '<n>',
    help: 'number of times the data set is played, each time with other samples',
  },
  train: {
    schema: z.boolean('true or false'),
    argument: null,
    help: 'a trainer lives on the run: `everturn feed` hands out its groups and paces it',
  },
  batchGroups: {
    schema: whole(1, 100_000),
    argument: '<n>',
    help: 'with --train: a training step takes so many groups (the samples of one query)',
  },
  maxStaleness: {
    schema: whole(0, 10_000),
    argument: '<n>',
    help: 'with --train: a sample is at most so many versions of the weights old when it is trained; 0 is synchronous',
  },
  minMembers: {
    schema: whole(1, 10_000).nullable(),
    argument: '<n>',
    help: 'minimum number of members of a group to train on, whose other members failed after all retries; by default whole groups only',
  },
  successRate: {
    schema: z
      .tuple([real(0, 1, RATES), real(0, 1, RATES)], RATES)
      .refine(([least, most]) => least <= most, RATES)
      .nullable(),
    argument: '<lb:ub>',
    help: 'groups (the samples of one query) whose success rate is outside these limits (both included) are not trained on: left out of the feed and of exports',
    fromText: (text) => parseSuccessRate(text) ?? text,
  },
  dropZeroVariance: {
    schema: z.boolean('true or false'),
    argument: null,
    help: 'groups whose rewards are all equal are not trained on',
  },
  feedback: {
    schema: z.enum(['seed', 'delta'], 'seed or delta'),
    argument: '<mode>',
    help: "how the verdict is appended: seed = the original algorithm's text, to the byte; delta = exactly what the chat template adds",
  },
  rewardScaling: {
    schema: z.number('a number'),
    argument: '<x>',
    help: 'the reward of a turn is ((success − 0.5)·2 − bias)·scaling, with success 1 or 0',
  },
  rewardBias: {
    schema: z.number('a number'),
    argument: '<x>',
    help: 'the bias in the reward of a turn, before the scaling',
  },
  turnDiscount: {
    schema: real(0, 1, 'a number from 0 to 1'),
    argument: '<x>',
    help: 'the return of a turn is its reward plus this factor times the return of the turn after it',
  },
  maxNewTokens: {
    schema: whole(1, 1_000_000),
    argument: '<n>',
    help: "maximum number of tokens of an answer, cut to what the model's context leaves",
  },
  newTokensPerChunk: {
    schema: whole(1, 1_000_000).nullable(),
    argument: '<n>',
    help: 'generate an answer in chunks of this many tokens, each stored before the next is requested',
  },
  temperature: {
    schema: real(0, 100, 'a number from 0 (greedy) to 100'),
    argument: '<x>',
    help: 'divides the logits; 0 takes the most probable token (greedy)',
  },
  topP: {
    schema: z
      .number('a number above 0, up to 1')
      .gt(0, 'a number above 0, up to 1')
      .max(1, 'a number above 0, up to 1'),
    argument: '<x>',
    help: 'nucleus sampling: the most probable tokens with this total probability; 1 keeps all',
  },
  topK: { schema: whole(1), argument: '<n>', help: 'sample from this many of the most probable tokens only' },
  seed: {
    schema: whole(0).nullable(),
    argument: '<n>',
    help: "root of all random streams of the run; derived from the run's name if not given",
  },
  deterministic: {
    schema: z.boolean('true or false'),
    argument: null,
    help: 'the same seed gives the same token ids, whatever else is in flight (embedded models)',
  },
  logprobs: {
    schema: z.enum(['policy', 'raw'], 'policy or raw'),
    argument: '<kind>',
    help: 'the distribution of the logprobs: policy = the one sampled from; raw = the model at temperature 1',
  },
  apiKeyEnv: {
    schema: z
      .string(ENV_NAME)
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, ENV_NAME)
      .nullable(),
    argument: '<NAME>',
    help: "name of the environment variable that holds the servers' API key",
  },
  fleetPolicy: {
    schema: z.enum(FLEET_POLICIES, FLEET_POLICIES.join(', ')),
    argument: '<policy>',
    help: `distribution of requests over several servers: ${FLEET_POLICIES.join(', ')}`,
  },
  maxInFlightPerServer: {
    schema: whole(1).nullable(),
    argument: '<n>',
    help: 'maximum number of requests in flight on each server, over all workers of the run (with runs in a bucket: of each worker)',
  },
  serverLimits: {
    schema: z.record(z.string(), whole(1), LIMITS),
    argument: '<url=n,…>',
    help: 'maximum number of requests in flight on single servers, in place of the limit for all of them',
    fromText: numbersByUrl,
  },
  requestTimeoutSeconds: {
    schema: whole(1, 86_400),
    argument: '<n>',
    help: 'time limit of a request to a server, after which it is sent again',
  },
  recheckEvery: {
    schema: whole(0),
    argument: '<n>',
    help: 'one answer of a server in n is given back to it as a context, and the logprobs of both must agree; 0: none',
  },
  serverWeights: {
    schema: z.record(z.string(), z.number().positive(), WEIGHTS),
    argument: '<url=n,…>',
    help: 'share of each server in the requests: weight 2 gets twice as many as weight 1, the default',
    fromText: numbersByUrl,
  },
  maxConcurrent: {
    schema: whole(1, MAX_CONCURRENT),
    argument: '<n>',
    help: 'maximum number of rollouts in flight at once',
  },
  limit: { schema: whole(1).nullable(), argument: '<n>', help: 'play only the first n queries' },
  shuffleSeed: {
    schema: whole(0).nullable(),
    argument: '<n>',
    help: 'play the queries in a random order that is derived from this seed',
  },
  maxFailed: {
    schema: whole(0),
    argument: '<n>',
    help: 'exit with code 3 if more rollouts than this fail',
  },
};

export const DEFAULT_OPTIONS: Readonly<RunOptions> = {
  ...DEFAULT_SETTINGS,
  seed: null,
  environment: [],
  agent: null,
  ...DEFAULT_TOOL_OPTIONS,
  samples: 1,
  epochs: 1,
  train: false,
  batchGroups: 32,
  maxStaleness: 1,
  minMembers: null,
  successRate: null,
  dropZeroVariance: false,
  maxConcurrent: DEFAULT_MAX_CONCURRENT,
  limit: null,
  shuffleSeed: null,
  maxFailed: 0,
};

/** The options that run.json stores under `settings`. The others decide how many rollouts are played, and how fast. */
export function isSetting(key: string): boolean {
  return key in DEFAULT_SETTINGS || key === 'seed';
}

/** The settings as given: without a seed if it is derived from the run's name. */
export function givenSettings(options: RunOptions): Omit<RolloutSettings, 'seed'> & { readonly seed?: number } {
  const settings = Object.fromEntries(Object.entries(options).filter(([key]) => key in DEFAULT_SETTINGS));
  const { seed } = options;
  return (seed === null ? settings : { ...settings, seed }) as ReturnType<typeof givenSettings>;
}

function modelError(spec: string): UsageError | undefined {
  try {
    parseModelSpec(spec);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

function numbersByUrl(text: string): unknown {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    return [pair.slice(0, at).trim(), Number(pair.slice(at + 1))] as const;
  });
  return Object.fromEntries(pairs);
}
