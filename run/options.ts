// Every option of a run: its name, what it takes, and its help. The flag is the kebab form of the name.

import {
  CONTAINERS,
  DEFAULT_AGENT_SECONDS,
  DEFAULT_MAX_CALLS,
  MAX_AGENT_SECONDS,
  MAX_CALLS,
  parseTrainCalls,
  TRAIN_CALLS_FORM,
} from '../domain/agent/index.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { AGENTS } from '../domain/rollout/agent.ts';
import { recordedSettings, type RolloutSettings, SETTINGS } from '../domain/rollout/settings.ts';
import { DEFAULT_MAX_CONCURRENT, MAX_CONCURRENT } from '../domain/run/defaults.ts';
import { parseSuccessRate } from '../domain/samples/group.ts';
import { BOOLEAN, listOf, oneOf, orNull, type Test, wholeNumber } from '../domain/schema/fields.ts';
import {
  DEFAULT_MAX_TOOL_CALLS,
  DEFAULT_TOOL_OUTPUT_BYTES,
  MAX_RECORDED_BYTES,
  MAX_TOOL_TIMEOUT_SECONDS,
} from '../domain/tools/tool.ts';
import { MODEL_FORMS, parseModelSpec } from '../inference/index.ts';

export interface Field<T> {
  readonly of: Test<T>;
  /** Its value unless one is given. */
  readonly default: NoInfer<T>;
  /** The argument of its flag; null: it takes none. */
  readonly argument: string | null;
  readonly help: string;
  /** Parses a text from a shell that is not a number, a truth value or null. */
  readonly fromText?: (text: string) => unknown;
  /** What is wrong with a value, where that is more than what the option takes. */
  readonly explain?: (value: unknown) => string | undefined;
  /** The flag may be repeated: all of its values are one list. */
  readonly many?: true;
}

const option = <T>(of: Test<T>, standard: NoInfer<T>, more: Omit<Field<T>, 'of' | 'default'>): Field<T> => ({
  ...{ of, default: standard },
  ...more,
});
type OptionsOf<F> = { readonly [K in keyof F]: F[K] extends { readonly of: Test<infer T> } ? T : never };

const MODELS = MODEL_FORMS.join(', ').replace(/, (?!.*, )/, ' or ');
const ENVIRONMENTS =
  'a module (./my-env.ts), a command ("python3 my_env.py"), an address (https://…), a rubric (rubric:./rubric.json) or a queue (queue:my-queue)';
const AGENT = 'the name of an agent, or the command of a program ("python3 my_agent.py")';
const TEXT = 'a text, or the name of a file';
const HELD_OUT = 'a file of problems, hf:<org>/<name>, or a benchmark';
const RATES: Test<readonly [number, number]> = [
  (value) => Array.isArray(value) && value.length === 2 && isInOrder([0, ...(value as number[]), 1]),
  'two numbers from 0 to 1 in order, as in 0.1:0.9',
];
const isInOrder = (values: readonly number[]): boolean =>
  values.every((value, i) => Number.isFinite(value) && (i === 0 || values[i - 1]! <= value));

const TOOL_MODULES = 'python, or a module of tools (./my-tools.ts, ./my_tools.py)';
const TOOL_SERVERS = 'the command of an MCP server ("npx some-server")';
const SIDE_MODELS = 'name=openai:http://host:port/v1';
const TOOL_FORMAT = 'the name of a tool format, such as hermes';

const TRAIN_CALLS: Test<string> = [
  (value) => typeof value === 'string' && value === value.trim() && parseTrainCalls(value) !== undefined,
  TRAIN_CALLS_FORM,
];

const text = (wanted: string): Test<string> => [(value) => typeof value === 'string' && value !== '', wanted];
const trimmed = (wanted: string): Test<string> => [
  (value) => typeof value === 'string' && value !== '' && value === value.trim(),
  wanted,
];
const MOST_OF_MANY = 64;
const many = (wanted: string, argument: string, help: string) =>
  option<readonly string[]>(
    [(value) => listOf(trimmed(wanted))[0](value) && (value as unknown[]).length <= MOST_OF_MANY, wanted],
    [],
    {
      ...{ argument, help, many: true },
      fromText: (given) => [given.trim()],
      explain: (value) =>
        Array.isArray(value) && value.length > MOST_OF_MANY ? `at most ${MOST_OF_MANY} of them` : undefined,
    },
  );

const { model: _, tokenizer, numTurns, stop, ...settings } = SETTINGS;

/** The options of a run whose agent is a program. */
export const PROGRAM_FIELDS = {
  agentTimeout: option(wholeNumber(1, MAX_AGENT_SECONDS), DEFAULT_AGENT_SECONDS, {
    argument: '<n>',
    help: 'with a program: seconds for one rollout',
  }),
  maxCalls: option(wholeNumber(1, MAX_CALLS), DEFAULT_MAX_CALLS, {
    argument: '<n>',
    help: 'with a program: calls of the model in one rollout, at most',
  }),
  onDivergence: option(oneOf('branch', 'fail'), 'branch', {
    argument: '<branch|fail>',
    help: 'with a program that makes other calls after a crash: goes on from there, or fails',
  }),
  sideModel: many(SIDE_MODELS, '<name=model>', `with a program: another model that requests may name: ${SIDE_MODELS}`),
  sideApiKeyEnv: option(SETTINGS.apiKeyEnv.of, null, {
    argument: '<NAME>',
    help: "name of the environment variable that holds the side models' API key",
  }),
  structured: option(orNull(oneOf('prompt', 'constrain', 'refuse')), null, {
    argument: '<prompt|constrain|refuse>',
    help: 'with a program: a JSON schema or forced tool that it asks for: prompt = said in the system text; constrain = held to by the server; refuse = a schema is refused; default: prompt, with openai: constrain',
  }),
  trainCalls: option(orNull(TRAIN_CALLS), null, {
    fromText: (given) => given.trim(),
    argument: '<which>',
    help: 'with a program: the calls that are trained, by their tag or the model that they ask for (tag=main, model!=small)',
  }),
  container: option(oneOf('none', ...CONTAINERS), 'none', {
    argument: '<bwrap|docker|podman>',
    help: 'with a program and harbor: tasks: what makes the container of each rollout',
  }),
  containerRoot: option(orNull(text('a folder')), null, {
    argument: '<folder>',
    help: 'with bwrap: the files of a container, or a folder of them for each task',
  }),
};

/** Every option of a run, by its name in config files; the flag is its kebab form. */
export const FIELDS = {
  model: option(
    [(value) => typeof value === 'string' && modelError(value) === undefined, MODELS] as Test<string>,
    SETTINGS.model.default,
    {
      // The list of forms does not explain what is wrong with a url.
      explain(value) {
        const error = typeof value === 'string' ? modelError(value) : undefined;
        return error && error.reason !== 'unknown-model' ? `${MODELS}; ${error.message}` : undefined;
      },
      argument: '<model>',
      help: `the model that answers: ${MODELS}; tiny ships with Everturn`,
    },
  ),
  tokenizer,
  agent: option(orNull(trimmed(AGENT)), null, {
    fromText: (given) => given.trim(),
    argument: '<what>',
    help: `your own agent, a command ("python3 my_agent.py"); a function in TypeScript (./my-agent.ts); session: agents that run elsewhere come for their rollouts; or a preset of the settings below it: ${AGENTS.map(({ name }) => name).join(', ')}, or one that your environment brings`,
  }),
  ...PROGRAM_FIELDS,
  numTurns,
  stop,
  environment: many(
    ENVIRONMENTS,
    '<what>',
    `your own environment, which answers instead of the judge: ${ENVIRONMENTS}; several may be given, and rows name one`,
  ),
  tool: many(TOOL_MODULES, '<what>', `a tool that the model may call: ${TOOL_MODULES}; several may be given`),
  mcp: many(
    TOOL_SERVERS,
    '<command>',
    `a server of tools that the model may call: ${TOOL_SERVERS}; several may be given`,
  ),
  toolFormat: option(orNull(text(TOOL_FORMAT)), null, {
    argument: '<name>',
    help: 'how the model writes its calls; by default as its chat template has it',
  }),
  maxToolCalls: option(wholeNumber(1, 1000), DEFAULT_MAX_TOOL_CALLS, {
    argument: '<n>',
    help: 'with tools: calls before an answer, at most; the last result says that they are used up',
  }),
  toolOutputBytes: option(wholeNumber(100, MAX_RECORDED_BYTES), DEFAULT_TOOL_OUTPUT_BYTES, {
    argument: '<n>',
    help: "with tools: bytes of a call's output that the model is shown; its middle is left out",
  }),
  toolTimeoutSeconds: option(orNull(wholeNumber(1, MAX_TOOL_TIMEOUT_SECONDS)), null, {
    argument: '<n>',
    help: 'with tools: time limit of a call, for tools that have none of their own',
  }),
  samples: option(wholeNumber(1, 10_000), 1, { argument: '<n>', help: 'number of rollouts of each query' }),
  epochs: option(wholeNumber(1, 100_000), 1, {
    argument: '<n>',
    help: 'number of times the data set is played, each time with other samples',
  }),
  train: option(BOOLEAN, false, {
    argument: null,
    help: 'a trainer lives on the run: `everturn feed` hands out its groups and paces it',
  }),
  batchGroups: option(wholeNumber(1, 100_000), 32, {
    argument: '<n>',
    help: 'with --train: a training step takes so many groups (the samples of one query)',
  }),
  maxStaleness: option(wholeNumber(0, 10_000), 1, {
    argument: '<n>',
    help: 'with --train: a sample is at most so many versions of the weights old when it is trained, if servers take each version; 0 is synchronous',
  }),
  minMembers: option(orNull(wholeNumber(1, 10_000)), null, {
    argument: '<n>',
    help: 'least members of a group to train on, whose others failed after all retries; by default whole groups only',
  }),
  successRate: option(orNull(RATES), null, {
    argument: '<lb:ub>',
    help: 'groups whose success rate is outside these limits (both included) are left out of the feed and of exports',
    fromText: (text) => parseSuccessRate(text) ?? text,
  }),
  dropZeroVariance: option(BOOLEAN, false, {
    argument: null,
    help: 'groups whose rewards are all equal are not trained on',
  }),
  eval: option(orNull(text(HELD_OUT)), null, {
    argument: '<dataset>',
    help: 'with --train: held-out problems, each played once by version 0 of the weights and by every fifth one (--eval-every)',
  }),
  evalEvery: option(wholeNumber(1, 1_000_000), 5, {
    argument: '<n>',
    help: 'with --eval: versions of the weights from one evaluation to the next',
  }),
  evalSamples: option(wholeNumber(1, 10_000), 1, {
    argument: '<n>',
    help: 'with --eval: number of rollouts of each problem',
  }),
  ...settings,
  seed: option(orNull(wholeNumber(0)), null, {
    argument: '<n>',
    help: "root of all random streams of the run; derived from the run's name if not given",
  }),
  maxConcurrent: option(wholeNumber(1, MAX_CONCURRENT), DEFAULT_MAX_CONCURRENT, {
    argument: '<n>',
    help: 'maximum number of rollouts in flight at once',
  }),
  limit: option(orNull(wholeNumber(1)), null, { argument: '<n>', help: 'play only the first n queries' }),
  system: option(orNull(text(TEXT)), null, {
    argument: '<text|file>',
    help: 'the system message of every query, in place of its own',
  }),
  prompt: option(orNull(text(TEXT)), null, {
    argument: '<template|file>',
    help: 'the question of every query, as a Jinja template over the fields of its row: {{ question }}',
  }),
  shuffleSeed: option(orNull(wholeNumber(0)), null, {
    argument: '<n>',
    help: 'play the queries in a random order that is derived from this seed',
  }),
  maxFailed: option(wholeNumber(0), 0, { argument: '<n>', help: 'exit with code 3 if more rollouts than this fail' }),
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
