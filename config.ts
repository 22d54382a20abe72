// What a run plays and how, from four places. Later ones win: defaults, config file (YAML or JSON),
// environment (EVERTURN_NUM_TURNS), `--set numTurns=4`, flags (--num-turns 4). Every value is checked
// once, here, and keeps its origin; an error names the place, the value and what would be right.

import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { DEFAULT_MAX_CONCURRENT, DEFAULT_SETTINGS, MAX_CONCURRENT, seedOfRun } from './domain/defaults.ts';
import { UsageError } from './domain/errors.ts';
import type { RolloutSettings } from './domain/settings.ts';
import { parseModelSpec } from './inference/index.ts';
import type { Origin } from './storage/run-record.ts';

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
const model = z.string('a model').refine(isModel, 'tiny, or transformers:<folder or hub id>');

interface Field {
  readonly schema: z.ZodType;
  readonly argument: string | null;
  readonly help: string;
}

/** Every option of a run, by its name in config files; the flag is its kebab form. */
export const FIELDS: Readonly<Record<keyof RunOptions, Field>> = {
  model: {
    schema: model,
    argument: '<model>',
    help: 'who answers: tiny (ships with Everturn), transformers:<folder or hub id>',
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

export interface Sources {
  /** Path of a YAML or JSON file. */
  readonly configFile?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** `name=value` texts, in order. */
  readonly set?: readonly string[];
  /** By option name; undefined where the flag was not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
}

export interface ResolvedOptions {
  readonly options: RunOptions;
  readonly origins: Readonly<Record<keyof RunOptions, Origin>>;
}

export function resolveOptions(sources: Sources): ResolvedOptions {
  const options: Record<string, unknown> = { ...DEFAULTS };
  const origins = Object.fromEntries(Object.keys(FIELDS).map((k) => [k, 'default'])) as Record<
    keyof RunOptions,
    Origin
  >;
  const put = (key: keyof RunOptions, raw: unknown, origin: Origin, place: string) => {
    options[key] = parseValue(key, raw, place);
    origins[key] = origin;
  };
  if (sources.configFile !== undefined) {
    const file = sources.configFile;
    for (const [name, value] of Object.entries(readConfig(file)))
      put(keyOf(name, file), value, 'config', `${file}, ${name}`);
  }
  for (const key of keys()) {
    const name = `EVERTURN_${words(key).join('_').toUpperCase()}`;
    const value = sources.environment?.[name];
    if (value !== undefined && value !== '') put(key, value, 'environment', name);
  }
  for (const text of sources.set ?? []) {
    const at = text.indexOf('=');
    if (at < 1)
      throw new UsageError(`--set ${text}: no "=".`, {
        reason: 'bad-set',
        fix: 'Write --set name=value, as in --set numTurns=4.',
      });
    put(keyOf(text.slice(0, at), '--set'), text.slice(at + 1), 'flag', `--set ${text.slice(0, at)}`);
  }
  for (const key of keys()) {
    const value = sources.flags?.[key];
    if (value !== undefined) put(key, value, 'flag', flagOf(key));
  }
  return { options: options as unknown as RunOptions, origins };
}

/** The settings of one rollout out of a run's options. */
export function settingsOf(run: string, options: RunOptions): RolloutSettings {
  const { samples: _, maxConcurrent: _c, limit: _l, shuffleSeed: _s, maxFailed: _f, seed, ...settings } = options;
  return { ...settings, seed: seed ?? seedOfRun(run) };
}

/** Settings that came as JSON through Temporal, completed by the defaults. */
export function parseSettings(run: string, given: Readonly<Record<string, unknown>>): RolloutSettings {
  const { options } = resolveOptions({ flags: {} });
  const parsed: Record<string, unknown> = { ...options };
  for (const [name, value] of Object.entries(given)) {
    const key = keyOf(name, 'settings');
    if (!(key in DEFAULT_SETTINGS) && key !== 'seed') {
      throw new UsageError(`settings.${name} is not a setting of a rollout.`, {
        reason: 'bad-settings',
        fix: 'It belongs beside `settings`.',
      });
    }
    parsed[key] = parseValue(key, value, `settings.${name}`);
  }
  return settingsOf(run, parsed as unknown as RunOptions);
}

export function flagOf(key: string): string {
  return `--${words(key).join('-')}`;
}

function keys(): (keyof RunOptions)[] {
  return Object.keys(FIELDS) as (keyof RunOptions)[];
}

function words(key: string): string[] {
  return key
    .replace(/([A-Z])/g, ' $1')
    .toLowerCase()
    .split(' ');
}

function keyOf(name: string, place: string): keyof RunOptions {
  const plain = name.replace(/[-_]/g, '').toLowerCase();
  const key = keys().find((k) => k.toLowerCase() === plain);
  if (key) return key;
  throw new UsageError(`${place}: "${name}" is not an option.`, {
    reason: 'unknown-option',
    fix: `Options are ${keys().join(', ')}.`,
  });
}

function parseValue(key: keyof RunOptions, raw: unknown, place: string): unknown {
  const { schema } = FIELDS[key];
  const candidates = typeof raw === 'string' ? [raw, ...fromText(raw)] : [raw];
  for (const candidate of candidates) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
  }
  const wanted = schema.safeParse(candidates.at(-1)).error?.issues[0]?.message ?? 'another value';
  throw new UsageError(`${place}: ${JSON.stringify(raw)} does not fit.`, {
    reason: 'bad-value',
    fix: `It takes ${wanted}.`,
  });
}

/** What a text from a shell may mean. */
function fromText(text: string): unknown[] {
  const t = text.trim();
  if (t === 'true' || t === 'false') return [t === 'true'];
  if (t === 'null' || t === 'none') return [null];
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(t) ? [Number(t)] : [];
}

function isModel(spec: string): boolean {
  try {
    parseModelSpec(spec);
    return true;
  } catch {
    return false;
  }
}

function readConfig(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`The config file ${file} cannot be read.`, {
      reason: 'no-config',
      fix: 'Give a YAML or JSON file.',
      cause,
    });
  }
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (cause) {
    throw new UsageError(`The config file ${file} is neither YAML nor JSON.`, {
      reason: 'bad-config',
      fix: 'It holds `name: value` lines, as in `numTurns: 4`.',
      cause,
    });
  }
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new UsageError(`The config file ${file} holds no options.`, {
      reason: 'bad-config',
      fix: 'It holds `name: value` lines, as in `numTurns: 4`.',
    });
  }
  return value as Record<string, unknown>;
}
