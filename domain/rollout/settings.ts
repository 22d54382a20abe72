// All settings that decide what a rollout plays: one table, from which follow their type, their defaults, the options of a
// run (flag, range, help), the settings of agents, and the form that run.json and every rollout's record must have, in the
// order of their text.

import { PROGRAM } from '../agent/index.ts';
import { ENVIRONMENT } from './environment.ts';
import * as f from '../schema/fields.ts';
import type { JsonObject } from '../text/json.ts';
import { TOOLS } from '../tools/tool.ts';

export interface Setting<T> {
  readonly of: f.Test<T>;
  readonly default: T;
  /** The flag's argument; null: it takes none. */
  readonly argument: string | null;
  readonly help: string;
  /** It belongs to the algorithm, and not to a machine, a model or a user's purse: an agent may set it. */
  readonly ofAgent?: true;
  /** Records have it only where it is not the default. */
  readonly sparse?: true;
}

const setting = <T, const M extends Omit<Setting<T>, 'of' | 'default'>>(
  of: f.Test<T>,
  standard: NoInfer<T>,
  more: M,
) => ({
  of,
  default: standard,
  ...more,
});

const FLEET_POLICIES = ['sticky', 'round_robin', 'least_requests', 'least_token_usage'] as const;
export type FleetPolicy = (typeof FLEET_POLICIES)[number];

/** Fields of a request's body that a run decides, or that would change the form of the reply: a user may not give them. */
const OWN_FIELDS = ['model', 'messages', 'temperature', 'top_p', 'seed', 'max_tokens', 'max_completion_tokens'].concat([
  'logprobs',
  'n',
  'stream',
  'tools',
  'tool_choice',
  'chat_template_kwargs',
]);
const EXTRA_BODY: f.Test<JsonObject> = [
  (value) => f.isObject(value) && !Object.keys(value).some((key) => OWN_FIELDS.includes(key)),
  `an object of JSON without ${OWN_FIELDS.join(', ')}`,
];

/** Variables that a conversation itself gives a chat template. */
const OWN_VARIABLES = ['messages', 'tools', 'add_generation_prompt', 'continue_final_message'];
/** Variables of a chat template by name, as `apply_chat_template` of Python takes them. */
export const TEMPLATE_KWARGS: f.Test<JsonObject> = [
  (value) => f.isObject(value) && !Object.keys(value).some((key) => OWN_VARIABLES.includes(key)),
  `an object of JSON without ${OWN_VARIABLES.join(', ')}`,
];

export const SETTINGS = {
  /** A name in the form of the registry of backends (inference/index.ts): `tiny`, or a scheme and its argument. */
  model: setting(f.NAME, 'tiny', { argument: '<model>', help: 'the model that answers' }),
  /** Folder or hub id, for models that do not name their tokenizer. */
  tokenizer: setting(f.orNull([f.NAME[0], 'a folder or hub id'] as f.Test<string>), null, {
    argument: '<folder>',
    help: 'folder or hub id of the tokenizer, for a model that comes without one',
  }),
  /** T: at most this many turns. */
  numTurns: setting(f.wholeNumber(1, 1000), 5, {
    ofAgent: true,
    argument: '<n>',
    help: 'maximum number of turns of a rollout',
  }),
  /** `always` plays all turns also after a right answer, as the original does. */
  stop: setting(f.oneOf('always', 'success'), 'always', {
    ofAgent: true,
    argument: '<when>',
    help: 'when a rollout ends: always = after all its turns; success = at the first right answer',
  }),
  /** The way feedback is appended to the conversation. */
  feedback: setting(f.oneOf('seed', 'delta'), 'seed', {
    ofAgent: true,
    argument: '<mode>',
    help: "how the verdict is appended: seed = the original algorithm's text, to the byte; delta = exactly what the chat template adds",
  }),
  rewardScaling: setting(f.NUMBER, 1, {
    ofAgent: true,
    argument: '<x>',
    help: 'the reward of a turn is ((success − 0.5)·2 − bias)·scaling, with success 1 or 0',
  }),
  rewardBias: setting(f.NUMBER, 0, {
    ofAgent: true,
    argument: '<x>',
    help: 'the bias in the reward of a turn, before the scaling',
  }),
  turnDiscount: setting(f.realNumber(0, 1), 1, {
    ofAgent: true,
    argument: '<x>',
    help: 'the return of a turn is its reward plus this factor times the return of the turn after it',
  }),
  /** New tokens per turn, at most; cut to what the model's context leaves. */
  maxNewTokens: setting(f.wholeNumber(1, 1_000_000), 16_384, {
    ofAgent: true,
    argument: '<n>',
    help: "maximum number of tokens of an answer, cut to what the model's context leaves",
  }),
  /** A turn is generated in chunks of this many tokens, each stored before the next is requested; null: in one. */
  newTokensPerChunk: setting(f.orNull(f.wholeNumber(1, 1_000_000)), null, {
    ofAgent: true,
    argument: '<n>',
    help: 'generate an answer in chunks of this many tokens, each stored before the next is requested',
  }),
  /** Divides the logits. 0 means greedy. */
  temperature: setting(f.realNumber(0, 100, 'a number from 0 (greedy) to 100'), 1, {
    ofAgent: true,
    argument: '<x>',
    help: 'divides the logits; 0 takes the most probable token (greedy)',
  }),
  /** Nucleus: keep the most probable tokens until their sum reaches top_p. 1 keeps all. */
  topP: setting(f.realNumber(Number.MIN_VALUE, 1, 'a number above 0, up to 1'), 1, {
    ofAgent: true,
    argument: '<x>',
    help: 'nucleus sampling: the most probable tokens with this total probability; 1 keeps all',
  }),
  /** Keep the top_k most probable tokens. Anything at or above the vocabulary's size keeps all. */
  topK: setting(f.wholeNumber(1), 100_000_000, {
    ofAgent: true,
    argument: '<n>',
    help: 'sample from this many of the most probable tokens only',
  }),
  /** Keep the tokens that are at least this share as probable as the most probable one. 0 keeps all. */
  minP: setting(f.realNumber(0, 1), 0, {
    ofAgent: true,
    sparse: true,
    argument: '<x>',
    help: 'sample from the tokens only that are at least this share as probable as the most probable one; 0 keeps all',
  }),
  /** The same seed gives the same ids, whatever else is in flight. */
  deterministic: setting(f.BOOLEAN, false, {
    argument: null,
    help: 'the same seed gives the same token ids, whatever else is in flight (embedded models)',
  }),
  /** The required kind of logprobs: of the distribution sampled from, or the model's own at temperature 1. */
  logprobs: setting(f.oneOf('policy', 'raw'), 'policy', {
    argument: '<kind>',
    help: 'the distribution of the logprobs: policy = the one sampled from; raw = the model at temperature 1',
  }),
  /** A trainer may live on a run whose servers do not say what tokens were drawn from. */
  allowBiasedLogprobs: setting(f.BOOLEAN, false, {
    sparse: true,
    argument: null,
    help: 'with --train: truncated sampling also where servers give no kept sets',
  }),
  /** Environment variable that holds the servers' API key; never its value. */
  apiKeyEnv: setting(
    f.orNull<string>([
      (value) => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
      'the name of an environment variable',
    ]),
    null,
    { argument: '<NAME>', help: "name of the environment variable that holds the servers' API key" },
  ),
  /** Further fields of each request to an endpoint of text. */
  extraBody: setting(f.orNull(EXTRA_BODY), null, {
    sparse: true,
    argument: '<json>',
    help: 'further fields of each request to an openai: endpoint, such as {"reasoning_effort": "low"}',
  }),
  /** Variables of the chat template; a row's own ones come before them. */
  chatTemplateKwargs: setting(f.orNull(TEMPLATE_KWARGS), null, {
    ofAgent: true,
    sparse: true,
    argument: '<json>',
    help: 'variables of the chat template, such as {"enable_thinking": false}',
  }),
  /** The distribution of requests over several servers. */
  fleetPolicy: setting(f.oneOf(...FLEET_POLICIES), 'sticky', {
    argument: '<policy>',
    help: `distribution of requests over several servers: ${FLEET_POLICIES.join(', ')}`,
  }),
  /** Requests in flight on one server at most, over all workers of the run; null: no limit. */
  maxInFlightPerServer: setting(f.orNull(f.wholeNumber(1)), null, {
    argument: '<n>',
    help: 'maximum number of requests in flight on each server, over all workers of the run (with runs in a bucket: of each worker)',
  }),
  /** Time limit of one server's answer, in seconds; after it, the answer is requested again. */
  requestTimeoutSeconds: setting(f.wholeNumber(1, 86_400), 3600, {
    argument: '<n>',
    help: 'time limit of a request to a server, after which it is sent again',
  }),
  /** One answer of a server in so many is asked again as a given context, and its logprobs compared; 0: none. */
  recheckEvery: setting(f.wholeNumber(0), 200, {
    argument: '<n>',
    help: 'one answer of a server in n is given back to it as a context, and the logprobs of both must agree; 0: none',
  }),
  /** maxInFlightPerServer for single servers, by url; has precedence. */
  serverLimits: setting(
    [f.mapOf(f.wholeNumber(1))[0], 'limits by url, as in http://a:30000=64,http://b:30000=32'] as f.Test<
      Readonly<Record<string, number>>
    >,
    {},
    {
      argument: '<url=n,…>',
      help: 'maximum number of requests in flight on single servers, in place of the limit for all of them',
    },
  ),
  /** Each server's share, by url; default 1. */
  serverWeights: setting(
    [f.mapOf(f.POSITIVE)[0], 'weights by url, as in http://a:30000=2,http://b:30000=1'] as f.Test<
      Readonly<Record<string, number>>
    >,
    {},
    {
      argument: '<url=n,…>',
      help: 'share of each server in the requests: weight 2 gets twice as many as weight 1, the default',
    },
  ),
  /** The two log files that the original algorithm writes for each rollout and weight version. */
  logs: setting(f.oneOf('files', 'none'), 'files', {
    sparse: true,
    argument: '<where>',
    help: 'the logs of the original algorithm (.txt, .jsonl): files beside the records; none = `everturn export --format logs` makes them',
  }),
} as const;

const BESIDE = {
  /** Root of all random streams of the run: an integer in [0, 2^53). */
  seed: f.COUNT,
  /** The user's own environments; absent: the judge of each query's task. */
  environments: f.maybe(f.listOf(ENVIRONMENT)),
  /** The tools that the model may call; absent: none. */
  tools: f.maybe(TOOLS),
  /** The agent's program, which asks the model itself; absent: Everturn's own loop. */
  program: f.maybe(PROGRAM),
};

type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;
export type SettingValue<K extends SettingName> = Settings[K] extends { readonly of: f.Test<infer T> } ? T : never;
type Named<F extends string> = { [K in SettingName]: F extends keyof Settings[K] ? K : never }[SettingName];
export type AgentSetting = Named<'ofAgent'>;
type Sparse = Named<'sparse'>;

/** The model is a function of the program that made the run. */
export const isFunctionModel = (model: string): boolean => model.startsWith('function:');

/** It needs the program that made the run: its model, an environment or a tool is a function of it. */
export const needsProgram = ({ model, environments = [], tools }: Omit<RolloutSettings, 'seed'>): boolean =>
  isFunctionModel(model) || [...environments, ...(tools?.list ?? [])].some(({ door }) => door === 'function');

export type RolloutSettings = {
  readonly [K in Exclude<SettingName, Sparse>]: SettingValue<K>;
} & { readonly [K in Sparse]?: SettingValue<K> } & f.ObjectOf<typeof BESIDE>;

const entries = Object.entries(SETTINGS) as unknown as readonly (readonly [SettingName, Setting<unknown>])[];
const fields: f.FieldTable = Object.fromEntries(
  entries.map(([name, { of, sparse }]) => [name, sparse ? f.maybe(of) : of]),
);
/** The settings' form in run.json and in every rollout's record. */
export const SETTINGS_OF_RECORDS = f.objectOf({ ...fields, ...BESIDE }) as f.Test<RolloutSettings>;

export const AGENT_SETTINGS = entries.flatMap(([name, { ofAgent }]) => (ofAgent ? [name as AgentSetting] : []));

export const ALL_DEFAULTS = Object.fromEntries(
  entries.map(([name, { default: value }]) => [name, value]),
) as unknown as { readonly [K in SettingName]: SettingValue<K> };

/** The settings of a record that was given none: those of the original algorithm, with the shipped model. */
export const DEFAULT_SETTINGS = Object.fromEntries(
  entries.flatMap(([name, { default: value, sparse }]) => (sparse ? [] : [[name, value]])),
) as Omit<RolloutSettings, 'seed' | 'environments' | 'tools' | 'program' | Sparse>;

/** The settings among these values, without those that a record leaves out. */
export function recordedSettings(values: Readonly<Record<string, unknown>>): Omit<RolloutSettings, 'seed'> {
  const recorded = entries.filter(([name, { default: value, sparse }]) => !sparse || values[name] !== value);
  return Object.fromEntries(recorded.map(([name]) => [name, values[name]])) as unknown as Omit<RolloutSettings, 'seed'>;
}
