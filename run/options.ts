// Every option of a run: its name, what it takes, and its help. The flag is the kebab form of the name.

import { z } from 'zod';
import { DEFAULT_MAX_CONCURRENT, DEFAULT_SETTINGS, MAX_CONCURRENT } from '../domain/defaults.ts';
import { UsageError } from '../domain/errors.ts';
import { FLEET_POLICIES, type RolloutSettings } from '../domain/settings.ts';
import { parseModelSpec } from '../inference/index.ts';

export interface RunOptions extends Omit<RolloutSettings, 'seed'> {
  /** Null: follows from the run's name. */
  readonly seed: number | null;
  readonly samples: number;
  readonly maxConcurrent: number;
  readonly limit: number | null;
  readonly shuffleSeed: number | null;
  /** More failed rollouts than this make `run` end with exit code 3. */
  readonly maxFailed: number;
}

const whole = (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z
    .int(`a whole number${range(min, max)}`)
    .min(min, `a whole number${range(min, max)}`)
    .max(max, `a whole number${range(min, max)}`);
const real = (min: number, max: number, what: string) => z.number(what).min(min, what).max(max, what);
const range = (min: number, max: number) =>
  max === Number.MAX_SAFE_INTEGER ? ` of at least ${min}` : ` from ${min} to ${max}`;
const MODELS =
  'tiny, transformers:<folder or hub id>, sglang:<url>[,<url>…], vllm:<url>[,<url>…] or openai:<url>#<model>';
const model = z.string('a model').superRefine((spec, context) => {
  const error = modelError(spec);
  if (!error) return;
  // The forms do not say what is wrong with a url.
  const message = error.reason === 'unknown-model' ? MODELS : `${MODELS}; ${error.message}`;
  context.addIssue({ code: 'custom', message });
});

export interface Field {
  readonly schema: z.ZodType;
  readonly argument: string | null;
  readonly help: string;
  /** What a text from a shell means, where it is no number, truth value or null. */
  readonly fromText?: (text: string) => unknown;
}

const ENV_NAME = 'the name of an environment variable';
const LIMITS = 'limits by url, as in http://a:30000=64,http://b:30000=32';
const WEIGHTS = 'weights by url, as in http://a:30000=2,http://b:30000=1';

/** Every option of a run, by its name in config files; the flag is its kebab form. */
export const FIELDS: Readonly<Record<keyof RunOptions, Field>> = {
  model: {
    schema: model,
    argument: '<model>',
    help: 'who answers: tiny (ships with Everturn), transformers:<folder or hub id>, sglang:<url>[,<url>…], vllm:<url>[,<url>…], openai:<url>#<model>',
  },
  tokenizer: {
    schema: z.string('a folder or hub id').min(1).nullable(),
    argument: '<folder>',
    help: 'where the model does not bring its own tokenizer',
  },
  numTurns: { schema: whole(1, 1000), argument: '<n>', help: 'turns per rollout, at most' },
  stop: {
    schema: z.enum(['always', 'success'], 'always or success'),
    argument: '<when>',
    help: 'always: play all turns; success: end at the first right answer',
  },
  samples: { schema: whole(1, 10_000), argument: '<n>', help: 'rollouts per query' },
  feedback: {
    schema: z.enum(['seed', 'delta'], 'seed or delta'),
    argument: '<mode>',
    help: 'how the verdict is fed back: seed is the original to the byte; delta is what the chat template adds',
  },
  rewardScaling: { schema: z.number('a number'), argument: '<x>', help: 'r = ((success − 0.5)·2 − bias)·scaling' },
  rewardBias: { schema: z.number('a number'), argument: '<x>', help: 'see --reward-scaling' },
  turnDiscount: {
    schema: real(0, 1, 'a number from 0 to 1'),
    argument: '<x>',
    help: 'discount of later turns in the return of a turn',
  },
  maxNewTokens: {
    schema: whole(1, 1_000_000),
    argument: '<n>',
    help: "tokens per answer, at most; cut to the model's context",
  },
  newTokensPerChunk: {
    schema: whole(1, 1_000_000).nullable(),
    argument: '<n>',
    help: 'generate a turn in chunks, each kept before the next is asked for',
  },
  temperature: {
    schema: real(0, 100, 'a number from 0 (greedy) to 100'),
    argument: '<x>',
    help: 'divides the logits; 0 is greedy',
  },
  topP: {
    schema: z
      .number('a number above 0, up to 1')
      .gt(0, 'a number above 0, up to 1')
      .max(1, 'a number above 0, up to 1'),
    argument: '<x>',
    help: 'nucleus sampling; 1 keeps all',
  },
  topK: { schema: whole(1), argument: '<n>', help: 'the most probable tokens only' },
  seed: {
    schema: whole(0).nullable(),
    argument: '<n>',
    help: "root of all random streams (default: follows from the run's name)",
  },
  deterministic: {
    schema: z.boolean('true or false'),
    argument: null,
    help: 'same seed, same ids, whatever else is in flight',
  },
  logprobs: {
    schema: z.enum(['policy', 'raw'], 'policy or raw'),
    argument: '<kind>',
    help: 'what logprobs are of: policy is what was drawn from; raw is the model at temperature 1',
  },
  apiKeyEnv: {
    schema: z
      .string(ENV_NAME)
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, ENV_NAME)
      .nullable(),
    argument: '<NAME>',
    help: "environment variable that holds the servers' API key",
  },
  fleetPolicy: {
    schema: z.enum(FLEET_POLICIES, FLEET_POLICIES.join(', ')),
    argument: '<policy>',
    help: `which of several servers is asked: ${FLEET_POLICIES.join(', ')}`,
  },
  maxInFlightPerServer: {
    schema: whole(1).nullable(),
    argument: '<n>',
    help: 'requests in flight on one server, over all workers of the run',
  },
  serverLimits: {
    schema: z.record(z.string(), whole(1), LIMITS),
    argument: '<url=n,…>',
    help: 'the same for single servers',
    fromText: numbersByUrl,
  },
  requestTimeoutSeconds: {
    schema: whole(1, 86_400),
    argument: '<n>',
    help: "an inference server's answer that takes longer is given up and asked for again",
  },
  serverWeights: {
    schema: z.record(z.string(), z.number().positive(), WEIGHTS),
    argument: '<url=n,…>',
    help: 'twice the weight takes twice the requests',
    fromText: numbersByUrl,
  },
  maxConcurrent: { schema: whole(1, MAX_CONCURRENT), argument: '<n>', help: 'rollouts in flight at once' },
  limit: { schema: whole(1).nullable(), argument: '<n>', help: 'only so many queries' },
  shuffleSeed: { schema: whole(0).nullable(), argument: '<n>', help: 'play the queries in a seeded random order' },
  maxFailed: { schema: whole(0), argument: '<n>', help: 'exit with 3 when more rollouts than this failed' },
};

const DEFAULTS: RunOptions = {
  ...DEFAULT_SETTINGS,
  seed: null,
  samples: 1,
  maxConcurrent: DEFAULT_MAX_CONCURRENT,
  limit: null,
  shuffleSeed: null,
  maxFailed: 0,
};
export const DEFAULT_OPTIONS: Readonly<RunOptions> = DEFAULTS;

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
