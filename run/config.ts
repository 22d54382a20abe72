// The options of a run, from six sources. Precedence, lowest first: defaults, a benchmark's page, config file (YAML or JSON),
// environment (EVERTURN_NUM_TURNS), `--set numTurns=4`, flags (--num-turns 4). Each value is parsed
// once, here, and its source is recorded; an error names the source, the value and the accepted form.

import { parse as parseYaml } from 'yaml';
import { seedOfRun } from '../domain/run/defaults.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { flagOf, unusable } from '../domain/errors/unusable.ts';
import { isObject, shownValue } from '../domain/schema/fields.ts';
import { unfitRewards } from '../domain/rollout/reward.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { FLEET_SCHEMES } from '../inference/index.ts';
import { readRegular } from '../local/machine/regular-file.ts';
import { DEFAULT_OPTIONS, FIELDS, givenSettings, isSetting, type Field, type RunOptions } from './options.ts';
import type { Origin } from '../records/format/run-record.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Sources {
  /** Other defaults than those of a run, by option name. */
  readonly defaults?: Partial<RunOptions> | undefined;
  /** What the page of a benchmark says to play it with. */
  readonly benchmark?: Partial<RunOptions> | undefined;
  /** Path of a YAML or JSON file. */
  readonly configFile?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** `name=value` texts, in order. */
  readonly set?: readonly string[];
  /** By option name; undefined where the flag was not given. */
  readonly flags?: Values;
  /** Values that a program gives, by option name. */
  readonly input?: Values;
  /** What a Temporal client gives with a collection or a rollout. */
  readonly request?: RunRequest;
}

/** Unread. `train`: an object with any of TRAIN_KEYS. */
export type RunRequest = { readonly [K in 'samples' | 'epochs' | 'limit' | 'shuffleSeed' | 'train']?: unknown } & {
  readonly settings?: object | undefined;
};

export interface ResolvedOptions {
  readonly options: RunOptions;
  readonly origins: Readonly<Record<keyof RunOptions, Origin>>;
}

/** A value with its source, and its place for messages; undefined: it was not given. */
type Given = readonly [key: keyof RunOptions, raw: unknown, origin: Origin, place: string];

export function resolveOptions(sources: Sources): ResolvedOptions {
  const { defaults, benchmark, configFile, environment, set = [], flags, input, request } = sources;
  const options: { -readonly [K in keyof RunOptions]: RunOptions[K] } = { ...DEFAULT_OPTIONS, ...defaults };
  const origins = Object.fromEntries(KEYS.map((key) => [key, 'default'])) as Record<keyof RunOptions, Origin>;
  const put = <K extends keyof RunOptions>(key: K, raw: unknown, origin: Origin, place: string) => {
    options[key] = parseValue(key, raw, place);
    origins[key] = origin;
  };
  const given: Given[] = [
    ...there(benchmark).map(([key, value]): Given => [key as keyof RunOptions, value, 'benchmark', `its page, ${key}`]),
    ...(configFile === undefined ? [] : valuesOfFile(configFile)),
    ...KEYS.map((key): Given => [key, environment?.[variableOf(key)] || undefined, 'environment', variableOf(key)]),
    ...set.map(valueSet),
    ...KEYS.map((key): Given => [key, flags?.[key], 'flag', flagOf(key)]),
    ...there(input).map(([name, value]): Given => [optionNamed(name, 'The options'), value, 'input', name]),
    ...(request ? valuesOfRequest(request) : []),
  ];
  for (const [key, raw, origin, place] of given) if (raw !== undefined) put(key, raw, origin, place);
  return { options, origins };
}

const there = (values: object = {}) => Object.entries(values).filter(([, value]) => value !== undefined);

/** The caller gave it for this run alone: a file, a variable or an agent serves others too. */
export const isAsked = (origin: Origin): boolean => origin === 'flag' || origin === 'input';

function valuesOfFile(file: string): Given[] {
  const spelt = new Map<string, string>();
  return Object.entries(withFleet(readConfig(file), file)).map(([name, value]): Given => {
    const key = optionNamed(name, file);
    const earlier = spelt.get(key);
    spelt.set(key, name);
    if (earlier === undefined) return [key, value, 'config', `${file}, ${name}`];
    const message = `${file} gives one option twice, as \`${earlier}\` and as \`${name}\`.`;
    throw unusable(message, 'Leave one of them out.', 'bad-config');
  });
}

function valueSet(text: string): Given {
  const at = text.indexOf('=');
  if (at < 1) throw unusable(`--set ${text}: no "=".`, 'Write --set name=value, as in --set numTurns=4.', 'bad-set');
  const name = text.slice(0, at);
  return [optionNamed(name, '--set'), text.slice(at + 1), 'flag', `--set ${name}`];
}

const TRAIN_KEYS = ['batchGroups', 'maxStaleness', 'minMembers', 'successRate', 'dropZeroVariance'] as const;

function valuesOfRequest({ settings, train, samples, epochs, limit, shuffleSeed }: RunRequest): Given[] {
  const trained = train ?? undefined;
  const badTrain = (message: string) =>
    unusable(message, `It takes an object of ${TRAIN_KEYS.join(', ')}.`, 'bad-settings');
  if (trained !== undefined && !isObject(trained))
    throw badTrain(`\`train\` is ${JSON.stringify(trained).slice(0, 60)}.`);
  return [
    ...there({ samples, limit, shuffleSeed, epochs: epochs ?? undefined, train: trained && true }).map(
      ([name, value]): Given => [name as keyof RunOptions, value, 'input', name],
    ),
    ...there(settings).map(([name, value]): Given => {
      const key = optionNamed(name, 'settings');
      if (isSetting(key)) return [key, value, 'input', `settings.${name}`];
      const message = `settings.${name} is not a setting of a rollout.`;
      throw unusable(message, 'It belongs beside `settings`.', 'bad-settings');
    }),
    ...there(trained).map(([name, value]): Given => {
      const key = TRAIN_KEYS.find((known) => known === name);
      if (key) return [key, value, 'input', `train.${name}`];
      throw badTrain(`train.${name.slice(0, 40)} is no setting of training.`);
    }),
  ];
}

/** The settings of one rollout out of a run's options. */
export function settingsOf(run: string, options: RunOptions): RolloutSettings {
  const settings = givenSettings(options);
  const { rewardScaling, rewardBias, turnDiscount, numTurns } = settings;
  const unfit = unfitRewards(settings, numTurns);
  if (unfit !== null) {
    const given = `rewardScaling ${rewardScaling}, rewardBias ${rewardBias} and turnDiscount ${turnDiscount}`;
    const fix = 'Give a scaling and a bias whose rewards a trainer can hold, such as 1 and 0.';
    throw unusable(`${given} over ${numTurns} turns ${unfit}.`, fix, 'bad-rewards');
  }
  return { ...settings, seed: settings.seed ?? seedOfRun(run) };
}

/** Settings that arrived as JSON through Temporal, completed by the defaults. */
export const parseSettings = (run: string, settings: Values): RolloutSettings =>
  settingsOf(run, resolveOptions({ request: { settings } }).options);

/** The environment variable of an option. */
export const variableOf = (key: string): string =>
  `EVERTURN_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

const KEYS = Object.keys(FIELDS) as (keyof RunOptions)[];

/** The names of fleet options inside a config file's `fleet` group. */
const ALIASES: Readonly<Record<string, string>> = {
  'fleet.policy': 'fleetPolicy',
  'fleet.maxinflight': 'maxInFlightPerServer',
  'fleet.weights': 'serverWeights',
  'fleet.limits': 'serverLimits',
};

/** `fleet: {backend, servers: [{url, weight, maxInFlight}], policy, …}` as the equivalent options. */
function withFleet({ fleet, ...plain }: Record<string, unknown>, file: string): Record<string, unknown> {
  if (fleet === undefined || fleet === null) return plain;
  const refuse = (what: string): never => {
    const fix =
      'Right would be fleet: {backend: sglang, servers: [{url: "http://a:30000", weight: 2, maxInFlight: 64}]}.';
    throw unusable(`${file}, fleet: ${what}.`, fix, 'bad-fleet');
  };
  if (typeof fleet !== 'object' || Array.isArray(fleet)) return refuse('is not a group of options');
  const { backend, servers, ...rest } = fleet as Record<string, unknown>;
  const options = Object.fromEntries(Object.entries(rest).map(([name, value]) => [`fleet.${name}`, value]));
  if (servers === undefined && backend === undefined) return { ...plain, ...options };
  if ('model' in plain) refuse('names servers, and so does `model`: leave one of them out');
  for (const twice of ['weights', 'limits'])
    if (twice in rest) refuse(`\`${twice}\` cannot be combined with \`servers\`, which have their own`);
  if (!FLEET_SCHEMES.includes(String(backend))) refuse(`\`backend\` is neither ${FLEET_SCHEMES.join(' nor ')}`);
  if (!Array.isArray(servers) || servers.length === 0) return refuse('`servers` is not a list of servers');
  const each = servers.map((server: unknown) => fleetServer(server, refuse));
  const given = (of: 'weight' | 'maxInFlight') =>
    Object.fromEntries(each.flatMap((server) => (server[of] === undefined ? [] : [[server.url, server[of]]])));
  return {
    ...plain,
    model: `${String(backend)}:${each.map(({ url }) => url).join(',')}`,
    'fleet.weights': given('weight'),
    'fleet.limits': given('maxInFlight'),
    ...options,
  };
}

function fleetServer(
  server: unknown,
  refuse: (what: string) => never,
): { url: string; weight?: unknown; maxInFlight?: unknown } {
  if (typeof server === 'string') return { url: server };
  const { url, weight, maxInFlight, ...foreign } = (server ?? {}) as Record<string, unknown>;
  if (typeof url !== 'string') return refuse('a server has no `url`');
  const [name] = Object.keys(foreign);
  if (name !== undefined) return refuse(`server ${url} has no option \`${name}\``);
  return { url, weight, maxInFlight };
}

/** The option of this name, in any spelling. */
export function optionNamed(name: string, place: string): keyof RunOptions {
  const plain = (ALIASES[name.toLowerCase()] ?? name).replace(/[-_.]/g, '').toLowerCase();
  const key = KEYS.find((k) => k.toLowerCase() === plain);
  if (key) return key;
  throw unusable(`${place}: "${name}" is not an option.`, `Options are ${KEYS.join(', ')}.`, 'unknown-option');
}

export function parseValue<K extends keyof RunOptions>(key: K, raw: unknown, place: string): RunOptions[K] {
  const { of, fromText: own, explain, argument } = FIELDS[key] as Field<unknown>;
  const [isRight, wanted] = of;
  const texts = typeof raw === 'string' ? [...fromText(raw, argument), ...(own ? [own(raw)] : [])] : [];
  const candidates = [raw, ...texts];
  const right = candidates.find((candidate) => isRight(candidate));
  if (right !== undefined) return asJson(right as RunOptions[K]);
  const fix = `It takes ${explain?.(candidates.at(-1)) ?? wanted.replace(/ or null$/, '')}.`;
  throw unusable(`${place}: ${redacted(key, raw)} does not fit.`, fix);
}

/** The value as run.json stores it: −0 becomes 0 there, and both must compare equal. */
function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** A value for an error message: a key pasted in place of its name, or inside a url, is redacted. */
function redacted(key: keyof RunOptions, raw: unknown): string {
  if (key === 'apiKeyEnv' || key === 'sideApiKeyEnv') return 'the value';
  if (typeof raw !== 'string') return shownValue(raw);
  const open = raw
    .replace(/\/\/\S*@/g, '//…@')
    // Also without http://.
    .replace(/(?<=[:,])(?:(?!\/\/)[^,])*[^…,]@/g, '…@')
    .replace(/\?[^#]*/g, '?…');
  return JSON.stringify(raw.startsWith('openai:') ? open : open.replace(/#.*/, '#…'));
}

/** The values that a text from a shell may represent. */
function fromText(text: string, argument: string | null): unknown[] {
  const t = text.trim();
  if (t === 'true' || t === 'false') return [t === 'true'];
  if (t === 'null' || t === 'none') return [null];
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(t)) return [Number(t)];
  return argument === '<json>' ? jsonIn(text) : argument === '<url=n,…>' ? [numbersByUrl(text)] : [];
}

function jsonIn(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function numbersByUrl(text: string): unknown {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    return [pair.slice(0, at).trim(), Number(pair.slice(at + 1))] as const;
  });
  return Object.fromEntries(pairs);
}

const MAX_CONFIG_BYTES = 1 << 20;

function readConfig(file: string): Record<string, unknown> {
  const refused = (what: string, reason: 'no-config' | 'bad-config', cause?: unknown) =>
    unusable(`The config file ${file} ${what}.`, CONFIG, reason, cause);
  let text: string;
  try {
    text = readRegular(file, MAX_CONFIG_BYTES);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw refused('cannot be read', 'no-config', cause);
  }
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (cause) {
    throw refused('is neither YAML nor JSON', 'bad-config', cause);
  }
  if (isObject(value ?? {})) return (value ?? {}) as Record<string, unknown>;
  throw refused('holds no options', 'bad-config');
}

const CONFIG = 'It holds `name: value` lines in YAML or JSON, as in `numTurns: 4`.';
