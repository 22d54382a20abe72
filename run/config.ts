// The options of a run, from five sources. Precedence, lowest first: defaults, config file (YAML or JSON),
// environment (EVERTURN_NUM_TURNS), `--set numTurns=4`, flags (--num-turns 4). Each value is parsed
// once, here, and its source is recorded; an error names the source, the value and the accepted form.

import { parse as parseYaml } from 'yaml';
import { seedOfRun } from '../domain/run/defaults.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { isObject } from '../domain/schema/fields.ts';
import { unfitRewards } from '../domain/rollout/reward.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { FLEET_SCHEMES } from '../inference/index.ts';
import { readRegular } from '../local/machine/regular-file.ts';
import { DEFAULT_OPTIONS, FIELDS, givenSettings, isSetting, type Field, type RunOptions } from './options.ts';
import type { Origin } from '../records/format/run-record.ts';

export interface Sources {
  /** Path of a YAML or JSON file. */
  readonly configFile?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** `name=value` texts, in order. */
  readonly set?: readonly string[];
  /** By option name; undefined where the flag was not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Values that a program gives, by option name. */
  readonly input?: Readonly<Record<string, unknown>>;
}

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

export interface ResolvedOptions {
  readonly options: RunOptions;
  readonly origins: Readonly<Record<keyof RunOptions, Origin>>;
}

export function resolveOptions(sources: Sources): ResolvedOptions {
  const options: Changeable<RunOptions> = { ...DEFAULT_OPTIONS };
  const origins = Object.fromEntries(Object.keys(FIELDS).map((k) => [k, 'default'])) as Record<
    keyof RunOptions,
    Origin
  >;
  const put = <K extends keyof RunOptions>(key: K, raw: unknown, origin: Origin, place: string) => {
    options[key] = parseValue(key, raw, place);
    origins[key] = origin;
  };
  if (sources.configFile !== undefined) {
    const file = sources.configFile;
    const spelt = new Map<string, string>();
    for (const [name, value] of Object.entries(withFleet(readConfig(file), file))) {
      const key = optionNamed(name, file);
      mustBeOnce(file, name, spelt.get(key));
      spelt.set(key, name);
      put(key, value, 'config', `${file}, ${name}`);
    }
  }
  for (const key of keys()) {
    const name = variableOf(key);
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
    put(optionNamed(text.slice(0, at), '--set'), text.slice(at + 1), 'flag', `--set ${text.slice(0, at)}`);
  }
  for (const key of keys()) {
    const value = sources.flags?.[key];
    if (value !== undefined) put(key, value, 'flag', flagOf(key));
  }
  for (const [name, value] of Object.entries(sources.input ?? {}))
    if (value !== undefined) put(optionNamed(name, 'The options'), value, 'input', name);
  return { options, origins };
}

/** The caller gave it for this run alone: a file, a variable or an agent serves others too. */
export const isAsked = (origin: Origin): boolean => origin === 'flag' || origin === 'input';

function mustBeOnce(file: string, name: string, earlier: string | undefined): void {
  if (earlier === undefined) return;
  throw new UsageError(`${file} gives one option twice, as \`${earlier}\` and as \`${name}\`.`, {
    reason: 'bad-config',
    fix: 'Leave one of them out.',
  });
}

/** The settings of one rollout out of a run's options. */
export function settingsOf(run: string, options: RunOptions): RolloutSettings {
  const settings = givenSettings(options);
  const { rewardScaling, rewardBias, turnDiscount, numTurns } = settings;
  const unfit = unfitRewards(settings, numTurns);
  if (unfit !== null) {
    const given = `rewardScaling ${rewardScaling}, rewardBias ${rewardBias} and turnDiscount ${turnDiscount}`;
    throw new UsageError(`${given} over ${numTurns} turns ${unfit}.`, {
      reason: 'bad-rewards',
      fix: 'Give a scaling and a bias whose rewards a trainer can hold, such as 1 and 0.',
    });
  }
  return { ...settings, seed: settings.seed ?? seedOfRun(run) };
}

/** Settings that arrived as JSON through Temporal, completed by the defaults. */
export function parseSettings(run: string, given: Readonly<Record<string, unknown>>): RolloutSettings {
  const options: Changeable<RunOptions> = { ...DEFAULT_OPTIONS };
  const put = <K extends keyof RunOptions>(key: K, value: unknown, place: string) => {
    options[key] = parseValue(key, value, place);
  };
  for (const [name, value] of Object.entries(given)) {
    const key = optionNamed(name, 'settings');
    if (!isSetting(key)) {
      throw new UsageError(`settings.${name} is not a setting of a rollout.`, {
        reason: 'bad-settings',
        fix: 'It belongs beside `settings`.',
      });
    }
    put(key, value, `settings.${name}`);
  }
  return settingsOf(run, options);
}

/** The environment variable of an option. */
export function variableOf(key: string): string {
  return `EVERTURN_${words(key).join('_').toUpperCase()}`;
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
    throw new UsageError(`${file}, fleet: ${what}.`, {
      reason: 'bad-fleet',
      fix: 'Right would be fleet: {backend: sglang, servers: [{url: "http://a:30000", weight: 2, maxInFlight: 64}]}.',
    });
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
  const key = keys().find((k) => k.toLowerCase() === plain);
  if (key) return key;
  throw new UsageError(`${place}: "${name}" is not an option.`, {
    reason: 'unknown-option',
    fix: `Options are ${keys().join(', ')}.`,
  });
}

export function parseValue<K extends keyof RunOptions>(key: K, raw: unknown, place: string): RunOptions[K] {
  const { of, fromText: own, explain, argument } = FIELDS[key] as Field<unknown>;
  const [isRight, wanted] = of;
  const texts = typeof raw === 'string' ? [...fromText(raw, argument), ...(own ? [own(raw)] : [])] : [];
  const candidates = [raw, ...texts];
  const right = candidates.find((candidate) => isRight(candidate));
  if (right !== undefined) return asJson(right as RunOptions[K]);
  const fix = `It takes ${explain?.(candidates.at(-1)) ?? wanted.replace(/ or null$/, '')}.`;
  throw new UsageError(`${place}: ${redacted(key, raw)} does not fit.`, { reason: 'bad-value', fix });
}

/** The value as run.json stores it: −0 becomes 0 there, and both must compare equal. */
function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** A value for an error message: a key pasted in place of its name, or inside a url, is redacted. */
function redacted(key: keyof RunOptions, raw: unknown): string {
  if (key === 'apiKeyEnv') return 'the value';
  if (typeof raw !== 'string') return JSON.stringify(raw);
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
    new UsageError(`The config file ${file} ${what}.`, { reason, fix: CONFIG, cause });
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
