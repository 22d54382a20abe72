// Every option of a run: its name, what it takes, and its help. The flag is the kebab form of the name.

import { z } from 'zod';
import { AGENTS } from '../domain/rollout/agent.ts';
import { DEFAULT_MAX_CONCURRENT, MAX_CONCURRENT } from '../domain/run/defaults.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { parseSuccessRate } from '../domain/samples/group.ts';
import {
  recordedSettings,
  type RolloutSettings,
  type Setting,
  type SettingName,
  SETTINGS,
  type SettingValue,
} from '../domain/rollout/settings.ts';
import { MODEL_FORMS, parseModelSpec } from '../inference/index.ts';
import { type Field, option, type OptionsOf, real, whole } from './field.ts';
import { PROGRAM_FIELDS } from './program-options.ts';
import { TOOL_FIELDS } from './tool-options.ts';

export type { Field };

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
const AGENT = 'the name of an agent, or the command of a program ("python3 my_agent.py")';
const TEXT = 'a text, or the name of a file';
const HELD_OUT = 'a file of problems';
const RATES = 'two numbers from 0 to 1 in order, as in 0.1:0.9';

/** An option that is a setting: of its range and its help there is one statement. */
function ofSetting<T>({ of: [test, wanted], default: value, argument, help }: Setting<T>): Field<T> {
  const schema = z.custom<T>((value) => test(value), wanted.replace(/ or null$/, ''));
  const fromText = argument === '<json>' ? jsonIn : argument === '<url=n,…>' ? numbersByUrl : undefined;
  return { schema, default: value, argument, help, ...(fromText && { fromText }) };
}
const OF_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, setting]) => [name, ofSetting(setting as Setting<unknown>)]),
) as unknown as { readonly [K in SettingName]: Field<SettingValue<K>> };
const { model: _, tokenizer, numTurns, stop, ...settings } = OF_SETTINGS;

/** Every option of a run, by its name in config files; the flag is its kebab form. */
export const FIELDS = {
  model: option({
    schema: model,
    default: SETTINGS.model.default,
    argument: '<model>',
    help: `the model that answers: ${MODELS}; tiny ships with Everturn`,
  }),
  tokenizer,
  agent: option({
    schema: z.string(AGENT).trim().min(1, AGENT).nullable(),
    default: null,
    argument: '<what>',
    help: `your own agent, a command ("python3 my_agent.py") that finds the model in OPENAI_BASE_URL or ANTHROPIC_BASE_URL; a function in TypeScript (./my-agent.ts); session: agents that run elsewhere come for their rollouts; or a preset of the settings below it: ${AGENTS.map(({ name }) => name).join(', ')}, or one that your environment brings`,
  }),
  ...PROGRAM_FIELDS,
  numTurns,
  stop,
  environment: option({
    schema: z.array(z.string(ENVIRONMENTS).trim().min(1, ENVIRONMENTS), ENVIRONMENTS).max(64, 'at most 64 of them'),
    default: [],
    argument: '<what>',
    help: `your own environment, which answers instead of the judge: ${ENVIRONMENTS}; several may be given, and rows name one; examples/environments has commands that play those of OpenEnv, NeMo Gym, verifiers, OpenRLHF and slime`,
    fromText: (text) => [text],
    many: true,
  }),
  ...TOOL_FIELDS,
  samples: option({ schema: whole(1, 10_000), default: 1, argument: '<n>', help: 'number of rollouts of each query' }),
  epochs: option({
    schema: whole(1, 100_000),
    default: 1,
    argument: '<n>',
    help: 'number of times the data set is played, each time with other samples',
  }),
  train: option({
    schema: z.boolean('true or false'),
    default: false,
    argument: null,
    help: 'a trainer lives on the run: `everturn feed` hands out its groups and paces it',
  }),
  batchGroups: option({
    schema: whole(1, 100_000),
    default: 32,
    argument: '<n>',
    help: 'with --train: a training step takes so many groups (the samples of one query)',
  }),
  maxStaleness: option({
    schema: whole(0, 10_000),
    default: 1,
    argument: '<n>',
    help: 'with --train: a sample is at most so many versions of the weights old when it is trained, if servers take each version; 0 is synchronous',
  }),
  minMembers: option({
    schema: whole(1, 10_000).nullable(),
    default: null,
    argument: '<n>',
    help: 'minimum number of members of a group to train on, whose other members failed after all retries; by default whole groups only',
  }),
  successRate: option({
    schema: z
      .tuple([real(0, 1, RATES), real(0, 1, RATES)], RATES)
      .refine(([least, most]) => least <= most, RATES)
      .nullable(),
    default: null,
    argument: '<lb:ub>',
    help: 'groups (the samples of one query) whose success rate is outside these limits (both included) are not trained on: left out of the feed and of exports',
    fromText: (text) => parseSuccessRate(text) ?? text,
  }),
  dropZeroVariance: option({
    schema: z.boolean('true or false'),
    default: false,
    argument: null,
    help: 'groups whose rewards are all equal are not trained on',
  }),
  eval: option({
    schema: z.string(HELD_OUT).min(1, HELD_OUT).nullable(),
    default: null,
    argument: '<dataset>',
    help: 'with --train: held-out problems, each played once by version 0 of the weights and by every fifth one (--eval-every), with the settings of the run; none is trained on',
  }),
  evalEvery: option({
    schema: whole(1, 1_000_000),
    default: 5,
    argument: '<n>',
    help: 'with --eval: versions of the weights from one evaluation to the next',
  }),
  evalSamples: option({
    schema: whole(1, 10_000),
    default: 1,
    argument: '<n>',
    help: 'with --eval: number of rollouts of each problem',
  }),
  ...settings,
  seed: option({
    schema: whole(0).nullable(),
    default: null,
    argument: '<n>',
    help: "root of all random streams of the run; derived from the run's name if not given",
  }),
  maxConcurrent: option({
    schema: whole(1, MAX_CONCURRENT),
    default: DEFAULT_MAX_CONCURRENT,
    argument: '<n>',
    help: 'maximum number of rollouts in flight at once',
  }),
  limit: option({
    schema: whole(1).nullable(),
    default: null,
    argument: '<n>',
    help: 'play only the first n queries',
  }),
  system: option({
    schema: z.string(TEXT).min(1, TEXT).nullable(),
    default: null,
    argument: '<text|file>',
    help: 'the system message of every query, in place of its own',
  }),
  prompt: option({
    schema: z.string(TEXT).min(1, TEXT).nullable(),
    default: null,
    argument: '<template|file>',
    help: 'the question of every query, as a Jinja template over the fields of its row: {{ question }}',
  }),
  shuffleSeed: option({
    schema: whole(0).nullable(),
    default: null,
    argument: '<n>',
    help: 'play the queries in a random order that is derived from this seed',
  }),
  maxFailed: option({
    schema: whole(0),
    default: 0,
    argument: '<n>',
    help: 'exit with code 3 if more rollouts than this fail',
  }),
};

export type RunOptions = OptionsOf<typeof FIELDS>;

export const DEFAULT_OPTIONS = Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, field.default]),
) as unknown as RunOptions;

/** The options that run.json stores under `settings`. The others decide how many rollouts are played, and how fast. */
export function isSetting(key: string): boolean {
  return key in SETTINGS || key === 'seed';
}

/** The settings as given: without a seed if it is derived from the run's name. */
export function givenSettings(options: RunOptions): Omit<RolloutSettings, 'seed'> & { readonly seed?: number } {
  const recorded = recordedSettings({ ...options });
  return options.seed === null ? recorded : { ...recorded, seed: options.seed };
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

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function numbersByUrl(text: string): unknown {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    return [pair.slice(0, at).trim(), Number(pair.slice(at + 1))] as const;
  });
  return Object.fromEntries(pairs);
}
